// The same in Cloudflare's workerd, which compiles what a Worker imports, and nothing while one runs.

import module from '../bindgen/composing_bg.wasm';
import type { Source } from './bindgen.js';

export const source = (): Source => module;
