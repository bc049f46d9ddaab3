/**
 * Same seed, same deal, on Node (20 and later), Deno and Bun, over the WebAssembly component. The component is read
 * and compiled at the first call that needs it, not at the import.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { componentInstances } from './component.js';
import { Engine } from './engine.js';
import { samplerOf } from './sampler.js';

export { type Failure, type Kind, SamedealError } from './errors.js';
export type * from './types.js';
export { version } from './version.js';

let started: Engine | undefined;

function engine(): Engine {
  started ??= new Engine(
    componentInstances((file) => new WebAssembly.Module(readFileSync(new URL(`jco/${file}`, import.meta.url)))),
  );
  return started;
}

/** The samples of one rank in one epoch. */
export class Sampler extends samplerOf(engine) {}

/** The names of the orders that this version knows, the default first. */
export const orders = (): string[] => engine().orders();
