import type { Source } from './bindings/bindgen.js';

/** What an import of `samedeal/web.wasm` gives, whatever that is with a bundler: pass it to `init` of `samedeal/web`. */
declare const source: Source;
export default source;
