import { fileURLToPath } from 'node:url';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type Plugin } from 'vite';
import { viteSingleFile } from 'vite-plugin-singlefile';

/** The npm package of this tree, with its WebAssembly modules in the scripts: `cargo xtask build node` makes it. */
const built = (file: string) => fileURLToPath(new URL(`../../hosts/js/dist/${file}`, import.meta.url));
const worker = fileURLToPath(new URL('src/engine/worker.ts', import.meta.url));

/** Gives the page another name, so that it is beside the page of the other form. */
const named = (fileName: string): Plugin => ({
  name: 'named',
  enforce: 'post',
  generateBundle(_options, bundle) {
    const page = bundle['index.html'];
    if (page) page.fileName = fileName;
  },
});

// Two forms of the page. `vite build` makes dist/index.html, for a server: a view and the component are loaded when they
// are needed. `vite build --mode disk` makes dist/explorer.html: everything in one file, because browsers load no
// modules from a disk.
export default defineConfig(({ mode }) => {
  const isDisk = mode === 'disk';
  return {
    base: './',
    plugins: isDisk ? [svelte(), viteSingleFile(), named('explorer.html')] : [svelte()],
    resolve: {
      alias: [
        { find: /^samedeal\/web\/parquet$/, replacement: built('web-parquet-inline.js') },
        { find: /^samedeal\/web$/, replacement: built('web-inline.js') },
        { find: /^samedeal\/light$/, replacement: built(isDisk ? 'web-inline.js' : 'light-inline.js') },
        { find: /^engine-worker$/, replacement: `${worker}?worker${isDisk ? '&inline' : ''}` },
      ],
    },
    worker: isDisk ? { format: 'iife', rolldownOptions: { output: { codeSplitting: false } } } : { format: 'es' },
    build: {
      target: 'es2023',
      chunkSizeWarningLimit: 8192,
      reportCompressedSize: false,
      emptyOutDir: !isDisk,
    },
  };
});
