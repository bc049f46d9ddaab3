// The same in Cloudflare's workerd, which compiles what a Worker imports, and nothing while one runs.
import composing from '../bindgen/composing_bg.wasm';
import sampling from '../bindgen/samedeal_bg.wasm';
import batching from '../components/batching.core.wasm';
import planning from '../components/planning.core.wasm';
import topology from '../components/samedeal.core.wasm';
import type { Part, Source } from './source.js';

export const found: Readonly<Record<Part, () => Source>> = {
  sampling: () => sampling,
  composing: () => composing,
  batching: () => batching,
  planning: () => planning,
  topology: () => topology,
};
