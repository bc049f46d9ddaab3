/// <reference lib="esnext.disposable" preserve="true" />

import type { RawSampler, SamplerBindings } from '../bindings/types.js';
import { dropsLast, FROM_ONE, fail, integer, natural, natural32, options, stateText, U32, U64 } from '../checks.js';
import { type Engine, Facade, symbolInspect } from '../engine.js';
import type { Place as RawPlace } from '../jco/interfaces/samedeal-deal-sampling.js';
import { gathered, type Integers, numbers, shown } from '../lists.js';
import { plain, settings, source } from '../options.js';
import type {
  BatchesOptions,
  BatchOptions,
  ConfigJson,
  Indices,
  Integer,
  Layout,
  Place,
  RecipeOptions,
  Remainder,
  Round,
  SamplerOptions,
  ShardedOptions,
  ShardPlace,
} from '../types.js';
import { RecipeDocument } from './document.js';
import { WindowIterator } from './iterator.js';
import { SamplerRecipe } from './recipe.js';

/** How many indices are read at a time: enough that the calls cost nothing, few enough to stay in the cache. */
const WINDOW = 1 << 15;

/** What the samplers of both engines are. Use the class `Sampler` of `samedeal` or `samedeal/web`. */
export abstract class BaseSampler extends Facade<SamplerBindings, RawSampler> implements Iterable<number> {
  #recipe: SamplerRecipe;
  #length: number;

  /** @internal */
  constructor(engine: Engine<SamplerBindings>, samples: Integer, options?: SamplerOptions) {
    const given = options instanceof RecipeDocument ? options.read(engine) : options;
    const recipe = given instanceof SamplerRecipe ? given : SamplerRecipe.of(samples, given);
    super(engine, 'sampler', recipe);
    this.#recipe = recipe;
    this.#length = this.number((raw) => raw.numSamples());
  }

  /** The sampler of a configuration that `toJSON` gave. Errors: as the constructor. */
  static fromJSON<T>(this: new (samples: Integer, options?: SamplerOptions) => T, json: ConfigJson): T {
    const recipe = SamplerRecipe.ofJson(json);
    return new this(recipe.config.samples, recipe as SamplerOptions);
  }

  /**
   * A sampler with the order `sharded`, for a dataset that is stored in shards of so many samples: the shards, in an order
   * of their own, are laid end to end and cut into `lanes` of equal length; within a lane, `window` neighbouring samples at
   * a time are shuffled; positions go round the lanes. Where `world` divides `lanes`, a rank reads lanes of its own, and
   * holds one window of each (`round`). Sample indices count through the shards. Errors: as the constructor, and `sizes`,
   * `lanes`, `window`.
   */
  static sharded<T>(
    this: new (
      samples: Integer,
      options?: SamplerOptions,
    ) => T,
    sizes: Integers,
    options?: ShardedOptions,
  ): T {
    const recipe = SamplerRecipe.ofShards(sizes, options);
    return new this(recipe.config.samples, recipe as SamplerOptions);
  }

  /**
   * The sampler of a recipe: an object, or a text of JSON. `order` has `name`, `samples`, `seed` and, with the order `sharded`,
   * `lanes`, `shuffle_window`, `shards` and `sizes`; `deal` has `world_size`, `remainder` and `layout`. What is not there has its
   * default; `order` must be there, with `samples` or `sizes`. Give `sizes` if a recipe of the order `sharded` has their hash, or does
   * not have them; `rank` and `epoch` are 0 by default. Errors: `recipe` (it is no JSON object), `recipe-member`, `order-member`,
   * `deal-member` (there is no such member), any member.
   */
  static fromRecipe<T>(
    this: new (
      samples: Integer,
      options?: SamplerOptions,
    ) => T,
    recipe: string | object,
    options?: RecipeOptions,
  ): T {
    return new this(0, new RecipeDocument(recipe, options) as SamplerOptions);
  }

  /** Number of samples in the dataset. */
  get samples(): number {
    return Number(this.#recipe.config.samples);
  }

  /** Seed of the order; a `bigint` where it is beyond 2^53 - 1. */
  get seed(): Integer {
    return plain(this.#recipe.config.seed);
  }

  /** Number of the epoch; a `bigint` where it is beyond 2^53 - 1. */
  get epoch(): Integer {
    return plain(this.#recipe.config.epoch);
  }

  /** Name of the order. */
  get order(): string {
    return this.#recipe.config.order;
  }

  /** Which of the data-parallel readers this is. */
  get rank(): number {
    return this.#recipe.config.rank;
  }

  /** How many data-parallel readers there are. */
  get world(): number {
    return this.#recipe.config.world;
  }

  /** What happens where `world` does not divide the samples. */
  get remainder(): Remainder {
    return this.#recipe.config.remainder;
  }

  /** Which positions belong to a rank. */
  get layout(): Layout {
    return this.#recipe.config.layout;
  }

  /** How many positions of the epoch, the first ones, were dealt before (`resume`). */
  get consumed(): number {
    return Number(this.#recipe.config.consumed);
  }

  /** Samples in each shard, with the order `sharded`: a new copy. */
  get sizes(): Float64Array<ArrayBuffer> | undefined {
    const { sharding } = this.#recipe;
    return sharding && numbers(sharding.sizes.slice());
  }

  /** How many lanes the dataset is cut into, with the order `sharded`. */
  get lanes(): number | undefined {
    return this.#recipe.sharding?.lanes;
  }

  /** How many neighbouring samples of a lane are shuffled together, with the order `sharded`. */
  get window(): number | undefined {
    return this.#recipe.sharding?.window;
  }

  /** How many samples this rank sees in the epoch, or in what is left of it, padding included. */
  get length(): number {
    return this.#length;
  }

  /** How many of them, the last ones, are padding. */
  get numPadding(): number {
    return this.number((raw) => raw.numPadding());
  }

  /** How many positions are dealt to all ranks together, padding included: those from `consumed` on. */
  get numPositions(): number {
    return this.number((raw) => raw.numPositions());
  }

  /** How many samples no rank sees in this epoch. */
  get numDropped(): number {
    return this.number((raw) => raw.numDropped());
  }

  /**
   * This rank's samples number `start` to `end` - 1, in order: all of them by default.
   * Errors: `start`, `end` (out of range), memory.
   */
  indices(start: Integer = 0, end: Integer = this.#length): Indices {
    const first = Number(integer('start', start, [0n, BigInt(this.#length)]));
    const last = Number(integer('end', end, [BigInt(first), BigInt(this.#length)]));
    const read = (at: number, count: number) => this.#window(first + at, first + at + count);
    return gathered<Indices>(this.#wide ? Float64Array : Uint32Array, last - first, WINDOW, 'indices', read);
  }

  /**
   * The samples one by one. An iteration that goes on after `setEpoch`, `setRank` or `resume` fails, since what it
   * would go on with is no epoch. Errors: `epoch`, `consumed`, `rank`, memory.
   */
  [Symbol.iterator](): IterableIterator<number> {
    const length = this.#length;
    return new WindowIterator(this.#unmoved(), length, WINDOW, (start, end) => this.#window(start, end));
  }

  /** How many batches this rank gets: rounded down with `dropLast`, else up. Errors: `batchSize`. */
  numBatches(batchSize: Integer, given?: BatchOptions): number {
    const size = natural32('batch-size', batchSize, FROM_ONE);
    const dropLast = dropsLast(given);
    return this.number((raw) => raw.numBatches(size, dropLast));
  }

  /**
   * Batch number `batch` of this rank; the last one may be shorter unless `dropLast`.
   * Errors: `batch`, `batchSize` (0, or the batch would hold more than 2^20 samples), memory.
   */
  batch(batch: Integer, batchSize: Integer, given?: BatchOptions): Indices {
    const size = natural32('batch-size', batchSize, FROM_ONE);
    const dropLast = dropsLast(given);
    const number = natural('batch', batch, () => this.numBatches(size, { dropLast }));
    return this.#wide
      ? numbers(this.call((raw) => raw.batch(number, size, dropLast)))
      : this.call((raw) => raw.batch32(number, size, dropLast));
  }

  /**
   * The batches of this rank, one after the other, from number `start` on: by default all of them. As to `setEpoch`,
   * `setRank` and `resume`, see the iteration over samples. Errors: as `batch`, and `start`, `epoch`, `consumed`,
   * `rank`.
   */
  batches(batchSize: Integer, given?: BatchesOptions): Generator<Indices, void, undefined> {
    const { start = 0, ...cut } = options(given, ['dropLast', 'start']);
    const count = this.numBatches(batchSize, cut);
    const first = Number(integer('start', start, [0n, BigInt(count)]));
    return this.#batches(first, count, batchSize, cut, this.#unmoved());
  }

  *#batches(first: number, count: number, batchSize: Integer, cut: BatchOptions, same: () => void) {
    for (let number = first; number < count; number++) {
      same();
      yield this.batch(number, batchSize, cut);
    }
  }

  /**
   * Moves to another epoch, of which nothing is consumed. The next index asked for is of that epoch. The epoch that it
   * is at stays as it is, also where a part of it was consumed. Errors: `epoch`.
   */
  setEpoch(epoch: Integer): void {
    const moved = this.#recipe.inEpoch(integer('epoch', epoch, U64));
    const length = this.call((raw) => {
      raw.setEpoch(moved.config.epoch);
      return Number(raw.numSamples());
    });
    this.#move(moved, length);
  }

  /** Answers for another rank of the same deal from now on. Errors: `rank`. */
  setRank(rank: Integer): void {
    const moved = this.#recipe.with({ rank: natural32('rank', rank, U32) });
    const length = this.call((raw) => {
      raw.setRank(moved.config.rank);
      return Number(raw.numSamples());
    });
    this.#move(moved, length);
  }

  /**
   * The state once every rank has taken `taken` of its samples, or all that it has: a text for a checkpoint, the same
   * on all ranks, of JSON in one line. `resume` of any sampler of the same order goes on there, in any language and on
   * any world. Errors: `taken` (more than the rank with the most samples has), `layout` (within an epoch, `contiguous`
   * runs of several ranks have no state).
   */
  state(taken: Integer): string {
    const number = natural('taken', taken, () => Math.ceil(this.numPositions / this.world) + 1);
    return this.call((raw) => raw.state(number));
  }

  /**
   * Goes on where a state was taken, on this world: moves to its epoch, and deals what was not consumed, at once. The
   * state need not be trusted. Errors: `state` (no state of a sampler; more than 2^14 bytes; more consumed than there
   * is), `order`, `samples`, `seed`, `sharding` (not those of the state).
   */
  resume(state: string): void {
    const text = stateText(state);
    const { recipe, length } = this.call((raw) => {
      raw.resume(text);
      const { epoch, consumed } = raw.config();
      return { recipe: this.#recipe.with({ epoch, consumed }), length: Number(raw.numSamples()) };
    });
    this.#move(recipe, length);
  }

  /** The sample at a global position of the epoch, whichever rank it is or was dealt to. Errors: `position`, memory. */
  sampleAt(position: Integer): number {
    const number = this.#position(position);
    return this.number((raw) => raw.sampleAt(number));
  }

  /**
   * Where in the epoch a sample is seen first, on whichever rank, with batches of `batchSize`; null if it is dropped,
   * or was dealt before. A last batch that is shorter counts here: who reads with `dropLast` does not see a place whose
   * batch is `numBatches(batchSize, { dropLast: true })` of its rank. Errors: `sample`, `batchSize`, memory.
   */
  locate(sample: Integer, batchSize: Integer): Place | null {
    const number = natural('sample', sample, () => this.samples);
    const size = natural32('batch-size', batchSize, FROM_ONE);
    const found = this.call((raw) => raw.locate(number, size));
    return found ? place(found) : null;
  }

  /**
   * Who sees a global position, and when, with batches of `batchSize`; as to `dropLast`, see `locate`.
   * Errors: `position`, `batchSize`.
   */
  placeOf(position: Integer, batchSize: Integer): Place {
    const number = this.#position(position);
    const size = natural32('batch-size', batchSize, FROM_ONE);
    return place(this.call((raw) => raw.placeOf(number, size)));
  }

  /** How many rounds the epoch has (`round`). Errors: `order` (not `sharded`). */
  get numRounds(): number {
    return this.number((raw) => raw.numRounds());
  }

  /**
   * With the order `sharded`, what this rank reads for the next run of its samples: round number `number` holds the
   * positions from `number` * `lanes` * `window` on, as many as that product. Errors: `order` (not `sharded`), `number`,
   * memory.
   */
  round(number: Integer): Round {
    const which = natural('number', number, () => this.numRounds);
    const { start, count, spans } = this.call((raw) => raw.round(which));
    return { start: Number(start), count: Number(count), spans: numbers(spans) };
  }

  /** With the order `sharded`, where a sample is stored. Errors: `order` (not `sharded`), `sample`. */
  shardOf(sample: Integer): ShardPlace {
    const number = natural('sample', sample, () => this.samples);
    const { shard, offset } = this.call((raw) => raw.shardOf(number));
    return { shard, offset: Number(offset) };
  }

  /** SHA-256 over all of this rank's indices, each as 8 bytes, little-endian; in hexadecimal. Errors: memory. */
  fingerprint(): string {
    return this.call((raw) => raw.fingerprint());
  }

  /** SHA-256 over the configuration without the rank, in hexadecimal: equal on all ranks of one deal. */
  configFingerprint(): string {
    return this.call((raw) => raw.configFingerprint());
  }

  /**
   * The recipe of this sampler, which `fromRecipe` takes: JSON in one line, with every field, the defaults too. It is the same on all
   * ranks and in all epochs, and the same text in every language. The `sizes` of more than 256 shards are a hash.
   */
  get recipe(): string {
    return this.call((raw) => raw.recipe());
  }

  /** SHA-256 over the recipe, in hexadecimal: it names the run. */
  recipeFingerprint(): string {
    return this.call((raw) => raw.recipeFingerprint());
  }

  /** The configuration as it stands, for `JSON.stringify` and `fromJSON`. */
  toJSON(): ConfigJson {
    return this.#recipe.toJson(this.call((raw) => raw.config()));
  }

  /** The call that makes an equal sampler; it answers after `dispose()` too. */
  toString(): string {
    return this.#source(Number.POSITIVE_INFINITY);
  }

  /** What `console.log` shows: as `toString()`, with the first shards of many. @internal */
  [symbolInspect](): string {
    return this.#source(16);
  }

  #position(position: Integer): bigint {
    return natural('position', position, () => this.consumed + this.numPositions);
  }

  get #wide(): boolean {
    return this.#recipe.config.samples > 2 ** 32;
  }

  #source(shards: number): string {
    const { config, sharding } = this.#recipe;
    const { samples, ...others } = config;
    const parts = settings(others).filter((part) => part !== 'consumed: 0' && !(sharding && part.startsWith('order:')));
    if (sharding) parts.unshift(`lanes: ${sharding.lanes}`, `window: ${sharding.window}`);
    const first = sharding ? `.sharded(${shown(sharding.sizes, shards)}` : `(${source(samples)}`;
    return `Sampler${first}, { ${parts.join(', ')} })`;
  }

  /** Nothing here may throw: the recipe is what the sampler would be made again by. */
  #move(recipe: SamplerRecipe, length: number): void {
    this.#recipe = recipe;
    this.follow(recipe);
    this.#length = length;
  }

  #window(start: number, end: number): Indices {
    const first = BigInt(start);
    return this.#wide
      ? numbers(this.call((raw) => raw.indices(first, end - start)))
      : this.call((raw) => raw.indices32(first, end - start));
  }

  /** A check that the place in the epoch and the rank are still what they are now. */
  #unmoved(): () => void {
    const before = this.#recipe.config;
    return () => {
      const now = this.#recipe.config;
      if (now === before) return;
      for (const name of ['epoch', 'consumed', 'rank'] as const) {
        if (now[name] !== before[name])
          fail('out-of-range', name, now[name], `${before[name]} until the iteration ends`);
      }
    };
  }
}

function place({ position, rank, index, batch, slot, copies }: RawPlace): Place {
  return { position: Number(position), rank, index: Number(index), batch: Number(batch), slot, copies };
}
