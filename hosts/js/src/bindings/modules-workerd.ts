// The core modules of the components, as Cloudflare's workerd has them: it compiles what a Worker imports, and nothing
// while one runs.
import { COMPILED } from '../jco/compiled.js';
import type { Modules } from './components.js';

export const modules: Modules = (file) => COMPILED[file] as WebAssembly.Module;
