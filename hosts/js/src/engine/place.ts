import type { Source } from './source.js';

/**
 * The address at which `samedeal/web` finds its WebAssembly module by itself: the file beside its JavaScript, which a
 * page reads.
 */
export const place = (): Source | Promise<Source> => new URL('../components/samedeal.core.wasm', import.meta.url);
