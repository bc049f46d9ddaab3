/**
 * Same seed, same deal, on Node (20 and later), Deno and Bun, over the WebAssembly component. The component is read
 * and compiled at the first call that needs it, not at the import.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { componentBindings } from './component.js';
import { Engine } from './engine.js';
import { BaseSampler } from './sampler.js';
import type { Integer, SamplerOptions } from './types.js';

export { type Failure, type Kind, SamedealError } from './errors.js';
export type * from './types.js';
export { version } from './version.js';

let started: Engine | undefined;

function engine(): Engine {
  started ??= new Engine(
    componentBindings((file) => new WebAssembly.Module(readFileSync(new URL(`jco/${file}`, import.meta.url)))),
  );
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
