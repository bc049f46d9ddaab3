import type { ComponentBindings, RawSchedule } from '../bindings/types.js';
import { integer, natural, natural32, stateText, U64 } from '../checks.js';
import type { StepPlace as RawPlace } from '../components/interfaces/samedeal-deal-steps.js';
import { type Counted, counted } from '../counted.js';
import { type Engine, Facade } from '../engine.js';
import { fewSamples, joined, naturals, numbers } from '../lists.js';
import { plain } from '../options.js';
import type { OrderOrSamples } from '../order/order.js';
import { resumed } from '../state.js';
import type { Indices, Integer, Integers, Layout, SavedState } from '../types.js';
import { ScheduleRecipe } from './recipe.js';
import type {
  BatchSizes,
  EpochPosition,
  ScheduleJson,
  ScheduleOptions,
  ScheduleRecipeOptions,
  ScheduleStateOptions,
  StepPlace,
} from './types.js';

/** How many samples of a rank one call hands out, unless one step alone has more. */
const WINDOW = 1 << 15;

type Class<T> = new (samples: OrderOrSamples, batchSize: BatchSizes, options?: ScheduleOptions) => T;

/** What `Schedule` is, over any instance of its engine. */
export abstract class BaseSchedule extends Facade<ComponentBindings, RawSchedule> implements Iterable<Indices> {
  readonly #recipe: ScheduleRecipe;
  readonly #numSteps: number;
  readonly #worldSize: number;
  readonly #samples: number;

  /** @internal */
  constructor(
    engine: Engine<ComponentBindings>,
    samples: OrderOrSamples,
    batchSize: BatchSizes,
    options?: ScheduleOptions,
  ) {
    const recipe = options instanceof ScheduleRecipe ? options : ScheduleRecipe.of(samples, batchSize, options);
    super(engine, 'schedule', recipe);
    this.#recipe = recipe;
    this.#numSteps = this.number((raw) => raw.numSteps());
    this.#worldSize = this.call((raw) => raw.worldSize());
    this.#samples = this.number((raw) => raw.samples());
  }

  /**
   * The schedule of a recipe: an object, or a text of JSON. `order` is that of a sampler; `deal` has `world_size`, `layout` and `unit`; `steps`
   * has `batch_size`, `epochs` and, if it changes, `stages`: objects with `from` and `batch_size`. A member that is not there has its default. Give
   * `sizes` and `lists` as for a sampler. Errors: as the constructor, `recipe` (it is no JSON object), `recipe-member`, `steps-member`,
   * `stages-member` and their like (there is no such member), `remainder` (it is there).
   */
  static fromRecipe<T>(this: Class<T>, recipe: string | object, options?: ScheduleRecipeOptions): T {
    return new this(0, 0, ScheduleRecipe.read(recipe, options) as unknown as ScheduleOptions);
  }

  /**
   * The schedule of a state, which has the order and the batch sizes, on `worldSize` ranks (1). `resume` of the same state gives the step to go
   * on with. Give `sizes` or `lists` if the state has their hash. Errors: as `fromRecipe` and `resume`.
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
   * The recipe, which `fromRecipe` takes: JSON in one line, with every member that there is, the defaults too. It is the same on all ranks,
   * and the same text in every language. Lists of more than 256 numbers are a hash.
   */
  get recipe(): string {
    return this.call((raw) => raw.recipe());
  }

  /** SHA-256 over the recipe, in hexadecimal: it names the run. */
  recipeFingerprint(): string {
    return this.call((raw) => raw.recipeFingerprint());
  }

  /** Which of the data-parallel readers this is. */
  get rank(): number {
    return this.#recipe.rank;
  }

  /** How many data-parallel readers there are. */
  get worldSize(): number {
    return this.#worldSize;
  }

  /** Number of sample indices: they are 0 to `samples` - 1. */
  get samples(): number {
    return this.#samples;
  }

  /** Seed of the order; a `bigint` where it is beyond 2^53 - 1. Of an order that has none, that of the order which it is made of. */
  get seed(): Integer {
    return plain(this.call((raw) => raw.seed()));
  }

  /** Name of the order. */
  get order(): string {
    return this.call((raw) => raw.order());
  }

  /** Which samples of a step belong to a rank. */
  get layout(): Layout {
    return this.call((raw) => raw.layout()) as Layout;
  }

  /** How many neighbouring positions always go to the same rank. */
  get unit(): number {
    return this.call((raw) => raw.unit());
  }

  /** How many steps there are until the positions of all epochs together are 2^53 - 1: more than any training has. */
  get numSteps(): number {
    return this.#numSteps;
  }

  /** The global batch size of a step: how many samples all ranks together take. Errors: `step`. */
  batchSize(step: Integer): number {
    const number = this.#step(step);
    return this.call((raw) => raw.batchSize(number));
  }

  /** How many samples all ranks together took before a step. Errors: `step`. */
  samplesConsumed(step: Integer): number {
    const number = this.#step(step, 1);
    return this.number((raw) => raw.samplesConsumed(number));
  }

  /** The epoch and the position at which a step begins. Errors: `step`, memory. */
  placeOf(step: Integer): EpochPosition {
    const number = this.#step(step);
    const { epoch, position } = this.call((raw) => raw.placeOf(number));
    return { epoch: plain(epoch), position: Number(position) };
  }

  /** The step that takes the sample before which all ranks together took `draw` samples. Errors: `draw`. */
  stepOfDraw(draw: Integer): number {
    const number = natural('draw', draw);
    return this.number((raw) => raw.stepOfDraw(number));
  }

  /** The step that takes a position of an epoch. Errors: `epoch`, `position`, memory. */
  stepOf(epoch: Integer, position: Integer): number {
    const [number, at] = [integer('epoch', epoch, U64), natural('position', position)];
    return this.number((raw) => raw.stepOf(number, at));
  }

  /**
   * This rank's samples at the steps `start` to `start` + `count` - 1, one step after the other. A step has `batchSize(step)` /
   * `worldSize` of them. Errors: `start`, `count` (past the last step; a step has more than 2^20 samples of this rank), `batchSize`
   * (that of a step from `start` on, however late, is no multiple of `worldSize` * `unit`), memory.
   */
  indices(start: Integer, count: Integer = 1): Indices {
    const first = Number(integer('start', start, [0n, BigInt(this.#numSteps)]));
    const steps = Number(integer('count', count, [0n, BigInt(this.#numSteps - first)]));
    const last = first + steps;
    const samples = (this.samplesConsumed(last) - this.samplesConsumed(first)) / this.#worldSize;
    return joined(this.#windows(first, last), samples, this.#samples, ['count', steps]);
  }

  /** This rank's samples at a step. Errors: `step`, `count` (more than 2^20 of them), `batchSize` (see `indices`), memory. */
  batch(step: Integer): Indices {
    const number = Number(integer('step', step, [0n, BigInt(this.#numSteps) - 1n]));
    const found = this.#window(number, 1);
    return joined([found], found.length, this.#samples, ['step', step]);
  }

  /** The samples of every rank at a step, in the order of ranks. Errors: as `batch`, and `batchSize` (more than 2^25). */
  step(step: Integer): Indices[] {
    const number = integer('step', step, [0n, BigInt(this.#numSteps) - 1n]);
    const size = this.batchSize(number);
    fewSamples(this.#worldSize, size / this.#worldSize, size);
    return Array.from({ length: this.#worldSize }, (_, rank) => {
      const found = this.aside(
        (raw) => raw.atRank(rank) as RawSchedule,
        (raw) => raw.indices(number, 1),
      );
      return joined([numbers(found)], found.length, this.#samples, ['step', step]);
    });
  }

  /**
   * This rank's samples step by step: the steps `start` to `end` - 1. Without `end`, it goes on practically without end, so leave the loop
   * where the training ends. The loop counts its steps: its `state()` is the state after those that it gave. Errors: `start`, `end`, and as
   * `batch`.
   *
   * @example
   * const schedule = new Schedule(10, 4, { order: 'sequential' });
   * for (const batch of schedule.batches(2, 4)) console.log(batch.join(' '));
   * // 8 9 0 1
   * // 2 3 4 5
   */
  batches(start: Integer = 0, end: Integer = this.#numSteps): Counted<Indices> {
    const first = Number(integer('start', start, [0n, BigInt(this.#numSteps)]));
    const last = Number(integer('end', end, [BigInt(first), BigInt(this.#numSteps)]));
    return counted(this.#batches(first, last), first, (step) => this.state(step));
  }

  /** The steps from step 0 on; see `batches`. */
  [Symbol.iterator](): Counted<Indices> {
    return this.batches();
  }

  /**
   * When and where a sample is seen first, on any rank, from step number `step` on; null if it is not seen again. Errors: `sample`, `step`,
   * `batchSize` (see `indices`), memory.
   *
   * @example
   * const schedule = new Schedule(10, 4, { order: 'sequential', worldSize: 2 });
   * const place = schedule.locate(1, 1);
   * if (place) console.log(place.step, place.rank, place.indexInBatch); // 2 1 1
   */
  locate(sample: Integer, step: Integer = 0): StepPlace | null {
    const number = natural('sample', sample, () => this.#samples);
    const from = this.#step(step, 1);
    return placeOf(this.call((raw) => raw.locate(number, from)));
  }

  /** The same for many samples: a place, or null, for each of them, in their order. Errors: as `locate`, with the index of the sample. */
  locateAll(samples: Integers, step: Integer = 0): (StepPlace | null)[] {
    const from = this.#step(step, 1);
    const all = naturals('sample', samples, () => this.#samples);
    return this.call((raw) => all.map((sample) => placeOf(raw.locate(sample, from))));
  }

  /**
   * The state before step number `step`: a text for a checkpoint, the same on all ranks, of JSON in one line. `resume` of any schedule of
   * the same order gives the step to go on with, in any language and with any number of ranks. Errors: `step`, memory.
   */
  state(step: Integer): string {
    const number = this.#step(step, 1);
    return this.call((raw) => raw.state(number));
  }

  /**
   * The step to go on with after a state. The number of ranks may be another one, and stages from this step on may be others. A composed
   * order may have got more, as with `Sampler.resume`. The schedule does not change. The state need not be trusted. Errors: `state` (no state
   * of a schedule; more than 2^24 bytes), `step` (there are not so many), the first member of the order that is not as in the state,
   * `batchSize`, `stages` (another one before the step), `consumed` (not that of the step), memory.
   *
   * @example
   * const state = new Schedule(1000, 64, { worldSize: 8 }).state(500);
   * const larger = new Schedule(1000, [[0, 64], [500, 128]], { worldSize: 16 });
   * console.log(larger.resume(state)); // 500
   */
  resume(state: string | Uint8Array | SavedState): number {
    const text = stateText(state);
    return this.number((raw) => raw.resume(text));
  }

  /** The same for another rank: another schedule. Errors: `rank`, memory. */
  atRank(rank: Integer): this {
    const number = natural32('rank', rank, () => [0n, BigInt(this.#worldSize) - 1n]);
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

  /** Steps in runs that each cross in one call. */
  *#windows(first: number, last: number): Generator<Float64Array, void, undefined> {
    const end = this.samplesConsumed(last);
    for (let at = first; at < last; ) {
      const draw = this.samplesConsumed(at) + WINDOW * this.#worldSize;
      const next = draw < end ? Math.max(this.stepOfDraw(draw), at + 1) : last;
      yield this.#window(at, next - at);
      at = next;
    }
  }

  #window(start: number, count: number): Float64Array<ArrayBuffer> {
    return numbers(this.call((raw) => raw.indices(BigInt(start), count)));
  }

  /** The number of a step, or with `past` of the one after the last. */
  #step(step: unknown, past = 0): bigint {
    return natural('step', step, () => this.#numSteps + past);
  }
}

function placeOf(found: RawPlace | undefined): StepPlace | null {
  if (!found) return null;
  const { draw, epoch, position, step, rank, indexInBatch } = found;
  return {
    draw: Number(draw),
    epoch: plain(epoch),
    position: Number(position),
    step: Number(step),
    rank,
    indexInBatch,
  };
}
