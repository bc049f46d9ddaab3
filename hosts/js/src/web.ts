/**
 * Same seed, same deal, in a page, over the wasm-bindgen build: the smaller of the two engines, and one that needs no
 * bundler. It gives the same numbers as the other one.
 *
 * @module
 */
import { bindgenInstances, type Source } from './bindings/bindgen.js';
import type { SamplerBindings } from './bindings/types.js';
import { source as found } from './bindings/web-source.js';
import { BaseSampler } from './deal/sampler.js';
import { Engine, over } from './engine.js';

export type { Source } from './bindings/bindgen.js';
export { type Failure, type Kind, SamedealError } from './errors.js';
export type { Integers } from './lists.js';
export type * from './types.js';
export { version } from './version.js';

let started: Engine<SamplerBindings> | undefined;
let starting: Promise<void> | undefined;

/**
 * Loads the engine; to be awaited before anything else is used. Calls after the first one change nothing, unless it
 * failed. `source` is where the WebAssembly module is (default: beside this module, or in it where a bundler made it), or
 * its bytes, or itself.
 */
export function init(source?: Source | Promise<Source>): Promise<void> {
  starting ??= load(source).then(
    (instantiate) => {
      started = new Engine(instantiate);
    },
    (error) => {
      starting = undefined;
      throw error;
    },
  );
  return starting;
}

async function load(source: Source | Promise<Source> | undefined): Promise<() => SamplerBindings> {
  const given = await source;
  return bindgenInstances(given === undefined ? found() : given);
}

function engine(): Engine<SamplerBindings> {
  if (!started) throw new Error('samedeal/web is not loaded: await init() first');
  return started;
}

/**
 * The samples of one rank in one epoch, of `samples` (0 to 2^53 - 1; 2^32 - 1 where the order holds a table). Errors
 * (`SamedealError`): a value out of its range or of the wrong type, an unknown name, memory.
 */
export class Sampler extends over(BaseSampler, engine) {}

/** The names of the orders that this version knows, the default first; without `sharded`, which `Sampler.sharded` makes. */
export const orders = (): string[] => engine().once(['orders', 0], 0, ({ orders }) => orders());
