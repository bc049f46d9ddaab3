import type { Source } from './bindgen.js';

/** What an import of `samedeal/web.wasm` gives, whatever that is with a bundler: pass it to `init` of `samedeal/web`. */
declare const source: Source;
export default source;
