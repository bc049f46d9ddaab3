import type {
  BatchingBindings,
  RawBatchConfig,
  RawBatcher,
  RawBatchStream,
  RawPacked,
  RawPadded,
} from './batch-raw.js';
import { type Modules, once, release } from './component.js';
import { instantiate } from './jco/batching.js';

/** Where the memory of the component ends: see scripts/build.mjs. */
const MEMORY = 2 ** 30;
/** What a call may need besides its lists, which comes with a failure that the component can tell. */
const SLACK = 2 ** 20;
/** Lists that there is room for, however full the memory: half of what the component keeps free for what is small. */
const ALWAYS = 2 ** 15;

/**
 * Instances of the component `batching.wasm`, whose memory ends after `most` bytes. `modules` is asked once for each file
 * in `jco/`.
 */
export function batchingInstances(modules: Modules, most: number = MEMORY): () => BatchingBindings {
  const compiled = once(modules);
  return () => {
    let memory: WebAssembly.Memory | undefined;
    const { batches, collation } = instantiate(compiled, {}, (module, imports) => {
      const instance = new WebAssembly.Instance(module, imports);
      memory ??= instance.exports.memory as WebAssembly.Memory | undefined;
      return instance;
    });
    // What is free below the end is not known, so what grows is counted alone.
    const room = () => Math.max(ALWAYS, most - SLACK - (memory?.buffer.byteLength ?? 0));
    // An option that is undefined is none.
    type Given = ConstructorParameters<typeof batches.Batcher>[0];
    const given = (config: RawBatchConfig) => config as Given;
    return {
      batcher: (config) => new batches.Batcher(given(config)) as RawBatcher,
      stream: (config, rank) => Object.assign(new batches.BatchStream(given(config), rank), { room }) as RawBatchStream,
      pad: (lengths, width, multiple, side) => collation.pad(lengths, width, multiple, side) as RawPadded,
      pack: (lengths, rowEnds, width) => collation.pack(lengths, rowEnds, width) as RawPacked,
      release,
    };
  };
}
