// The module of samplers and meshes alone, compressed in text: what a page has at once, without waiting for anything.
import light from '../inline/light/index.js';
import { unpacked } from './inflate.js';

export const module = (): WebAssembly.Module => unpacked(light);
