/**
 * Same seed, same deal, in a page or in its Worker: everything that `samedeal` has, by the same names, after
 * `await init()`. It needs no bundler.
 *
 * @module
 */
export { init } from './engine/engines-page.js';
export type { Source } from './engine/source.js';
export * from './index.js';
