import type { Source } from './source.js';

/** Where `samedeal/web` finds its WebAssembly module by itself: beside its JavaScript, where a page reads the file. */
export const place = (): Source | Promise<Source> => new URL('../components/samedeal.core.wasm', import.meta.url);
