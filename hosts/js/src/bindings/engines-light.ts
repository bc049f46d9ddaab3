// The engines of `samedeal/light`: of samplers and meshes alone.
import type { Engine } from '../engine.js';
import { dealingInstances } from './dealing.js';
import { lazily } from './instances.js';
import { modules } from './modules-light.js';
import type { BatchingBindings, PlanningBindings } from './types.js';

export const samplers = lazily(modules, dealingInstances);
export const topology = samplers;

/** What `samedeal/light` does not export asks for these. */
const absent = (): never => {
  throw new Error("samedeal/light has samplers and meshes: import everything else from 'samedeal'");
};
export const planning: () => Engine<PlanningBindings> = absent;
export const batching: () => Engine<BatchingBindings> = absent;
