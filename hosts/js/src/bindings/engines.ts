// The engines of the package where calls need not wait: each component is read and compiled at the first call that needs it.
import { batchingInstances } from './batching.js';
import { dealingInstances } from './dealing.js';
import { lazily } from './instances.js';
import { ofBatching, ofDealing, ofPlanning } from './modules-inline.js';
import { planningInstances } from './planning.js';

export const samplers = lazily(ofDealing, dealingInstances);
/** Meshes and launchers, which are in the component of samplers. */
export const topology = samplers;
export const planning = lazily(ofPlanning, planningInstances);
export const batching = lazily(ofBatching, batchingInstances);
