// The engines of a page: each part is loaded by `init` before anything of it is used.
import { fail, oneOf } from '../checks.js';
import { type Bindings, Engine } from '../engine.js';
import { isFailure } from '../errors.js';
import { found } from './parts.js';
import { compiled, type Part, type Source } from './source.js';
import type { BatchingBindings, DealingBindings, PlanningBindings, SamplerBindings } from './types.js';

/** What makes instances of each part. Its JavaScript is loaded with it. */
const LOADERS = {
  sampling: async (module: WebAssembly.Module) => {
    const { bindgenInstances } = await import('./bindgen.js');
    return advised(bindgenInstances(module));
  },
  composing: async (module: WebAssembly.Module) => (await import('./bindgen.js')).bindgenInstances(module),
  batching: async (module: WebAssembly.Module) => (await import('./batching.js')).batchingInstances(() => module),
  planning: async (module: WebAssembly.Module) => (await import('./planning.js')).planningInstances(() => module),
  topology: async (module: WebAssembly.Module) => (await import('./dealing.js')).dealingInstances(() => module),
} satisfies Record<Part, (module: WebAssembly.Module) => Promise<() => Bindings>>;
const PARTS = Object.keys(LOADERS) as Part[];

const loading = new Map<Part, Promise<void>>();
const loaded = new Map<Part, Engine<Bindings>>();

/**
 * Loads parts of the package, by default samplers; to be awaited before anything of them is used. Calls for a part that is loaded
 * change nothing. A part whose loading failed can be loaded again. `source` is where the WebAssembly module of one part is (default: beside
 * this module, or in it where a bundler made it), or its bytes, or itself. Errors: `part` (there is no such part), `source` (for
 * several parts); that of the network, or of the compiler.
 *
 * `sampling` and `composing` both have samplers; new ones are made by `composing` as soon as it is there.
 */
export async function init(
  parts: Part | readonly Part[] = 'sampling',
  source?: Source | Promise<Source>,
): Promise<void> {
  const wanted = (Array.isArray(parts) ? parts : [parts]).map((part) => oneOf('part', part, PARTS));
  if (source !== undefined && wanted.length !== 1) {
    fail('contradiction', 'source', `one, for ${wanted.length} parts`, 'one source for one part');
  }
  await Promise.all(
    wanted.map((part) => {
      const started = loading.get(part) ?? load(part, source);
      loading.set(part, started);
      return started;
    }),
  );
}

async function load(part: Part, source: Source | Promise<Source> | undefined): Promise<void> {
  try {
    const module = await compiled((await source) ?? (await found[part]()));
    loaded.set(part, new Engine<Bindings>(await LOADERS[part](module)));
  } catch (error) {
    loading.delete(part);
    if (!isServiceWorker || !(error instanceof TypeError)) throw error;
    const remedy = "import 'samedeal/light' or 'samedeal' in place of it (dist/light.js, dist/index.js)";
    throw new Error(`samedeal/web cannot load a part in a service worker, which has no import(): ${remedy}`, {
      cause: error,
    });
  }
}

const isServiceWorker = 'ServiceWorkerGlobalScope' in globalThis;

/** The same instances, whose failure for an order that only the part `composing` has says how to load that. */
function advised(instances: () => SamplerBindings): () => SamplerBindings {
  return () => {
    const { sampler, ...others } = instances();
    return {
      ...others,
      sampler(...given) {
        try {
          return sampler(...given);
        } catch (error) {
          if (!isFailure(error) || !error.facts?.some(({ name }) => name === 'component')) throw error;
          throw {
            ...error,
            allowed: "orders that are not made of others; for this one, await init('composing') first",
          };
        }
      },
    };
  };
}

function engineOf<B extends Bindings>(part: Part): Engine<B> {
  const engine = loaded.get(part);
  const call = part === 'sampling' ? 'init()' : `init('${part}')`;
  if (!engine) throw new Error(`the part ${part} of samedeal/web is not loaded: await ${call} first`);
  return engine as unknown as Engine<B>;
}

export const samplers = (): Engine<SamplerBindings> => engineOf(loaded.has('composing') ? 'composing' : 'sampling');
export const topology = (): Engine<DealingBindings> => engineOf('topology');
export const planning = (): Engine<PlanningBindings> => engineOf('planning');
export const batching = (): Engine<BatchingBindings> => engineOf('batching');
