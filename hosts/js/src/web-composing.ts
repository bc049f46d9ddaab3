/**
 * Same seed, same deal, in a page, over the wasm-bindgen build: the smaller of the two engines, and one that needs no
 * bundler. It gives the same numbers as the other one. It is `samedeal/web` with orders that are
 * made of others.
 *
 * @module
 */
import type { Source } from './bindings/bindgen.js';
import { source as found } from './bindings/web-source-composing.js';
import { BaseSampler } from './deal/sampler.js';
import { over } from './engine.js';
import { page } from './page.js';

export type { Source } from './bindings/bindgen.js';
export { type Failure, type Kind, SamedealError } from './errors.js';
export type { Integers } from './lists.js';
export { balance, blend, grown, order, sharded, windows } from './order/make.js';
export type { Order } from './order/order.js';
export type * from './order/types.js';
export type * from './types.js';
export { version } from './version.js';

const { init: load, engine } = page('samedeal/web/composing', found);

/**
 * Loads the engine; to be awaited before anything else is used. Calls after the first one change nothing, unless it
 * failed. `source` is where the WebAssembly module is (default: beside this module, or in it where a bundler made it), or
 * its bytes, or itself.
 */
export const init = (source?: Source | Promise<Source>): Promise<void> => load(source);

/**
 * The samples of one rank in one epoch, of `samples` (0 to 2^53 - 1; 2^32 - 1 where the order holds a table), or of an order
 * that `blend`, `order` and their like made. Errors (`SamedealError`): a value out of its range or of the wrong type, an unknown name,
 * values that do not fit together, memory.
 */
export class Sampler extends over(BaseSampler, engine) {}

/**
 * The names of the orders that this version knows, the default first; without `sharded`, which `Sampler.sharded` makes, and those that are
 * made of others.
 */
export const orders = (): string[] => engine().once(['orders', 0], 0, ({ orders }) => orders());
