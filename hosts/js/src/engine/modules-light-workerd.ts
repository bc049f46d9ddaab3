// The module of the light build in Cloudflare's workerd, which compiles it when a Worker imports it.
import light from '../bindgen/samedeal_bg.wasm';

export const module = (): WebAssembly.Module => light;
