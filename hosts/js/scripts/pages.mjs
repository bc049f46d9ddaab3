// The entries for pages without a bundler, each in one file. With separate modules, a browser asks for a file only
// after it has read the one that imports it: sixty files, up to seven one after the other.
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build } from 'esbuild';

/**
 * The entries in `dist`: the file, the module of which it is made, and the modules that stay files of their own, each
 * with its file. The entry for Parquet is made before the one that it imports, which is overwritten.
 */
const ENTRIES = [
  // The errors come from web.js: with a copy of its own, this entry would throw a `SamedealError` of another class.
  ['web-parquet.js', 'web-parquet.js', { 'web.js': './web.js', 'errors.js': './web.js' }],
  ['web.js', 'web.js', {}],
  ['light.js', 'light-inline.js', {}],
  // The package has the WebAssembly module as text already, so this entry does not contain it again.
  ['inline.js', 'index.js', { 'inline/samedeal/index.js': './inline/samedeal/index.js' }],
];

/** Packages that the page itself brings, by an import map. */
const PACKAGES = ['hyparquet', 'hyparquet-compressors'];

/**
 * Writes the entries into `dist`, which has the modules that they are made of. Names are not shortened, so that a
 * person can follow an error.
 */
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
