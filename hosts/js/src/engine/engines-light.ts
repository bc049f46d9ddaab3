// The engine of `samedeal/light`, which has only samplers and meshes.
import type { Engine } from '../engine.js';
import { bindgenInstances } from './bindgen.js';
import { lazily } from './instances.js';
import { module } from './modules-light.js';
import type { ComponentBindings } from './types.js';

export const light = lazily(() => bindgenInstances(module()));

/** The engine of functions that `samedeal/light` does not export: it only throws an error. */
export const component = (): Engine<ComponentBindings> => {
  throw new Error("samedeal/light has samplers and meshes: import everything else from 'samedeal'");
};
