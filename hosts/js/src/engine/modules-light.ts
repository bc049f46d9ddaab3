// The module of the light build (samplers and meshes), as compressed text: a page has it at once, without `init`.
import light from '../inline/light/index.js';
import { unpacked } from './inflate.js';

export const module = (): WebAssembly.Module => unpacked(light);
