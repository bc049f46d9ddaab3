// The core module of the component, as Cloudflare's workerd has it: it compiles what a Worker imports, and nothing while one runs.
import samedeal from '../components/samedeal.core.wasm';

export const module = (): WebAssembly.Module => samedeal;
