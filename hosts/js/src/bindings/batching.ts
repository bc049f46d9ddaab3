import interfaces from '../components/batching.js';
import { instances, instantiate, type Modules } from './instances.js';
import type { BatchingBindings } from './types.js';

/** What an instance of `batching.wasm` exports. */
type Batching = Pick<BatchingBindings, 'batches' | 'collation' | 'steps'>;

/** Where the memory of the component `batching.wasm` ends. */
const MEMORY = 2 ** 31;
/** What a call may need besides its lists, which comes with a failure that the component can tell. */
const SLACK = 2 ** 20;
/** Lists that there is room for, however full the memory: half of what the component keeps free for what is small. */
const ALWAYS = 2 ** 15;

/** Instances of the component `batching.wasm`, whose memory ends after `most` bytes. */
export const batchingInstances = (modules: Modules, most: number = MEMORY): (() => BatchingBindings) =>
  instances<BatchingBindings>(modules, (compiled) => {
    const { memory, ...made } = instantiate<Batching>(compiled('batching.core.wasm'), interfaces);
    return {
      ...made,
      // What is free below the end is not known, so what grows is counted alone.
      room: () => Math.max(ALWAYS, most - SLACK - memory.buffer.byteLength),
    };
  });
