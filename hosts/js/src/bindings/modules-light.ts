// The core module of samplers and meshes alone, compressed in text: what a page has at once, without waiting for anything.
import light from '../inline/light/index.js';
import { unpacked } from './inflate.js';
import { type Modules, onlySamplers } from './instances.js';

export const modules: Modules = (file) => {
  onlySamplers(file);
  return unpacked(light);
};
