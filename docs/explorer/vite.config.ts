import { fileURLToPath } from 'node:url';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';
import { viteSingleFile } from 'vite-plugin-singlefile';

/** The npm package of this tree, with its WebAssembly modules in the scripts: `cargo xtask build node` makes it. */
const built = (file: string) => fileURLToPath(new URL(`../../hosts/js/dist/${file}`, import.meta.url));

export default defineConfig({
  base: './',
  // All of it is one file, so that it works from any path and from a disk.
  plugins: [svelte(), viteSingleFile()],
  resolve: {
    alias: [
      { find: /^samedeal\/web\/parquet$/, replacement: built('web-parquet-inline.js') },
      { find: /^samedeal\/web$/, replacement: built('web-inline.js') },
    ],
  },
  worker: { format: 'iife', rolldownOptions: { output: { codeSplitting: false } } },
  build: { target: 'es2023', chunkSizeWarningLimit: 8192, reportCompressedSize: false },
});
