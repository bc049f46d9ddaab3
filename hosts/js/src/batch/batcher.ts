import { release } from '../bindings/resources.js';
import type { ComponentBindings, RawBatcher } from '../bindings/types.js';
import { fail, integer, stateText, U64, u32, u53 } from '../checks.js';
import { type Counted, counted } from '../counted.js';
import type { Engine } from '../engine.js';
import { SamedealError } from '../errors.js';
import { BatcherMembers, type BatchPlace } from '../generated/batches.js';
import { each } from '../lists.js';
import { resumed } from '../state.js';
import type { Integer, Integers, SavedState } from '../types.js';
import { BatcherRecipe, historySource, type Planned } from './recipe.js';
import { batchesOf, Metrics } from './run.js';
import type {
  Batch,
  BatcherConfig,
  BatcherJson,
  BatcherOptions,
  BatcherRecipeOptions,
  BatcherStateOptions,
  Lengths,
} from './types.js';

/** How many steps an iteration reads at a time. */
const WINDOW = 64;

type Class<T> = new (lengths: Lengths, options?: BatcherOptions) => T;

/** What `Batcher` is, over any instance of its engine. */
export abstract class BaseBatcher extends BatcherMembers<Planned> implements Iterable<Batch> {
  #recipe: BatcherRecipe;
  #metrics: Metrics;
  #text?: string;
  #worldSize?: number;

  /** @internal */
  constructor(engine: Engine<ComponentBindings>, lengths: Lengths, options?: BatcherOptions) {
    const recipe = options instanceof BatcherRecipe ? options : BatcherRecipe.of(lengths, options);
    super(engine, 'batcher', recipe);
    this.#recipe = recipe;
    this.#metrics = this.call(({ plan }) => new Metrics(plan));
  }

  /** The batcher that `toJSON` wrote. Errors: as `fromRecipe`. */
  static fromJSON<T>(this: Class<T>, json: BatcherJson | string): T {
    return new this([], BatcherRecipe.ofJson(json) as unknown as BatcherOptions);
  }

  /**
   * The batcher of a recipe: an object, or a text of JSON. `order` is that of a sampler; `deal` has `world_size`; `batch`
   * has the other options of the constructor, by the names that all languages share, such as `max_tokens`. A member that is not
   * there has its default. Give `lengths` if the recipe has their hash, or does not have them; `boundaries`, `sizes` and `lists`
   * likewise. Errors: as
   * the constructor, `recipe` (it is no JSON object), `recipe-member`, `order-member`, `deal-member`, `batch-member` (there is no such
   * member).
   */
  static fromRecipe<T>(this: Class<T>, recipe: string | object, lengths?: Lengths, options?: BatcherRecipeOptions): T {
    return new this([], BatcherRecipe.read(recipe, lengths, options) as unknown as BatcherOptions);
  }

  /**
   * The batcher that goes on after a state, which has the recipe and the epoch, on `worldSize` ranks (1). Give `lengths`, `boundaries`, `sizes` or
   * `lists` if the state has their hash. It plans the epoch first, and then what is left of it. Errors: as `fromRecipe` and `resume`.
   */
  static fromState<T extends BaseBatcher>(
    this: Class<T>,
    state: string | Uint8Array | SavedState,
    lengths?: Lengths,
    options?: BatcherStateOptions,
  ): T {
    return resumed(new this([], BatcherRecipe.ofState(state, lengths, options) as unknown as BatcherOptions), state);
  }

  /**
   * The recipe, which `fromRecipe` takes: JSON in one line, with every member that the strategy uses, the defaults too. It is the same
   * on all ranks and in all epochs, and the same text in every language. More than 256 lengths or boundaries are a hash.
   */
  get recipe(): string {
    const text = this.#text ?? this.call(({ recipe }) => recipe.text());
    this.#text = text;
    return text;
  }

  /** SHA-256 over the recipe, in hexadecimal: it names the run. */
  recipeFingerprint(): string {
    return this.call(({ recipe }) => recipe.fingerprint());
  }

  /** All options that the strategy uses, with the defaults: `new Batcher(lengths, config)` makes an equal batcher. */
  get config(): BatcherConfig {
    const { rank, epoch, history } = this;
    return { ...this.#recipe.document.options(this.recipe), rank, epoch, history } as BatcherConfig;
  }

  /** The length of every sample: a new copy. */
  get lengths(): Uint32Array<ArrayBuffer> {
    return this.#recipe.lengths.slice();
  }

  /** Which rank iteration answers for. */
  get rank(): number {
    return this.#recipe.rank;
  }

  /** How many ranks there are. */
  get worldSize(): number {
    this.#worldSize ??= JSON.parse(this.recipe).deal.world_size as number;
    return this.#worldSize;
  }

  /** How many batches every rank has. */
  get length(): number {
    return this.numSteps;
  }

  /** How many batches every rank has: `length`. */
  get numSteps(): number {
    return this.#metrics.steps;
  }

  /**
   * Plans another epoch, of which nothing was taken; as costly as the constructor. If the epoch is the current one, nothing changes,
   * also if a part of it was taken. Errors: `epoch`, memory; then the old epoch is still planned.
   */
  setEpoch(epoch: Integer): void {
    const number = integer('epoch', epoch, U64);
    if (number !== this.#recipe.epoch) this.#move((plan) => plan.atEpoch(number));
  }

  /**
   * Goes on where a state was taken: moves to its epoch, and plans what was not taken; steps are counted from 0 again. With the
   * number of ranks of the state, the batches are those that its plan has left; with another number, what is left is planned anew.
   * A composed order may have got more since then, if that begins with a later epoch, or no step of the state's epoch was taken.
   * As costly as the constructor, for each world size that took a part. The state need not be trusted. Errors: `state` (no state of
   * a batcher; more than 2^24 bytes), the first member of the recipe that is not as in the state, `history` (more taken than there
   * was), memory; then the batcher is where it was.
   */
  resume(state: string | Uint8Array | SavedState): void {
    const text = stateText(state);
    this.#move((plan) => plan.resume(text));
  }

  /** What the batches of all ranks amount to. */
  metrics(): Metrics {
    return this.#metrics;
  }

  /**
   * The batch of a rank, by default this one, at a step: any at once, at the price of planning a window.
   * Errors: `step`, `rank`, memory.
   */
  batch(step: Integer, rank: Integer = this.rank): Batch {
    const whose = this.#whose(rank);
    const number = Number(integer('step', step, [0n, BigInt(this.numSteps) - 1n]));
    return this.#take(whose, number, 1)[0] as Batch;
  }

  /** The batches of all ranks at a step, in the order of ranks. Errors: `step`, memory. */
  step(step: Integer): Batch[] {
    const number = u53('step', step, (other) => this.step(other));
    const { worldSize } = this;
    return batchesOf(this.call(({ plan }) => plan.step(number, 0, worldSize)));
  }

  /**
   * One pass over the batches of a rank, by default this one, from step number `start` on. It counts them: its `state()` is the state
   * after those that it gave. A pass that goes on after `setEpoch` or `resume` fails, since what it would go on with is no epoch. Errors:
   * `start`, `rank`, `epoch`, `history`, memory.
   */
  batches(start: Integer = 0, rank: Integer = this.rank): Counted<Batch> {
    const whose = this.#whose(rank);
    const first = Number(integer('start', start, [0n, BigInt(this.numSteps)]));
    // The engine says what is wrong with the rank.
    this.#take(whose, first, 0);
    const same = this.#unmoved();
    const state = (steps: number) => {
      same();
      return this.state(steps);
    };
    return counted(this.#pass(whose, first, this.numSteps, same), first, state);
  }

  /** One pass over this rank's batches; see `batches`. */
  [Symbol.iterator](): Counted<Batch> {
    return this.batches();
  }

  /** `locate` for many samples: the places of each of them. Errors: as `locate`, with the index of the sample. */
  locateAll(samples: Integers): BatchPlace[][] {
    return each('sample', samples, (sample) => this.locate(sample));
  }

  /** The recipe as it was given, the lengths, the rank and the place in the epoch, for `JSON.stringify` and `fromJSON`. */
  toJSON(): BatcherJson {
    const { document, rank, epoch } = this.#recipe;
    return document.toJson({ epoch: String(epoch), rank, history: this.history });
  }

  *#pass(rank: number, start: number, end: number, same: () => void): Generator<Batch, void, undefined> {
    let count = WINDOW;
    for (let at = start; at < end; ) {
      same();
      let found: Batch[];
      try {
        found = this.#take(rank, at, Math.min(count, end - at));
      } catch (error) {
        // One by one, where so many are too large together.
        if (count === 1 || !(error instanceof SamedealError && error.kind === 'out-of-memory')) throw error;
        count = 1;
        continue;
      }
      at += found.length;
      for (const batch of found) {
        same();
        yield batch;
      }
    }
  }

  #take(rank: number, start: number, count: number): Batch[] {
    return batchesOf(this.call(({ plan }) => plan.take(rank, BigInt(start), count)));
  }

  /** Goes on with another plan. Nothing after the call may throw: the recipe is what the batcher would be made again by. */
  #move(planned: (plan: RawBatcher) => RawBatcher): void {
    const { recipe, metrics } = this.call((raw) => {
      const plan = planned(raw.plan);
      release(raw.plan);
      raw.plan = plan;
      return { recipe: this.#recipe.at(plan.epoch(), plan.history()), metrics: new Metrics(plan) };
    });
    this.#recipe = recipe;
    this.follow(recipe);
    this.#metrics = metrics;
  }

  /** A check that the place in the epoch is still what it is now. */
  #unmoved(): () => void {
    const before = this.#recipe;
    return () => {
      const now = this.#recipe;
      if (now === before) return;
      if (now.epoch !== before.epoch) {
        fail('out-of-range', 'epoch', now.epoch, `${before.epoch} until the iteration ends`);
      }
      const [is, was] = [now.history, before.history].map(historySource);
      if (is !== was) fail('out-of-range', 'history', is, 'what it was, until the iteration ends');
    };
  }

  #whose(rank: Integer): number {
    return u32('rank', rank, (other) => this.#take(Number(other), 0, 0));
  }
}
