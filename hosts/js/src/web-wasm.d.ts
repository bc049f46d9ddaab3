import type { Source } from './engine/source.js';

/** The value of an import of `samedeal/web/samedeal.wasm`, whatever it is with a bundler: pass it to `init`. */
declare const source: Source;
export default source;
