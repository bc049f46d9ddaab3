import type { ComponentBindings, Copied, RawReading } from '../bindings/types.js';
import { integer, natural, natural32, stateText, U32, U64 } from '../checks.js';
import type { ReadRound as RawRound } from '../components/interfaces/samedeal-deal-read.js';
import { type Engine, Facade } from '../engine.js';
import { gathered, numbers, spansOf } from '../lists.js';
import { plain } from '../options.js';
import type { Steps } from '../shard/types.js';
import type { Integer, SavedState } from '../types.js';
import { ReadingRecipe, type Stand } from './recipe.js';
import type {
  MixingAdvice,
  OrderOrSizes,
  ReadBatch,
  ReadingJson,
  ReadingOptions,
  ReadingRecipeOptions,
  ReadingStateOptions,
  ReadRound,
  RoundRows,
} from './types.js';

/** How many indices one call hands out. */
const WINDOW = 1 << 20;

type Class<T> = new (sizes: OrderOrSizes, options?: ReadingOptions) => T;

/** What `Reading` is, over any instance of its engine. */
export abstract class BaseReading extends Facade<ComponentBindings, RawReading> {
  readonly #recipe: ReadingRecipe;

  /** @internal */
  constructor(engine: Engine<ComponentBindings>, sizes: OrderOrSizes, options?: ReadingOptions) {
    const recipe = options instanceof ReadingRecipe ? options : ReadingRecipe.of(sizes, options);
    super(engine, 'reading', recipe);
    this.#recipe = recipe;
  }

  /**
   * The reading of a recipe, in epoch 0: an object, or a text of JSON. `order` (single samples) or `shards` (whole shards), `deal` and
   * `batch` have the options of the constructor, by the names that all languages share. A member that is not there has its default.
   * Give the lists of which the recipe has the hash, or which it does not have. Errors: as the constructor, `recipe` (it is no JSON
   * object), `recipe-member`, `order-member`, `shards-member`, `deal-member`, `batch-member` (there is no such member).
   */
  static fromRecipe<T>(this: Class<T>, recipe: string | object, lists?: ReadingRecipeOptions): T {
    return new this([], ReadingRecipe.read(recipe, lists) as unknown as ReadingOptions);
  }

  /** The reading that `toJSON` wrote. Errors: as `fromRecipe` and `resume`. */
  static fromJSON<T>(this: Class<T>, json: ReadingJson | string): T {
    return new this([], ReadingRecipe.ofJson(json) as unknown as ReadingOptions);
  }

  /**
   * The reading that goes on after a state, which has the order and the epoch. The options say how what is left is dealt. Give `sizes` or
   * `bytes` if the state has their hash. Errors: as `fromRecipe` and `resume`.
   */
  static fromState<T>(this: Class<T>, state: string | Uint8Array | SavedState, options?: ReadingStateOptions): T {
    return new this([], ReadingRecipe.ofState(state, options) as unknown as ReadingOptions);
  }

  /** Samples in each shard: a new copy. */
  get sizes(): Float64Array<ArrayBuffer> {
    return numbers(this.call((raw) => raw.sizes()));
  }

  /** Seed of all shuffles; a `bigint` where it is beyond 2^53 - 1. */
  get seed(): Integer {
    return plain(this.call((raw) => raw.seed()));
  }

  /** How many ranks there are. */
  get worldSize(): number {
    return this.call((raw) => raw.worldSize());
  }

  /** How many workers read in each rank. */
  get workers(): number {
    return this.call((raw) => raw.workers());
  }

  /** How many samples a batch has. */
  get batchSize(): number {
    return this.call((raw) => raw.batchSize());
  }

  /**
   * The recipe, which `fromRecipe` takes: JSON in one line, with every member that is used, the defaults too. It is the same in all
   * epochs and after every state, and the same text in every language. Lists of more than 256 numbers are a hash.
   */
  get recipe(): string {
    return this.call((raw) => raw.recipe());
  }

  /** SHA-256 over the recipe, in hexadecimal: it names the run. */
  recipeFingerprint(): string {
    return this.call((raw) => raw.recipeFingerprint());
  }

  /** The number of the epoch; a `bigint` where it is beyond 2^53 - 1. */
  get epoch(): Integer {
    return plain(this.call((raw) => raw.epoch()));
  }

  /** Whether a part of the epoch was read before. */
  get isRest(): boolean {
    return this.call((raw) => raw.isRest());
  }

  /** How many readers decode each row: 1; or more, where samples are dealt to readers whose number does not divide the lanes. */
  get readsPerRow(): number {
    return this.call((raw) => raw.readsPerRow());
  }

  /**
   * The number of lanes nearest to `lanes` with which one reader decodes each row. It is undefined where no number up to 4,096
   * does, where the order has no lanes, and where a part of the epoch was read before: lanes cannot change within an epoch.
   */
  get lanesReadOnce(): number | undefined {
    return this.call((raw) => raw.lanesReadOnce());
  }

  /**
   * The lanes and the shuffle window to use instead, if the mean of a batch varies more than twice as much as by chance. It is undefined
   * where it does not, where no number of lanes up to 4,096 is better, where a reader has no more samples than a batch, where
   * the order has no lanes, and where a part of the epoch was read before.
   */
  mixingAdvice(): MixingAdvice | undefined {
    return this.call((raw) => raw.mixingAdvice());
  }

  /** The whole of another epoch, for the same readers: another reading. Errors: `epoch`, memory. */
  atEpoch(epoch: Integer): this {
    return this.#at({ epoch: integer('epoch', epoch, U64) });
  }

  /**
   * What a state leaves of its epoch, for the readers of this reading: another reading. If ranks, workers and batch size are
   * those that the state was taken with, every reader goes on where it stood. For any others, what is left is dealt anew. The
   * state need not be trusted.
   *
   * `state` is the text that `state` gave in any language, or the dictionary that Python's `state_dict` saved. Errors: `state`
   * (no state of a reading; more than 2^24 bytes); `recipe` (the state is of the other deal); the first member of the order that
   * is not as in the state; `consumed`, `history`, `steps`, `world-size`, `workers`, `batch-size` (a state says what cannot be);
   * `samples` (with `pad`, all samples and the padding are more than 2^53 - 1); memory.
   */
  resume(state: string | Uint8Array | SavedState): this {
    return this.#at({ state: stateText(state) });
  }

  /**
   * The state after every rank has taken `steps` steps, or all that it has: a text for a checkpoint, the same on all ranks, of
   * JSON in one line. Errors: `steps` (more than the most steps of a rank).
   */
  state(steps: Integer): string {
    const number = natural('steps', steps, () => this.steps().most + 1);
    return this.call((raw) => raw.state(number));
  }

  /** How many steps a rank has: the batches of all its workers. Errors: `rank`. */
  numSteps(rank: Integer): number {
    const which = natural32('rank', rank, U32);
    return this.number((raw) => raw.numSteps(which));
  }

  /** The fewest and the most steps of a rank. If they differ, ranks that wait for one another at each step hang at the end. */
  steps(): Steps {
    const { least, most } = this.call((raw) => raw.steps());
    return { least: Number(least), most: Number(most), equal: least === most };
  }

  /** The batch that the loader of a rank takes at a step. Errors: `rank`, `step`, memory. */
  batchAt(rank: Integer, step: Integer): ReadBatch {
    const which = natural32('rank', rank, U32);
    const number = natural('step', step, () => this.numSteps(which));
    const found = this.call((raw) => raw.batchAt(which, number));
    const { worker, start, count, padding } = found;
    const samples = this.indices(which, worker, start, start + BigInt(count));
    return { worker, number: Number(found.number), step: Number(found.step), samples, padding };
  }

  /** The batches of all ranks at a step, in the order of ranks; null for a rank that has fewer steps than others. Errors: as `batchAt`. */
  step(step: Integer): (ReadBatch | null)[] {
    const number = Number(integer('step', step, [0n, BigInt(this.steps().most) - 1n]));
    return Array.from({ length: this.worldSize }, (_, rank) =>
      number < this.numSteps(rank) ? this.batchAt(rank, number) : null,
    );
  }

  /** How many readers have no batch. */
  numIdleReaders(): number {
    return this.number((raw) => raw.numIdleReaders());
  }

  /** How many samples a reader has, padding included. Errors: `rank`, `worker`. */
  numSamples(rank: Integer, worker: Integer = 0): number {
    const reader = readerOf(rank, worker);
    return this.number((raw) => raw.numSamples(...reader));
  }

  /** How many of them, the last ones, are padding. Errors: `rank`, `worker`. */
  numPadding(rank: Integer, worker: Integer = 0): number {
    const reader = readerOf(rank, worker);
    return this.number((raw) => raw.numPadding(...reader));
  }

  /**
   * A reader's samples number `start` to `end` - 1, in order: all of them by default. Errors: `rank`, `worker`, `start`, `end`,
   * memory.
   */
  indices(rank: Integer, worker: Integer = 0, start: Integer = 0, end?: Integer): Float64Array<ArrayBuffer> {
    const reader = readerOf(rank, worker);
    const length = this.call((raw) => raw.numSamples(...reader));
    const first = integer('start', start, [0n, length]);
    const last = integer('end', end === undefined ? length : end, [first, length]);
    const read = (at: number, count: number) => {
      return numbers(this.call((raw) => raw.indices(...reader, first + BigInt(at), count)));
    };
    return gathered(Float64Array, Number(last - first), WINDOW, 'indices', read);
  }

  /** In how many rounds a reader reads. Errors: `rank`, `worker`. */
  numRounds(rank: Integer, worker: Integer = 0): number {
    const reader = readerOf(rank, worker);
    return this.number((raw) => raw.numRounds(...reader));
  }

  /**
   * What comes together, such as a window of each of a reader's lanes, or a shard. Errors: `rank`, `worker`, `number`,
   * `shuffleWindow` (more than 2^20 spans), memory.
   */
  round(rank: Integer, worker: Integer, number: Integer): ReadRound {
    const reader = readerOf(rank, worker);
    const which = natural('number', number, () => this.numRounds(...reader));
    return roundOf(this.call((raw) => raw.round(...reader, which)));
  }

  /**
   * A reader's rounds, one after the other, from the one that holds its sample number `start` on: by default all of them.
   * Rounds without samples are left out. Errors: as `round`, and `start`.
   */
  rounds(rank: Integer, worker: Integer = 0, start: Integer = 0): Generator<ReadRound, void, undefined> {
    const reader = readerOf(rank, worker);
    const samples = this.call((raw) => raw.numSamples(...reader));
    const first = integer('start', start, [0n, samples]);
    if (first === samples) return this.#rounds(reader, 0n, 0n);
    const [from, count] = this.call((raw) => [raw.roundOf(...reader, first), raw.numRounds(...reader)]);
    return this.#rounds(reader, from, count);
  }

  *#rounds(reader: Reader, start: bigint, end: bigint) {
    for (let number = start; number < end; number++) {
      const round = this.call((raw) => raw.round(...reader, number));
      if (round.count > 0n) yield roundOf(round);
    }
  }

  /** The number of the round that a reader's sample number `index` is in. Errors: `rank`, `worker`, `index`. */
  roundOf(rank: Integer, worker: Integer, index: Integer): number {
    const reader = readerOf(rank, worker);
    const which = natural('index', index, () => this.numSamples(...reader));
    return this.number((raw) => raw.roundOf(...reader, which));
  }

  /**
   * Which rows hold a round's samples number `start` to `end` - 1, counted from 0 in each round: all of them by default. Errors:
   * as `round`, and `start`, `end`.
   */
  roundRows(rank: Integer, worker: Integer, number: Integer, start: Integer = 0, end?: Integer): RoundRows {
    const reader = readerOf(rank, worker);
    const which = natural('number', number, () => this.numRounds(...reader));
    const { count } = this.call((raw) => raw.round(...reader, which));
    const first = integer('start', start, [0n, count]);
    const last = integer('end', end === undefined ? count : end, [first, count]);
    let padding = 0;
    const read = (at: number, many: number) => {
      const found = this.call((raw) => raw.roundRows(...reader, which, first + BigInt(at), many));
      padding += found.padding;
      return numbers(found.rows);
    };
    const rows = gathered(Float64Array, Number(last - first), WINDOW, 'rows', read);
    return { rows, padding };
  }

  /**
   * The shards that are a reader's alone, in the order in which it reads them: those with rows that are left, and those that
   * never had any. Errors: `rank`, `worker`, `shards` (single samples are dealt).
   */
  shards(rank: Integer, worker: Integer = 0): Uint32Array<ArrayBuffer> {
    const reader = readerOf(rank, worker);
    return this.call((raw) => raw.shards(...reader));
  }

  /** The recipe as it was given, and the epoch or the state, for `JSON.stringify` and `fromJSON`. */
  toJSON(): ReadingJson {
    const { document, stand } = this.#recipe;
    return document.toJson('epoch' in stand ? { epoch: String(stand.epoch) } : stand);
  }

  #at(stand: Stand): this {
    const recipe = this.#recipe.at(stand);
    const own = this.constructor as new (sizes: OrderOrSizes, options: ReadingOptions) => this;
    return new own([], recipe as unknown as ReadingOptions);
  }
}

/** A worker of a rank, as far as both have to be checked to cross. */
type Reader = readonly [rank: number, worker: number];

function readerOf(rank: Integer, worker: Integer): Reader {
  return [natural32('rank', rank, U32), natural32('worker', worker, U32)];
}

function roundOf({ start, count, spans }: Copied<RawRound>): ReadRound {
  return { start: Number(start), count: Number(count), spans: spansOf(spans) };
}
