// The module of samplers and meshes alone, compressed in text: what a page has at once, without waiting for anything.
import light from '../inline/light/index.js';
import { inflate } from './inflate.js';
import { decoded } from './inline.js';

export const module = (): WebAssembly.Module => new WebAssembly.Module(inflate(decoded(light.text), light.size));
