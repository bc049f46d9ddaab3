import type { Source } from './engine/source.js';

/**
 * The value of an import of `samedeal/web/samedeal.wasm`. Its type depends on the bundler; pass it to `init` as it is.
 */
declare const source: Source;
export default source;
