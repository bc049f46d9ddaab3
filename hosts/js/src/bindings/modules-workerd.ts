// The core modules of the components, as Cloudflare's workerd has them: it compiles what a Worker imports, and nothing
// while one runs.
import { COMPILED } from '../components/compiled.js';
import type { Modules } from './instances.js';

const modules: Modules = (file) => COMPILED[file] as WebAssembly.Module;

export { modules as ofBatching, modules as ofDealing, modules as ofPlanning };
