import type { Source } from './bindgen.js';

/** Where `samedeal/web` finds its WebAssembly module by itself: beside its JavaScript, where a page reads the files. */
export const source = (): Source | Promise<Source> => new URL('../bindgen/samedeal_bg.wasm', import.meta.url);
