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

/**
 * How many samples of a step, or places of samples, one call of the engine returns at most, unless a batch has more.
 */
const STEP_WINDOW = 2 ** 16;

/**
 * How many indices are read at a time: enough that the cost of a call does not matter, few enough to stay in the cache.
 */
const WINDOW = 1 << 15;

type Class<T> = new (samples: OrderOrSamples, options?: SamplerOptions) => T;

/**
 * The members of `Sampler`, with the whole engine or with that of the light build. Use the class `Sampler` of
 * `samedeal` or `samedeal/web`.
 */
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
    this.#isWide = this.datasetSize > 2 ** 32;
  }

  /** The sampler that `toJSON` wrote. Errors: as `fromRecipe`. */
  static fromJSON<T>(this: Class<T>, json: SamplerJson | string): T {
    return new this(0, SamplerRecipe.ofJson(json) as unknown as SamplerOptions);
  }

  /**
   * A sampler with the order `sharded`, for a dataset that is stored in shards; `sizes` has the number of samples of
   * each shard. The shards are shuffled, laid end to end, and cut into `lanes` of equal length. Within a lane,
   * `shuffleWindow` neighbouring samples at a time are shuffled. Successive positions come from successive lanes. If
   * `worldSize` divides `lanes`, a rank reads its own lanes, and has one window of each in memory (`round`). Sample
   * index 0 is the first sample of the first shard; indices go on through the shards in this order. Errors: as the
   * constructor, and `sizes`, `lanes`, `shuffleWindow`.
   */
  static sharded<T>(this: Class<T>, sizes: Integers, options?: ShardedOptions): T {
    return new this(0, SamplerRecipe.ofShards(sizes, options) as unknown as SamplerOptions);
  }

  /**
   * The sampler of a recipe: an object, or a text of JSON. `order` has `name`, `samples`, `seed` and, with the order
   * `sharded`, `lanes`, `shuffle_window`, `shards` and `sizes`; SPEC.md, section 15, has the members of composed
   * orders. `deal` has `world_size`, `remainder`, `layout` and `unit`. A member that is not there has its default;
   * `order` must be there, with `samples` or `sizes`. Give `sizes` if a recipe of the order `sharded` has only their
   * hash, or leaves them out, and `lists` for the lists of composed orders. Errors: as the constructor, `recipe` (it is
   * no JSON object), `recipe`, `order`, `deal` or another object of the recipe (this object has an unknown member),
   * `lists` (the order has no such list).
   */
  static fromRecipe<T>(this: Class<T>, recipe: string | object, options?: RecipeOptions): T {
    return new this(0, SamplerRecipe.read(recipe, options) as unknown as SamplerOptions);
  }

  /**
   * A sampler that continues after a state, which has the order and the epoch. The options say how the rest of the
   * epoch is dealt; their defaults (`rank` 0, `worldSize` 1 and so on) do not depend on the run of the state. Give
   * `sizes` or `lists` if the state has only their hash. If you know the options of the run, use `resume`: it also
   * checks that the state is of this order. Errors: as `fromRecipe` and `resume`.
   */
  static fromState<T extends BaseSampler>(
    this: Class<T>,
    state: string | Uint8Array | SavedState,
    options?: StateOptions,
  ): T {
    const made = new this(0, SamplerRecipe.ofState(state, options) as unknown as SamplerOptions);
    return resumed(made, state);
  }

  /** The number of samples that an iteration returns; equal to `numSamples`. */
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
   * The samples of this rank one by one. After `setEpoch`, `setRank` or `resume` the iteration fails, since its samples
   * would not be one epoch of one rank. Errors: `epoch`, `consumed`, `rank`, memory.
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
   * The samples of every rank at a step, in the order of ranks: batch number `step` of each. A rank without this batch,
   * where others have one, has an empty array. Errors: as `batch`, but `step` in place of `batch`, and `batchSize` (more
   * than 2^25 samples for all ranks).
   */
  step(step: Integer, batchSize: Integer, options?: BatchOptions): Indices[] {
    const number = u53('step', step, (other) => this.step(other, batchSize, options));
    const size = u32('batch_size', batchSize, (other) => this.step(step, other, options));
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
   * The batches of this rank, one after the other, from number `start` on: by default all of them. The loop counts its
   * batches: its `state()` is the state after the batches that it returned. After `setEpoch`, `setRank` or `resume` the
   * loop fails, as the iteration over samples does. Errors: as `batch`, and `start`, `epoch`, `consumed`, `rank`.
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
    const state = (batches: number, isOver: boolean) => {
      same();
      // Of a rank with most samples: with `uneven`, others have fewer, and a state is equal on all ranks. At its end
      // the whole epoch is consumed, also the samples that `dropLast` leaves out.
      const most = this.maxNumSamples;
      const whole = most / Number(batchSize);
      const isLast = batches > 0 && batches >= (cut.dropLast ? Math.floor(whole) : Math.ceil(whole));
      return this.state(isOver || isLast ? most : batches * Number(batchSize));
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
   * Moves to the beginning of another epoch: all later calls are about that epoch. With the number of the current
   * epoch, nothing changes, even if a part of the epoch was consumed. Errors: `epoch`, memory.
   */
  setEpoch(epoch: Integer): void {
    const number = integer('epoch', epoch, U64);
    if (number !== this.#recipe.epoch) this.#move((raw) => raw.atEpoch(number));
  }

  /** Moves to another rank of the same deal: all later calls are about that rank. Errors: `rank`, memory. */
  setRank(rank: Integer): void {
    const at = (number: number) => (raw: RawSampler) => raw.atRank(number) as RawSampler;
    this.#move(at(u32('rank', rank, (other) => this.aside(at(Number(other)), () => {}))));
  }

  /**
   * Continues where a state was taken: moves to the epoch of the state, and deals the samples that were not consumed to
   * the number of ranks of this sampler. A composed order may have been extended since the state was taken (stages and
   * sources of a blend, growth of a dataset, ranges to skip), if the extension begins at the state's position or later.
   * The state need not be trusted. Errors: `state` (no state of a sampler; more than 2^24 bytes), `consumed` (more than
   * there is; within a unit), the first member of the order that is not as in the state, memory; then the sampler is
   * unchanged.
   */
  resume(state: string | Uint8Array | SavedState): void {
    const text = stateText(state);
    this.#move((raw) => raw.resume(text));
  }

  /** `locate` for many samples: a place, or null, for each of them. Errors: as `locate`, with the index of the sample. */
  locateAll(samples: Integers, batchSize: Integer): (Place | null)[] {
    const size = u32('batch_size', batchSize, (other) => this.numBatches(other));
    // Checks `size` also if `samples` is empty.
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
   * For a blend: the draws from each source at the positions `start` to `end` - 1 of this epoch, over all ranks; by
   * default at all positions. Use it to report how much of each dataset was seen: `sourceCounts(0, consumed)` has the
   * draws before a state. Errors: `order` (no blend), `start`, `end`, memory.
   */
  sourceCounts(start: Integer = 0, end?: Integer): SourceCounts {
    const [first, last] = span(start, end, this.epochLength);
    const columns = this.call((raw) => raw.sourceCounts(first, last - first));
    const byName = columns.map(({ name, numbers: column }) => [camelled(name, '-'), numbers(column)]);
    return Object.fromEntries(byName) as SourceCounts;
  }

  /** The recipe as it was given, the rank and the place in the epoch, for `JSON.stringify` and `fromJSON`. */
  toJSON(): SamplerJson {
    const { document, rank, epoch, consumed } = this.#recipe;
    return document.toJson({ epoch: String(epoch), rank, consumed: Number(consumed) });
  }

  /** The definition of this sampler. @internal */
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

  /** A function that fails if the sampler has since been moved to another place in the epoch, or to another rank. */
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
