// The entries for pages without a bundler, each in one file. Module by module, a browser would ask for a file only when it has read the one
// that imports it: sixty files, up to seven one after the other.
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build } from 'esbuild';

/**
 * Entries in `dist`: the file, the entry of which it is made, and the modules that stay files of their own, each with the file that has it.
 * The entry for Parquet is made before the one that it imports, which is overwritten.
 */
const ENTRIES = [
  // Errors are those of the page: the page knows no other `SamedealError`.
  ['web-parquet.js', 'web-parquet.js', { 'web.js': './web.js', 'errors.js': './web.js' }],
  ['web.js', 'web.js', {}],
  ['light.js', 'light-inline.js', {}],
  // The WebAssembly module as text is in the package already.
  ['inline.js', 'index.js', { 'inline/samedeal/index.js': './inline/samedeal/index.js' }],
];

/** Packages that the page itself brings, by an import map. */
const PACKAGES = ['hyparquet', 'hyparquet-compressors'];

/** Writes the entries into `dist`, which has the modules that they are made of. Names stay as they are: a person may look for an error. */
export async function writePages(dist) {
  for (const [made, from, files] of ENTRIES) {
    await build({
      entryPoints: [join(dist, from)],
      outfile: join(dist, made),
      allowOverwrite: true,
      bundle: true,
      format: 'esm',
      platform: 'browser',
      target: 'es2022',
      charset: 'utf8',
      minifySyntax: true,
      minifyWhitespace: true,
      external: PACKAGES,
      logLevel: 'error',
      plugins: [{ name: 'files', setup: (bundler) => keepFiles(bundler, dist, files) }],
    });
  }
}

/** Imports of `files` stay imports, and the file of the WebAssembly module is found from the folder of the entry. */
function keepFiles(bundler, dist, files) {
  bundler.onResolve({ filter: /^\./ }, ({ path, resolveDir, kind }) => {
    if (kind === 'entry-point') return undefined;
    const file = files[relative(dist, join(resolveDir, path)).replaceAll('\\', '/')];
    return file && { path: file, external: true };
  });
  bundler.onLoad({ filter: /[\\/]place\.js$/ }, ({ path }) => {
    const parts = readFileSync(path, 'utf8').split("'../components/");
    if (parts.length !== 2) throw new Error(`${path} names the WebAssembly module in another way`);
    return { contents: parts.join("'./components/") };
  });
}
