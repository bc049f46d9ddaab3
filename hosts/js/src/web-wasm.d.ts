import type { Source } from './bindings/source.js';

/** What an import of `samedeal/web/samedeal.wasm` gives, whatever that is with a bundler: pass it to `init`. */
declare const source: Source;
export default source;
