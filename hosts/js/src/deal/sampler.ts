/// <reference lib="esnext.disposable" preserve="true" />

import { fail, flag, integer, options, span, stateText, U64, u32, u53 } from '../checks.js';
import { type Counted, counted } from '../counted.js';
import type { LightBindings, RawSampler } from '../engine/types.js';
import type { Engine } from '../engine.js';
import { camelled } from '../errors.js';
import { type Place, placeOf, SamplerMembers } from '../generated/sampling.js';
import { each, fewSamples, gathered, numbers, ofRanks, told } from '../lists.js';
import type { OrderOrSamples } from '../order/order.js';
import { resumed } from '../state.js';
import type {
  BatchesOptions,
  BatchOptions,
  Indices,
  Integer,
  Integers,
  RecipeOptions,
  SamplerJson,
  SamplerOptions,
  SavedState,
  ShardedOptions,
  SourceCounts,
  StateOptions,
} from '../types.js';
import { WindowIterator } from './iterator.js';
import { SamplerRecipe } from './recipe.js';

/** So many samples of a step, or places of samples, are asked for at a time. */
const STEP_WINDOW = 2 ** 16;

/** How many indices are read at a time: enough that the calls cost nothing, few enough to stay in the cache. */
const WINDOW = 1 << 15;

type Class<T> = new (samples: OrderOrSamples, options?: SamplerOptions) => T;

/** The members of the samplers of both engines. Use the class `Sampler` of `samedeal` or `samedeal/web`. */
export abstract class BaseSampler extends SamplerMembers implements Iterable<number> {
  #recipe: SamplerRecipe;
  #length: number;
  /** Whether indices do not fit into 32 bits. */
  readonly #isWide: boolean;

  /** @internal */
  constructor(engine: Engine<LightBindings>, samples: OrderOrSamples, options?: SamplerOptions) {
    const recipe = options instanceof SamplerRecipe ? options : SamplerRecipe.of(samples, options);
    super(engine, 'sampler', recipe);
    this.#recipe = recipe;
    this.#length = this.numSamples;
    this.#isWide = this.samples > 2 ** 32;
  }

  /** The sampler that `toJSON` wrote. Errors: as `fromRecipe`. */
  static fromJSON<T>(this: Class<T>, json: SamplerJson | string): T {
    return new this(0, SamplerRecipe.ofJson(json) as unknown as SamplerOptions);
  }

  /**
   * A sampler with the order `sharded`, for a dataset that is stored in shards of so many samples: the shards, in an order
   * of their own, are laid end to end and cut into `lanes` of equal length; within a lane, `shuffleWindow` neighbouring samples at
   * a time are shuffled; positions go round the lanes. If `worldSize` divides `lanes`, a rank reads lanes of its own, and
   * holds one window of each (`round`). Sample indices count through the shards. Errors: as the constructor, and `sizes`,
   * `lanes`, `shuffleWindow`.
   */
  static sharded<T>(this: Class<T>, sizes: Integers, options?: ShardedOptions): T {
    return new this(0, SamplerRecipe.ofShards(sizes, options) as unknown as SamplerOptions);
  }

  /**
   * The sampler of a recipe: an object, or a text of JSON. `order` has `name`, `samples`, `seed` and, with the order `sharded`,
   * `lanes`, `shuffle_window`, `shards` and `sizes`; SPEC.md, section 15, has the members of composed orders. `deal` has `world_size`,
   * `remainder`, `layout` and `unit`. A member that is not there has its default; `order` must be there, with `samples` or `sizes`. Give `sizes`
   * if a recipe of the order `sharded` has their hash, or does not have them, and `lists` for the lists of composed orders. Errors: as the
   * constructor, `recipe` (it is no JSON object), `recipe-member`, `order-member`, `deal-member` and their like (there is no such
   * member), `lists` (the order has no such list).
   */
  static fromRecipe<T>(this: Class<T>, recipe: string | object, options?: RecipeOptions): T {
    return new this(0, SamplerRecipe.read(recipe, options) as unknown as SamplerOptions);
  }

  /**
   * The sampler that goes on after a state, which has the order and the epoch. The options say how what is left is dealt: `rank` 0,
   * `worldSize` 1 and so on, whatever they were. Give `sizes` or `lists` if the state has their hash. If you know the options of the run, use
   * `resume`: it also checks that the state is of this order. Errors: as `fromRecipe` and `resume`.
   */
  static fromState<T extends BaseSampler>(
    this: Class<T>,
    state: string | Uint8Array | SavedState,
    options?: StateOptions,
  ): T {
    const made = new this(0, SamplerRecipe.ofState(state, options) as unknown as SamplerOptions);
    return resumed(made, state);
  }

  /** How many samples an iteration gives; equal to `numSamples`. */
  get length(): number {
    return this.#length;
  }

  /**
   * This rank's samples number `start` to `end` - 1, in order: all of them by default.
   * Errors: `start`, `end` (out of range), memory.
   */
  indices(start: Integer = 0, end?: Integer): Indices {
    const [first, last] = span(start, end, this.#length).map(Number) as [number, number];
    const read = (at: number, count: number) => this.#window(first + at, first + at + count);
    return gathered<Indices>(this.#isWide ? Float64Array : Uint32Array, last - first, WINDOW, 'indices', read);
  }

  /**
   * The samples one by one. An iteration that goes on after `setEpoch`, `setRank` or `resume` fails, since what it
   * would go on with is no epoch. Errors: `epoch`, `consumed`, `rank`, memory.
   */
  [Symbol.iterator](): IterableIterator<number> {
    const length = this.#length;
    return new WindowIterator(this.#unmoved(), length, WINDOW, (start, end) => this.#window(start, end));
  }

  /**
   * Batch number `batch` of this rank; the last one may be shorter unless `dropLast`.
   * Errors: `batch`, `batchSize` (0, or the batch would hold more than 2^20 samples), memory.
   */
  batch(batch: Integer, batchSize: Integer, options?: BatchOptions): Indices {
    const number = u53('batch', batch, (other) => this.batch(other, batchSize, options));
    const size = u32('batch_size', batchSize, (other) => this.batch(batch, other, options));
    const dropLast = flag('drop_last', 'dropLast', options);
    return this.#isWide
      ? numbers(this.call((raw) => raw.batch(number, size, dropLast)))
      : this.call((raw) => raw.batch32(number, size, dropLast));
  }

  /**
   * Batch number `batch` of every rank, in the order of ranks: what all of them see at a step. A rank that has no such batch, where
   * others have, has an empty one. Errors: as `batch`, and `batchSize` (more than 2^25 samples for all ranks).
   */
  step(batch: Integer, batchSize: Integer, options?: BatchOptions): Indices[] {
    const number = u53('batch', batch, (other) => this.step(other, batchSize, options));
    const size = u32('batch_size', batchSize, (other) => this.step(batch, other, options));
    const dropLast = flag('drop_last', 'dropLast', options);
    const { worldSize } = this;
    fewSamples(worldSize, Math.min(size, this.#length), size);
    const window = Math.max(1, Math.floor(STEP_WINDOW / size));
    return ofRanks(worldSize, window, (first, count) => {
      const { samples, counts } = this.call((raw) => raw.step(number, size, dropLast, first, count));
      const wide = numbers(samples);
      const all: Indices = this.#isWide ? wide : new Uint32Array(wide);
      let end = 0;
      return Array.from(counts, (own) => {
        end += own;
        return all.slice(end - own, end);
      });
    });
  }

  /**
   * The batches of this rank, one after the other, from number `start` on: by default all of them. The loop counts them: its `state()` is
   * the state after those that it gave. As to `setEpoch`, `setRank` and `resume`, see the iteration over samples. Errors: as `batch`, and
   * `start`, `epoch`, `consumed`, `rank`.
   *
   * @example
   * const sampler = new Sampler(10, { order: 'sequential', worldSize: 2 });
   * const loop = sampler.batches(2);
   * for (const batch of loop) if (batch[0] === 4) break;
   * console.log(JSON.parse(loop.state()).consumed); // 8
   */
  batches(batchSize: Integer, given?: BatchesOptions): Counted<Indices> {
    const { start = 0, ...cut } = options(given, ['dropLast', 'start']);
    const count = this.numBatches(batchSize, cut);
    const first = Number(integer('start', start, [0n, BigInt(count)]));
    const same = this.#unmoved();
    const state = (batches: number) => {
      same();
      // With `dropLast`, nothing is left after the last one.
      const taken = batches > 0 && batches === count ? this.#length : batches * Number(batchSize);
      return this.state(taken);
    };
    return counted(this.#batches(first, count, batchSize, cut, same), first, state);
  }

  *#batches(first: number, count: number, batchSize: Integer, cut: BatchOptions, same: () => void) {
    for (let number = first; number < count; number++) {
      same();
      yield this.batch(number, batchSize, cut);
    }
  }

  /**
   * Moves to another epoch, of which nothing is consumed. The next index asked for is of that epoch. If it is the current one,
   * nothing changes, also if a part of it was consumed. Errors: `epoch`, memory.
   */
  setEpoch(epoch: Integer): void {
    const number = integer('epoch', epoch, U64);
    if (number !== this.#recipe.epoch) this.#move((raw) => raw.atEpoch(number));
  }

  /** Answers for another rank of the same deal from now on. Errors: `rank`, memory. */
  setRank(rank: Integer): void {
    const at = (number: number) => (raw: RawSampler) => raw.atRank(number) as RawSampler;
    this.#move(at(u32('rank', rank, (other) => this.aside(at(Number(other)), () => {}))));
  }

  /**
   * Goes on where a state was taken, with the number of ranks of this sampler: moves to its epoch, and deals what was not consumed.
   * A composed order may have got more since then, if that begins at the state's position or later: stages and sources of a blend, growth
   * of a dataset, ranges to skip. The state need not be trusted. Errors: `state` (no state of a sampler; more than 2^24 bytes),
   * `consumed` (more than there is; within a unit), the first member of the order that is not as in the state, memory; then the sampler is where
   * it was.
   */
  resume(state: string | Uint8Array | SavedState): void {
    const text = stateText(state);
    this.#move((raw) => raw.resume(text));
  }

  /** `locate` for many samples: a place, or null, for each of them. Errors: as `locate`, with the index of the sample. */
  locateAll(samples: Integers, batchSize: Integer): (Place | null)[] {
    const size = u32('batch_size', batchSize, (other) => this.numBatches(other));
    // Told also if there are no samples.
    this.numBatches(size);
    const all = each('sample', samples, (sample) => u53('sample', sample, (other) => this.locate(other, size)));
    const places: (Place | null)[] = [];
    for (let at = 0; at < all.length; at += STEP_WINDOW) {
      const window = BigUint64Array.from(all.slice(at, at + STEP_WINDOW));
      const found = told('sample', all, () => this.call((raw) => raw.locateAll(window, size)));
      for (const place of found) places.push(place ? placeOf(place) : null);
    }
    return places;
  }

  /**
   * With a blend, what each source gives to the positions `start` to `end` - 1 of this epoch, whichever ranks they are dealt to; by
   * default to all of them. Use it to report how much of each dataset is seen: what a state left behind is `sourceCounts(0, consumed)`. Errors:
   * `order` (no blend), `start`, `end`, memory.
   */
  sourceCounts(start: Integer = 0, end: Integer = this.epochLength): SourceCounts {
    const first = u53('start', start, (other) => this.sourceCounts(other, end));
    const last = u53('end', end, (other) => this.sourceCounts(start, other));
    const columns = this.call((raw) => raw.sourceCounts(first, last));
    const byName = columns.map(({ name, numbers: column }) => [camelled(name, '-'), numbers(column)]);
    return Object.fromEntries(byName) as SourceCounts;
  }

  /** The recipe as it was given, the rank and the place in the epoch, for `JSON.stringify` and `fromJSON`. */
  toJSON(): SamplerJson {
    const { document, rank, epoch, consumed } = this.#recipe;
    return document.toJson({ epoch: String(epoch), rank, consumed: Number(consumed) });
  }

  /** Its definition. @internal */
  get decided(): SamplerRecipe {
    return this.#recipe;
  }

  #move(next: (raw: RawSampler) => RawSampler): void {
    const { recipe, length } = this.move(next, (raw) => {
      const place = { rank: raw.rank(), epoch: raw.epoch(), consumed: raw.consumed() };
      return { recipe: this.#recipe.at(place), length: Number(raw.numSamples()) };
    });
    this.#recipe = recipe;
    this.#length = length;
  }

  #window(start: number, end: number): Indices {
    const first = BigInt(start);
    return this.#isWide
      ? numbers(this.call((raw) => raw.indices(first, end - start)))
      : this.call((raw) => raw.indices32(first, end - start));
  }

  /** A check that the place in the epoch and the rank are still what they are now. */
  #unmoved(): () => void {
    const before = this.#recipe;
    return () => {
      const now = this.#recipe;
      if (now === before) return;
      for (const name of ['epoch', 'consumed', 'rank'] as const) {
        if (now[name] !== before[name])
          fail('out-of-range', name, now[name], `${before[name]} until the iteration ends`);
      }
    };
  }
}
