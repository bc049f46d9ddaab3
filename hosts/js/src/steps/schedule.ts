import { integer, span, u32 } from '../checks.js';
import { type Counted, counted } from '../counted.js';
import type { ComponentBindings, RawSchedule } from '../engine/types.js';
import type { Engine } from '../engine.js';
import { MAX_COUNT } from '../generated/limits.js';
import { ScheduleMembers, type StepPlace } from '../generated/steps.js';
import { each, fewSamples, joined, numbers, ofRanks } from '../lists.js';
import type { OrderOrSamples } from '../order/order.js';
import { resumed } from '../state.js';
import type { Indices, Integer, Integers, SavedState } from '../types.js';
import { ScheduleRecipe } from './recipe.js';
import type {
  GlobalBatchSizes,
  ScheduleJson,
  ScheduleOptions,
  ScheduleRecipeOptions,
  ScheduleStateOptions,
} from './types.js';

/** How many samples of a rank one call returns, unless one step alone has more. */
const WINDOW = 1 << 15;

type Class<T> = new (samples: OrderOrSamples, globalBatchSize: GlobalBatchSizes, options?: ScheduleOptions) => T;

/** The members of `Schedule`. An entry point such as index.ts adds the engine. */
export abstract class BaseSchedule extends ScheduleMembers implements Iterable<Indices> {
  readonly #recipe: ScheduleRecipe;
  readonly #numSteps: number;
  readonly #worldSize: number;
  readonly #datasetSize: number;

  /** @internal */
  constructor(
    engine: Engine<ComponentBindings>,
    samples: OrderOrSamples,
    globalBatchSize: GlobalBatchSizes,
    options?: ScheduleOptions,
  ) {
    const recipe = options instanceof ScheduleRecipe ? options : ScheduleRecipe.of(samples, globalBatchSize, options);
    super(engine, 'schedule', recipe);
    this.#recipe = recipe;
    this.#numSteps = this.numSteps;
    this.#worldSize = this.worldSize;
    this.#datasetSize = this.datasetSize;
  }

  /**
   * The schedule of a recipe: an object, or a text of JSON. `order` is as in the recipe of a sampler; `deal` has
   * `world_size`, `layout` and `unit`; `steps` has `global_batch_size`, `epochs` and, if the batch size changes, `stages`:
   * objects with `from` and `global_batch_size`. A member that is not there has its default. Give `sizes` and `lists` as for a
   * sampler. Errors: as the constructor, `recipe` (it is no JSON object), `recipe`, `steps`, `stages` or another
   * object of the recipe (this object has an unknown member), `remainder` (a schedule has none).
   */
  static fromRecipe<T>(this: Class<T>, recipe: string | object, options?: ScheduleRecipeOptions): T {
    return new this(0, 0, ScheduleRecipe.read(recipe, options) as unknown as ScheduleOptions);
  }

  /**
   * The schedule of a state, which has the order and the batch sizes, on `worldSize` ranks (default 1). `resume` of the
   * same state returns the step to continue with. Give `sizes` or `lists` if the state has only their hash. Errors: as
   * `fromRecipe` and `resume`.
   */
  static fromState<T extends BaseSchedule>(
    this: Class<T>,
    state: string | Uint8Array | SavedState,
    options?: ScheduleStateOptions,
  ): T {
    return resumed(new this(0, 0, ScheduleRecipe.ofState(state, options) as unknown as ScheduleOptions), state);
  }

  /** The schedule that `toJSON` wrote. Errors: as `fromRecipe`. */
  static fromJSON<T>(this: Class<T>, json: ScheduleJson | string): T {
    return new this(0, 0, ScheduleRecipe.ofJson(json) as unknown as ScheduleOptions);
  }

  /**
   * This rank's samples at the steps `start` to `start` + `count` - 1, one step after the other. A step has
   * `globalBatchSize(step)` / `worldSize` of them. Errors: `start`, `count` (past the last step; a step has more than 2^20
   * samples of this rank), `globalBatchSize` (the batch size of a step from `start` on, however late, is no multiple of
   * `worldSize` * `unit`), memory.
   */
  indices(start: Integer, count: Integer = 1): Indices {
    const first = Number(integer('start', start, [0n, BigInt(this.#numSteps)]));
    const steps = Number(integer('count', count, [0n, BigInt(this.#numSteps - first)]));
    const last = first + steps;
    const samples = (this.samplesConsumed(last) - this.samplesConsumed(first)) / this.#worldSize;
    return joined(this.#windows(first, last), samples, this.#datasetSize, ['count', steps]);
  }

  /** This rank's samples at a step. Errors: `step`, `count` (more than 2^20), `globalBatchSize` (see `indices`), memory. */
  batch(step: Integer): Indices {
    const number = Number(integer('step', step, [0n, BigInt(this.#numSteps) - 1n]));
    const found = this.#window(number, 1);
    return joined([found], found.length, this.#datasetSize, ['step', step]);
  }

  /** The samples of every rank at a step, rank by rank. Errors: as `batch`, and `globalBatchSize` (more than 2^25). */
  step(step: Integer): Indices[] {
    const number = integer('step', step, [0n, BigInt(this.#numSteps) - 1n]);
    const size = this.globalBatchSize(number);
    const own = size / this.#worldSize;
    fewSamples(this.#worldSize, own, size);
    const window = Math.max(1, Math.floor(MAX_COUNT / own));
    return ofRanks(this.#worldSize, window, (first, count) => {
      const all = numbers(this.call((raw) => raw.step(number, first, count)));
      const part = (i: number) => all.subarray(i * own, (i + 1) * own);
      return Array.from({ length: count }, (_, i) => joined([part(i)], own, this.#datasetSize, ['step', step]));
    });
  }

  /**
   * This rank's samples step by step: the steps `start` to `end` - 1. Without `end` and without the option `epochs`,
   * the loop practically never ends, so leave it where the training ends. The loop counts its steps: its `state()` is
   * the state after the steps that it returned. Errors: `start`, `end`, and as `batch`.
   *
   * @example
   * const schedule = new Schedule(10, 4, { order: 'sequential' });
   * for (const batch of schedule.batches(2, 4)) console.log(batch.join(' '));
   * // 8 9 0 1
   * // 2 3 4 5
   */
  batches(start: Integer = 0, end?: Integer): Counted<Indices> {
    const [first, last] = span(start, end, this.#numSteps).map(Number) as [number, number];
    return counted(this.#batches(first, last), first, (step) => this.state(step));
  }

  /** The steps from step 0 on; see `batches`. */
  [Symbol.iterator](): Counted<Indices> {
    return this.batches();
  }

  /** `locate` for many samples: a place, or null, for each of them. Errors: as `locate`, with the index of the sample. */
  locateAll(samples: Integers, step: Integer = 0): (StepPlace | null)[] {
    this.samplesConsumed(step);
    return each('sample', samples, (sample) => this.locate(sample, step));
  }

  /** A new schedule for another rank; all else is as in this schedule. Errors: `rank`, memory. */
  atRank(rank: Integer): this {
    const ask = (number: number) =>
      this.aside(
        (raw) => raw.atRank(number) as RawSchedule,
        () => {},
      );
    const number = u32('rank', rank, (other) => ask(Number(other)));
    const own = this.constructor as Class<this>;
    return new own(0, 0, this.#recipe.at(number) as unknown as ScheduleOptions);
  }

  /** The recipe as it was given, and the rank, for `JSON.stringify` and `fromJSON`. */
  toJSON(): ScheduleJson {
    const { document, rank } = this.#recipe;
    return document.toJson({ rank });
  }

  *#batches(first: number, last: number): Generator<Indices, void, undefined> {
    for (let step = first; step < last; step++) yield this.batch(step);
  }

  /** The samples of the steps `first` to `last` - 1, in runs of steps: one call of the engine for each run. */
  *#windows(first: number, last: number): Generator<Float64Array, void, undefined> {
    const end = this.samplesConsumed(last);
    for (let at = first; at < last; ) {
      const draw = this.samplesConsumed(at) + WINDOW * this.#worldSize;
      const next = draw < end ? Math.max(this.stepOfConsumed(draw), at + 1) : last;
      yield this.#window(at, next - at);
      at = next;
    }
  }

  #window(start: number, count: number): Float64Array<ArrayBuffer> {
    return numbers(this.call((raw) => raw.indices(BigInt(start), count)));
  }
}
