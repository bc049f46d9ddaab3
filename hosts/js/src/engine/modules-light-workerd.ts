// The modules of the light build in Cloudflare's workerd.
import light from '../bindgen/samedeal_bg.wasm';

export const module = (): WebAssembly.Module => light;
