import type { Part, Source } from './source.js';

/** Where `samedeal/web` finds the WebAssembly modules of its parts by itself: beside its JavaScript, where a page reads the files. */
export const found: Readonly<Record<Part, () => Source | Promise<Source>>> = {
  sampling: () => new URL('../bindgen/samedeal_bg.wasm', import.meta.url),
  composing: () => new URL('../bindgen/composing_bg.wasm', import.meta.url),
  batching: () => new URL('../components/batching.core.wasm', import.meta.url),
  planning: () => new URL('../components/planning.core.wasm', import.meta.url),
  topology: () => new URL('../components/samedeal.core.wasm', import.meta.url),
};
