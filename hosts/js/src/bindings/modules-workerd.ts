// The core modules of the components, as Cloudflare's workerd has them: it compiles what a Worker imports, and nothing
// while one runs.

import batching from '../jco/batching.core.wasm';
import batching2 from '../jco/batching.core2.wasm';
import batching3 from '../jco/batching.core3.wasm';
import planning from '../jco/planning.core.wasm';
import planning2 from '../jco/planning.core2.wasm';
import planning3 from '../jco/planning.core3.wasm';
import samedeal from '../jco/samedeal.core.wasm';
import samedeal2 from '../jco/samedeal.core2.wasm';
import samedeal3 from '../jco/samedeal.core3.wasm';
import type { Modules } from './components.js';

const COMPILED: Record<string, WebAssembly.Module> = {
  'samedeal.core.wasm': samedeal,
  'samedeal.core2.wasm': samedeal2,
  'samedeal.core3.wasm': samedeal3,
  'planning.core.wasm': planning,
  'planning.core2.wasm': planning2,
  'planning.core3.wasm': planning3,
  'batching.core.wasm': batching,
  'batching.core2.wasm': batching2,
  'batching.core3.wasm': batching3,
};

export const modules: Modules = (file) => COMPILED[file] as WebAssembly.Module;
