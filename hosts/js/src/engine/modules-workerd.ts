// The core module of the component in Cloudflare's workerd, which compiles the modules that a Worker imports, but none
// while the Worker runs.
import samedeal from '../components/samedeal.core.wasm';

export const module = (): WebAssembly.Module => samedeal;
