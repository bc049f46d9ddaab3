// The core modules of the components, as text in JavaScript modules: for bundlers, which do not bring files along.

import batching from '../inline/batching/index.js';
import composing from '../inline/composing/index.js';
import planning from '../inline/planning/index.js';
import samedeal from '../inline/samedeal/index.js';
import { decoded } from './inline.js';
import type { Modules } from './instances.js';

const TEXTS: Record<string, string> = {
  'batching.core.wasm': batching,
  'composing.core.wasm': composing,
  'planning.core.wasm': planning,
  'samedeal.core.wasm': samedeal,
};

export const modules: Modules = (file) => new WebAssembly.Module(decoded(TEXTS[file] as string));
