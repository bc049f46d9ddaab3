// The engines of the package where calls need not wait: each component is read and compiled at the first call that needs it.
import { type Bindings, Engine } from '../engine.js';
import { batchingInstances } from './batching.js';
import { dealingInstances } from './dealing.js';
import type { Modules } from './instances.js';
import { modules } from './modules-inline.js';
import { planningInstances } from './planning.js';

/** The engine over a component, made when it is first asked for. */
function lazily<B extends Bindings>(instances: (modules: Modules) => () => B): () => Engine<B> {
  let engine: Engine<B> | undefined;
  return () => {
    engine ??= new Engine(instances(modules));
    return engine;
  };
}

export const samplers = lazily(dealingInstances);
/** Meshes and launchers, which are in the component of samplers. */
export const topology = samplers;
export const planning = lazily(planningInstances);
export const batching = lazily(batchingInstances);
