import type { Source } from './source.js';

/**
 * The address of the WebAssembly module that `init` loads if its caller passes no `source`: the file of the package,
 * which a page fetches.
 */
export const place = (): Source | Promise<Source> => new URL('../components/samedeal.core.wasm', import.meta.url);
