import type { Source } from './bindings/bindgen.js';

/** What an import of `samedeal/web.wasm` or `samedeal/web/composing.wasm` gives, whatever that is with a bundler: pass it to `init` of the entry. */
declare const source: Source;
export default source;
