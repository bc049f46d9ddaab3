import type { Source } from './bindgen.js';

/** Where `samedeal/web/composing` finds its WebAssembly module by itself: beside its JavaScript, where a page reads the files. */
export const source = (): Source | Promise<Source> => new URL('../bindgen/composing_bg.wasm', import.meta.url);
