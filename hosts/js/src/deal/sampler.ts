/// <reference lib="esnext.disposable" preserve="true" />

import type { LightBindings, RawSampler } from '../bindings/types.js';
import { dropsLast, FROM_ONE, fail, integer, natural, natural32, options, stateText, U64 } from '../checks.js';
import type { Place as RawPlace } from '../components/interfaces/samedeal-deal-sampling.js';
import { type Counted, counted } from '../counted.js';
import { type Engine, Facade } from '../engine.js';
import { camelled } from '../errors.js';
import { fewSamples, gathered, naturals, numbers, spansOf } from '../lists.js';
import { plain } from '../options.js';
import type { OrderOrSamples } from '../order/order.js';
import { resumed } from '../state.js';
import type {
  BatchesOptions,
  BatchOptions,
  Fate,
  Indices,
  Integer,
  Integers,
  Layout,
  Place,
  RecipeOptions,
  Remainder,
  Round,
  SamplerJson,
  SamplerOptions,
  SavedState,
  ShardedOptions,
  ShardPlace,
  SourceCounts,
  SourcePlace,
  StateOptions,
} from '../types.js';
import { WindowIterator } from './iterator.js';
import { SamplerRecipe } from './recipe.js';

/** So many samples of a step are asked for at a time. */
const STEP_WINDOW = 2 ** 16;

/** How many indices are read at a time: enough that the calls cost nothing, few enough to stay in the cache. */
const WINDOW = 1 << 15;

type Class<T> = new (samples: OrderOrSamples, options?: SamplerOptions) => T;

/** What the samplers of both engines are. Use the class `Sampler` of `samedeal` or `samedeal/web`. */
export abstract class BaseSampler extends Facade<LightBindings, RawSampler> implements Iterable<number> {
  #recipe: SamplerRecipe;
  #length: number;
  /** Whether indices do not fit into 32 bits. */
  readonly #isWide: boolean;

  /** @internal */
  constructor(engine: Engine<LightBindings>, samples: OrderOrSamples, options?: SamplerOptions) {
    const recipe = options instanceof SamplerRecipe ? options : SamplerRecipe.of(samples, options);
    super(engine, 'sampler', recipe);
    this.#recipe = recipe;
    this.#length = this.number((raw) => raw.numSamples());
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

  /**
   * Number of sample indices: they are 0 to `samples` - 1. For most orders this is the number of samples in the dataset. A blend has those of
   * all sources.
   */
  get samples(): number {
    return this.number((raw) => raw.samples());
  }

  /**
   * Number of positions in this epoch, before any is padded or dropped, for all ranks together. It is `samples` unless the order is
   * composed. (`length` is the number of samples of this rank.)
   */
  get epochLength(): number {
    return this.number((raw) => raw.length());
  }

  /**
   * Seed of the order; a `bigint` where it is beyond 2^53 - 1. Of an order that has none, that of the order which it is made
   * of.
   */
  get seed(): Integer {
    return plain(this.call((raw) => raw.seed()));
  }

  /** Number of the epoch; a `bigint` where it is beyond 2^53 - 1. */
  get epoch(): Integer {
    return plain(this.#recipe.epoch);
  }

  /** Name of the order. */
  get order(): string {
    return this.call((raw) => raw.order());
  }

  /** Which of the data-parallel readers this is. */
  get rank(): number {
    return this.#recipe.rank;
  }

  /** How many data-parallel readers there are. */
  get worldSize(): number {
    return this.call((raw) => raw.worldSize());
  }

  /** What happens if `worldSize` * `unit` does not divide the number of positions. */
  get remainder(): Remainder {
    return this.call((raw) => raw.remainder()) as Remainder;
  }

  /** Which positions belong to a rank. */
  get layout(): Layout {
    return this.call((raw) => raw.layout()) as Layout;
  }

  /** How many neighbouring positions always go to the same rank. */
  get unit(): number {
    return this.call((raw) => raw.unit());
  }

  /** How many positions of the epoch, the first ones, were dealt before (`resume`). */
  get consumed(): number {
    return Number(this.#recipe.consumed);
  }

  /** Samples in each shard, with the order `sharded`: a new copy. */
  get sizes(): Float64Array<ArrayBuffer> | undefined {
    const sizes = this.call((raw) => raw.sizes());
    return sizes && numbers(sizes);
  }

  /** How many lanes the dataset is cut into, with the order `sharded`. */
  get lanes(): number | undefined {
    return this.call((raw) => raw.lanes());
  }

  /** How many neighbouring samples of a lane are shuffled together, with the order `sharded`. */
  get shuffleWindow(): number | undefined {
    return this.call((raw) => raw.shuffleWindow());
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
    return this.#isWide
      ? numbers(this.call((raw) => raw.batch(number, size, dropLast)))
      : this.call((raw) => raw.batch32(number, size, dropLast));
  }

  /**
   * Batch number `batch` of every rank, in the order of ranks: what all of them see at a step. A rank that has no such batch, where
   * others have, has an empty one. Errors: as `batch`, and `batchSize` (more than 2^25 samples for all ranks).
   */
  step(batch: Integer, batchSize: Integer, given?: BatchOptions): Indices[] {
    const size = natural32('batch-size', batchSize, FROM_ONE);
    const dropLast = dropsLast(given);
    const number = integer('batch', batch, U64);
    const { worldSize } = this;
    fewSamples(worldSize, Math.min(size, this.#length), size);
    const window = Math.max(1, Math.floor(STEP_WINDOW / size));
    const found: Indices[] = [];
    while (found.length < worldSize) {
      const count = Math.min(window, worldSize - found.length);
      const { samples, counts } = this.call((raw) => raw.step(number, size, dropLast, found.length, count));
      const wide = numbers(samples);
      const all = this.#isWide ? wide : new Uint32Array(wide);
      let start = 0;
      for (const own of counts) {
        found.push(all.slice(start, start + own));
        start += own;
      }
    }
    return found;
  }

  /**
   * What became of a sample once every rank has taken `taken` of its samples (by default none), and what is to come: all its places in
   * this epoch. A rank that has fewer samples has taken all of them. Errors: `sample`, `batchSize`, `taken` (no rank has as many), `layout`
   * (as `state`), memory.
   */
  fate(sample: Integer, batchSize: Integer = 1, taken: Integer = 0): Fate {
    const number = natural('sample', sample, () => this.samples);
    const size = natural32('batch-size', batchSize, FROM_ONE);
    const read = integer('taken', taken, U64);
    const { before, places, ...found } = this.call((raw) => raw.fate(number, size, read));
    return { ...found, before: Array.from(before, Number), places: places.map((one) => place(one)) } as Fate;
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
    const number = natural32('rank', rank, () => [0n, BigInt(this.worldSize) - 1n]);
    this.#move((raw) => raw.atRank(number));
  }

  /**
   * The state after every rank has taken `taken` of its samples, or all that it has: a text for a checkpoint, the same
   * on all ranks, of JSON in one line. `resume` of any sampler of the same order goes on there, in any language and with
   * any number of ranks. Errors: `taken` (more than the rank with the most samples has; no multiple of `unit`), `layout` (within
   * an epoch, `contiguous` runs of several ranks have no state).
   */
  state(taken: Integer): string {
    const number = natural('taken', taken);
    return this.call((raw) => raw.state(number));
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
    return place(this.call((raw) => raw.locate(number, size)));
  }

  /** The same for many samples: a place, or null, for each of them, in their order. Errors: as `locate`, with the index of the sample. */
  locateAll(samples: Integers, batchSize: Integer): (Place | null)[] {
    const size = natural32('batch-size', batchSize, FROM_ONE);
    const all = naturals('sample', samples, () => this.samples);
    return this.call((raw) => all.map((sample) => place(raw.locate(sample, size))));
  }

  /**
   * The same from a global position on: a blend, `copies` and `balance` may have a sample several times in an epoch. null if it is not seen
   * again. To find all places, go on at the `position` of the last one + 1. Errors: `sample`, `position` (before `consumed`, or beyond
   * what is dealt), `batchSize`, memory.
   */
  locateFrom(sample: Integer, position: Integer, batchSize: Integer): Place | null {
    const number = natural('sample', sample, () => this.samples);
    const from = natural('position', position, () => this.consumed + this.numPositions + 1);
    const size = natural32('batch-size', batchSize, FROM_ONE);
    return place(this.call((raw) => raw.locateFrom(number, from, size)));
  }

  /** With a blend, the names of the sources. Errors: `order` (no blend), memory. */
  get sources(): string[] {
    return this.call((raw) => raw.sources());
  }

  /**
   * With a blend, what each source gives to the positions `start` to `end` - 1 of this epoch, whichever ranks they are dealt to; by
   * default to all of them. Use it to report how much of each dataset is seen: what a state left behind is `sourceCounts(0, consumed)`. Errors:
   * `order` (no blend), `start`, `end`, memory.
   */
  sourceCounts(start: Integer = 0, end: Integer = this.epochLength): SourceCounts {
    const first = natural('start', start, () => this.epochLength + 1);
    const last = natural('end', end, () => this.epochLength + 1);
    const columns = this.call((raw) => raw.sourceCounts(first, last));
    const byName = columns.map(({ name, numbers: column }) => [camelled(name, '-'), numbers(column)]);
    return Object.fromEntries(byName) as SourceCounts;
  }

  /**
   * With a blend, for each source: by how many millionths of a sample its count among the first positions, any number of them, differs
   * at most from exact proportion. Errors: `order` (no blend), memory.
   */
  sourceBounds(): Float64Array<ArrayBuffer> {
    return numbers(this.call((raw) => raw.sourceBounds()));
  }

  /**
   * With a blend, the source of a sample, and the number of the sample there. Errors: `order` (no blend), `index-space` (`shared`:
   * several sources may have the sample), `sample`.
   */
  sourceOf(sample: Integer): SourcePlace {
    const number = natural('sample', sample, () => this.samples);
    const { source, index } = this.call((raw) => raw.sourceOf(number));
    return { source, index: Number(index) };
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
   * positions from `number` * `lanes` * `shuffleWindow` on, as many as that product. Errors: `order` (not `sharded`), `number`,
   * `unit` (not 1), memory.
   */
  round(number: Integer): Round {
    const which = natural('number', number, () => this.numRounds);
    const { start, count, spans } = this.call((raw) => raw.round(which));
    return { start: Number(start), count: Number(count), spans: spansOf(spans) };
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

  /** The recipe as it was given, the rank and the place in the epoch, for `JSON.stringify` and `fromJSON`. */
  toJSON(): SamplerJson {
    const { document, rank, epoch, consumed } = this.#recipe;
    return document.toJson({ epoch: String(epoch), rank, consumed: Number(consumed) });
  }

  /** The same epoch as one reader has it: what makes a sampler of the class `Sampler`, in place of options. @internal */
  get whole(): SamplerOptions {
    return this.#recipe.whole as unknown as SamplerOptions;
  }

  #position(position: Integer): bigint {
    return natural('position', position, () => this.consumed + this.numPositions);
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

/** Member by member: to copy the others at once would take ten times as long. */
function place(found: RawPlace): Place;
function place(found: RawPlace | undefined): Place | null;
function place(found: RawPlace | undefined): Place | null {
  if (!found) return null;
  const { position, rank, index, batch, indexInBatch, copies } = found;
  return { position: Number(position), rank, index: Number(index), batch: Number(batch), indexInBatch, copies };
}
