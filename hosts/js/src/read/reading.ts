import { integer, span, stateText, U64, u32, u53 } from '../checks.js';
import type { ReadBatch as RawBatch } from '../components/interfaces/samedeal-deal-readings.js';
import type { ComponentBindings } from '../engine/types.js';
import type { Engine } from '../engine.js';
import { MAX_COUNT } from '../generated/limits.js';
import { ReadingMembers, type ReadRound, readRoundOf } from '../generated/readings.js';
import { gathered, numbers, ofRanks } from '../lists.js';
import { stepsOf } from '../shard/steps.js';
import type { Steps } from '../shard/types.js';
import type { Integer, SavedState } from '../types.js';
import { ReadingRecipe, type Stand } from './recipe.js';
import type {
  OrderOrSizes,
  ReadBatch,
  ReadingJson,
  ReadingOptions,
  ReadingRecipeOptions,
  ReadingStateOptions,
  RoundRows,
} from './types.js';

type Class<T> = new (sizes: OrderOrSizes, options?: ReadingOptions) => T;

/** The members of `Reading`. An entry point such as index.ts adds the engine. */
export abstract class BaseReading extends ReadingMembers {
  readonly #recipe: ReadingRecipe;

  /** @internal */
  constructor(engine: Engine<ComponentBindings>, sizes: OrderOrSizes, options?: ReadingOptions) {
    const recipe = options instanceof ReadingRecipe ? options : ReadingRecipe.of(sizes, options);
    super(engine, 'reading', recipe);
    this.#recipe = recipe;
  }

  /**
   * The reading of a recipe, in epoch 0: an object, or a text of JSON. `order` (single samples) or `shards` (whole
   * shards), `deal` and `batch` have the options of the constructor, by the names that all languages share. A member
   * that is not there has its default. Give the lists of which the recipe has only the hash, or which it leaves out.
   * Errors: as the constructor, `recipe` (it is no JSON object), `recipe`, `order`, `shards`, `deal` or `batch` (this
   * object has an unknown member).
   */
  static fromRecipe<T>(this: Class<T>, recipe: string | object, lists?: ReadingRecipeOptions): T {
    return new this([], ReadingRecipe.read(recipe, lists) as unknown as ReadingOptions);
  }

  /** The reading that `toJSON` wrote. Errors: as `fromRecipe` and `resume`. */
  static fromJSON<T>(this: Class<T>, json: ReadingJson | string): T {
    return new this([], ReadingRecipe.ofJson(json) as unknown as ReadingOptions);
  }

  /**
   * A reading that continues after a state, which has the order and the epoch. The options say how the rest of the
   * epoch is dealt. Give `sizes`, `bytes` or `lists` if the state has only their hash. Errors: as `fromRecipe` and
   * `resume`.
   */
  static fromState<T>(this: Class<T>, state: string | Uint8Array | SavedState, options?: ReadingStateOptions): T {
    return new this([], ReadingRecipe.ofState(state, options) as unknown as ReadingOptions);
  }

  /**
   * A new reading of the whole of another epoch, for the same readers. Errors: `epoch`, `samples` (as `resume`),
   * memory.
   */
  atEpoch(epoch: Integer): this {
    return this.#at({ epoch: integer('epoch', epoch, U64) });
  }

  /**
   * A new reading of the rest of a state's epoch, for the readers of this reading. If `worldSize`, `workers`,
   * `batchSize`, `dropLast` and `remainder` are those with which the state was taken, every reader continues where it
   * stopped. For other readers, the rest is dealt anew. The state need not be trusted.
   *
   * `state` is the text that `state` returned in any language, or the dictionary that Python's `state_dict` saved.
   * Errors: `state` (no state of a reading; more than 2^24 bytes); `recipe` (the state is of the other deal); the first
   * member of the order that is not as in the state; `consumed`, `history`, `steps`, `worldSize`, `workers`,
   * `batchSize` (the state contradicts itself); `samples` (with `pad`, all samples and the padding are more than
   * 2^53 - 1); memory.
   */
  resume(state: string | Uint8Array | SavedState): this {
    return this.#at({ state: stateText(state) });
  }

  /**
   * The fewest and the most steps of a rank. If these two numbers differ, and ranks wait for one another at each step,
   * the job hangs at the end of the epoch.
   */
  get steps(): Steps {
    return stepsOf(this.call((raw) => raw.stepBounds()));
  }

  /** The batch that the loader of a rank takes at a step. Errors: `rank`, `step`, memory. */
  batchAt(rank: Integer, step: Integer): ReadBatch {
    const which = u32('rank', rank, (other) => this.numSteps(other));
    const number = u53('step', step, (other) => this.batchAt(rank, other));
    return this.#batch(
      which,
      this.call((raw) => raw.batchAt(which, number)),
    );
  }

  /** The batches of all ranks at a step, in the order of ranks; null for a rank that has fewer steps than others. Errors: as `batchAt`. */
  step(step: Integer): (ReadBatch | null)[] {
    const number = u53('step', step, (other) => this.step(other));
    const { worldSize } = this;
    return ofRanks(worldSize, MAX_COUNT, (first, count) => {
      const found = this.call((raw) => raw.step(number, first, count));
      return found.map((batch, i) => (batch ? this.#batch(first + i, batch) : null));
    });
  }

  /**
   * The samples of a reader, from number `start` to `end` - 1, in order: all of them by default. Errors: `rank`,
   * `worker`, `start`, `end`, memory.
   */
  indices(rank: Integer, worker: Integer = 0, start: Integer = 0, end?: Integer): Float64Array<ArrayBuffer> {
    const reader = this.#reader(rank, worker);
    const length = this.call((raw) => raw.numSamples(...reader));
    const [first, last] = span(start, end, length);
    const read = (at: number, count: number) => {
      return numbers(this.call((raw) => raw.indices(...reader, first + BigInt(at), count)));
    };
    return gathered(Float64Array, Number(last - first), MAX_COUNT, 'indices', read);
  }

  /**
   * The rounds of a reader, one after the other, from the round that has the reader's sample number `start` on: by
   * default all rounds. Rounds without samples are left out. Errors: as `round`, and `start`.
   */
  rounds(rank: Integer, worker: Integer = 0, start: Integer = 0): Generator<ReadRound, void, undefined> {
    const reader = this.#reader(rank, worker);
    const samples = this.call((raw) => raw.numSamples(...reader));
    const first = integer('start', start, [0n, samples]);
    if (first === samples) return this.#rounds(reader, 0n, 0n);
    const [from, count] = this.call((raw) => [raw.roundOf(...reader, first), raw.numRounds(...reader)]);
    return this.#rounds(reader, from, count);
  }

  *#rounds(reader: Reader, start: bigint, end: bigint) {
    for (let number = start; number < end; number++) {
      const round = this.call((raw) => raw.round(...reader, number));
      if (round.count > 0n) yield readRoundOf(round);
    }
  }

  /**
   * For each of the samples `start` to `end` - 1 of a round (by default all), the number of its row, counted over all
   * spans of the round. The samples of each round are counted from 0.
   * Errors: as `round`, and `start`, `end`.
   */
  roundRows(rank: Integer, worker: Integer, number: Integer, start: Integer = 0, end?: Integer): RoundRows {
    const reader = this.#reader(rank, worker);
    const which = u53('number', number, (other) => this.round(rank, worker, other));
    const { count } = this.call((raw) => raw.round(...reader, which));
    const first = integer('start', start, [0n, count]);
    const last = integer('end', end === undefined ? count : end, [first, count]);
    let numPadding = 0;
    const read = (at: number, many: number) => {
      const found = this.call((raw) => raw.roundRows(...reader, which, first + BigInt(at), many));
      numPadding += found.numPadding;
      return numbers(found.rows);
    };
    const rows = gathered(Float64Array, Number(last - first), MAX_COUNT, 'rows', read);
    return { rows, numPadding };
  }

  /** The recipe as it was given, and the epoch or the state, for `JSON.stringify` and `fromJSON`. */
  toJSON(): ReadingJson {
    const { document, stand } = this.#recipe;
    return document.toJson('epoch' in stand ? { epoch: String(stand.epoch) } : stand);
  }

  #batch(rank: number, { worker, number, step, start, count, numPadding }: RawBatch): ReadBatch {
    const samples = this.indices(rank, worker, start, start + BigInt(count));
    return { worker, number: Number(number), step: Number(step), samples, numPadding };
  }

  #reader(rank: Integer, worker: Integer): Reader {
    return [
      u32('rank', rank, (other) => this.numSamples(other)),
      u32('worker', worker, (other) => this.numSamples(rank, other)),
    ];
  }

  #at(stand: Stand): this {
    const recipe = this.#recipe.at(stand);
    const own = this.constructor as new (sizes: OrderOrSizes, options: ReadingOptions) => this;
    return new own([], recipe as unknown as ReadingOptions);
  }
}

/** A worker of a rank. */
type Reader = readonly [rank: number, worker: number];
