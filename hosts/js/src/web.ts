/**
 * Same seed, same deal, in a page, over the wasm-bindgen build: the smaller of the two engines, and one that needs no
 * bundler. It gives the same numbers as the other one.
 *
 * @module
 */
import { bindgenBindings, type Source } from './bindgen.js';
import { Engine } from './engine.js';
import { BaseSampler } from './sampler.js';
import type { Integer, SamplerOptions } from './types.js';

export type { Source } from './bindgen.js';
export { type Failure, type Kind, SamedealError } from './errors.js';
export type * from './types.js';
export { version } from './version.js';

let started: Engine | undefined;
let starting: Promise<void> | undefined;

/**
 * Loads the engine; to be awaited before anything else is used. Calls after the first one change nothing, unless it
 * failed. `source` is where the WebAssembly module is (default: beside this module), or its bytes, or itself.
 */
export function init(source?: Source | Promise<Source>): Promise<void> {
  starting ??= bindgenBindings(source).then(
    (bindings) => {
      started = new Engine(bindings);
    },
    (error) => {
      starting = undefined;
      throw error;
    },
  );
  return starting;
}

function engine(): Engine {
  if (!started) throw new Error('samedeal/web is not loaded: await init() first');
  return started;
}

/** The samples of one rank in one epoch. */
export class Sampler extends BaseSampler {
  /**
   * Checks the configuration of a deal of `samples` (0 to 2^53 - 1; 2^32 - 1 where the order holds a table).
   * Errors (`SamedealError`): a value out of its range or of the wrong type, an unknown name, memory.
   */
  constructor(samples: Integer, options?: SamplerOptions) {
    super(engine(), samples, options);
  }
}

/** The names of the orders that this version knows, the default first. */
export function orders(): string[] {
  return engine().run((bindings) => bindings.orders());
}
