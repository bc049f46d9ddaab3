import { fail, flag, indexText, integer, stateText, U64, u32, u53 } from '../checks.js';
import { type Counted, counted } from '../counted.js';
import type { ComponentBindings, RawBatcher } from '../engine/types.js';
import type { Engine } from '../engine.js';
import { SamedealError } from '../errors.js';
import { BatcherMembers, type BatchPlace } from '../generated/batches.js';
import { each, list, numbers } from '../lists.js';
import type { Integer, Integers, SavedState } from '../types.js';
import { BatcherRecipe, type Planned } from './recipe.js';
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

/** Whether a call waits for lengths. */
const isWanted = (error: unknown): boolean => error instanceof SamedealError && error.kind === 'wanted';

/** The members of `Batcher`, over any instance of its engine. */
export abstract class BaseBatcher extends BatcherMembers<Planned> implements Iterable<Batch>, AsyncIterable<Batch> {
  #recipe: BatcherRecipe;
  #text?: string;
  #worldSize?: number;
  /** Answers of the calls of a question that is asked once more: see `withLengths`. */
  #answers: { given: (() => unknown)[]; next: number } | undefined;
  /** The last question of `withLengths`. */
  #last: Promise<unknown> = Promise.resolve();

  /** @internal */
  constructor(engine: Engine<ComponentBindings>, lengths: Lengths, options?: BatcherOptions) {
    const recipe = options instanceof BatcherRecipe ? options : BatcherRecipe.of(lengths, options);
    super(engine, 'batcher', recipe);
    this.#recipe = recipe;
    // Lengths that somebody else has are asked for when they are needed: this may take time.
    if (recipe.document.lengths?.isList === false) return;
    try {
      this.call((raw) => raw.plan);
    } catch (error) {
      this.dispose();
      throw error;
    }
  }

  /** Calls, and gives the lengths that the call asks for, until it does not ask any more. @internal */
  override call<T>(call: (raw: Planned) => T): T {
    const answers = this.#answers;
    if (answers) {
      const known = answers.given[answers.next];
      const answer = known ?? this.#outcome(call);
      if (!known) answers.given.push(answer);
      answers.next += 1;
      return answer() as T;
    }
    for (;;) {
      try {
        return super.call(call);
      } catch (error) {
        if (!isWanted(error)) throw error;
      }
      const lengths = this.#lengthsOf(super.call((raw) => raw.wanted()));
      if (lengths instanceof Promise) {
        // Nobody waits for this promise, so its failure is not told.
        lengths.catch(() => {});
        const advice =
          'lengths at once; for a promise of them, `await batcher.withLengths((own) => own.batch(0))` and its like';
        throw new SamedealError({ kind: 'wrong-type', field: 'lengths', value: 'a Promise', allowed: advice });
      }
      super.call((raw) => raw.supply(lengths));
    }
  }

  /**
   * Asks this batcher a question, and waits for the lengths that it asks for: for lengths that come as promises, such as those of a file in a page.
   * The function is called again whenever lengths came, so it should do nothing but ask this batcher. Questions are answered one after the other. Errors:
   * those of the question, and of whoever has the lengths.
   *
   * @example
   * const lengths = { length: 1000, take: async (samples) => samples.map((sample) => 1 + (sample % 90)) };
   * const batcher = new Batcher(lengths, { maxTokens: 4096 });
   * console.log(await batcher.withLengths((own) => own.batch(0).paddedLength <= 90)); // true
   */
  withLengths<T>(question: (batcher: this) => T): Promise<T> {
    if (typeof question !== 'function') fail('wrong-type', 'question', question, 'a function of a batcher');
    const answer = this.#last.then(() => this.#ask(question));
    this.#last = answer.catch(() => {});
    return answer;
  }

  async #ask<T>(question: (batcher: this) => T): Promise<T> {
    const given: (() => unknown)[] = [];
    let had: { samples: BigUint64Array; lengths: Uint32Array } | undefined;
    for (;;) {
      this.#answers = { given, next: 0 };
      try {
        return question(this);
      } catch (error) {
        if (!isWanted(error)) throw error;
      } finally {
        this.#answers = undefined;
      }
      const samples = super.call((raw) => raw.wanted());
      if (had && isSame(had.samples, samples)) {
        const { lengths } = had;
        super.call((raw) => raw.supply(lengths));
        had = undefined;
      } else {
        // Somebody else may ask something before they are here: then the question is what says whether they are still wanted.
        had = { samples, lengths: await this.#lengthsOf(samples.slice()) };
      }
    }
  }

  /** The outcome of a call, kept for when the question is asked again. A call that waits for lengths throws. */
  #outcome(call: (raw: Planned) => unknown): () => unknown {
    try {
      const value = super.call(call);
      return () => value;
    } catch (error) {
      if (isWanted(error)) throw error;
      return () => {
        throw error;
      };
    }
  }

  #lengthsOf(samples: BigUint64Array<ArrayBuffer>) {
    const { lengths } = this.#recipe.document;
    if (!lengths) fail('missing', 'lengths', '', 'the number of tokens of each sample');
    return lengths.at(numbers(samples));
  }

  /** The batcher that `toJSON` wrote. Give `lengths` if they are not in it, as they were no lists. Errors: as `fromRecipe`. */
  static fromJSON<T>(this: Class<T>, json: BatcherJson | string, lengths?: Lengths): T {
    return new this([], BatcherRecipe.ofJson(json, lengths) as unknown as BatcherOptions);
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
   * `lists` if the state has their hash. Errors: as `fromRecipe` and `resume`.
   */
  static fromState<T>(
    this: Class<T>,
    state: string | Uint8Array | SavedState,
    lengths?: Lengths,
    options?: BatcherStateOptions,
  ): T {
    return new this([], BatcherRecipe.ofState(state, lengths, options) as unknown as BatcherOptions);
  }

  /**
   * The recipe, which `fromRecipe` takes: JSON in one line, with every member that the strategy uses, the defaults too. It is the same
   * on all ranks and in all epochs, and the same text in every language. More than 256 lengths or boundaries are a hash.
   */
  get recipe(): string {
    const text = this.#text ?? this.call(({ recipe }) => recipe.recipe());
    this.#text = text;
    return text;
  }

  /** SHA-256 over the recipe, in hexadecimal: it names the training run. */
  recipeFingerprint(): string {
    return this.call(({ recipe }) => recipe.recipeFingerprint());
  }

  /** All options that the strategy uses, with the defaults: `new Batcher(lengths, config)` makes an equal batcher of the whole epoch. */
  get config(): BatcherConfig {
    const { rank, epoch } = this;
    return { ...this.#recipe.document.options(this.recipe), rank, epoch } as BatcherConfig;
  }

  /** The given lengths; undefined if the recipe has them. */
  get lengths(): Lengths | undefined {
    return this.#recipe.document.lengths?.given as Lengths | undefined;
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

  /** Moves to another epoch, of which nothing was taken. If it is the current one, nothing changes, also if a part of it was taken. Errors: `epoch`, memory. */
  setEpoch(epoch: Integer): void {
    const number = integer('epoch', epoch, U64);
    if (number !== this.call(({ plan }) => plan.epoch())) this.#move((plan) => plan.atEpoch(number));
  }

  /**
   * Goes on where a state was taken: moves to its epoch; steps are counted from 0 again. With the number of ranks of the state, the batches are
   * those that its plan has left; with another number, what is left of its window is planned anew, and windows for this number follow.
   * With `replan`, the options of batches may differ from those of the state, such as `maxTokens` after a device ran out of memory.
   * A composed order may have got more since then, if that begins with a later epoch, or no step of the state's epoch was taken.
   * The state need not be trusted. Errors: `state` (no state of batches; more than 2^24 bytes), the first member of the recipe that is not
   * as in the state, `consumed`, memory; then the batcher is where it was.
   */
  resume(state: string | Uint8Array | SavedState, options?: { replan?: boolean }): void {
    const text = stateText(state);
    const replan = flag('replan', 'replan', options);
    this.#move((plan) => (replan ? plan.replan(text) : plan.resume(text)), text);
  }

  /** The metrics of the batches of all ranks. All windows are planned for it, once, unless there is an index (`useIndex`). Errors: those of `numSteps`. */
  metrics(): Metrics {
    return this.call(({ plan }) => new Metrics(plan));
  }

  /**
   * The batch of a rank, by default this one, at a step. The windows up to this step are planned, unless it is known how many steps they have.
   * Errors: `step`, `rank`, and those of `numSteps`.
   */
  batch(step: Integer, rank: Integer = this.rank): Batch {
    const whose = this.#whose(rank);
    const number = u53('step', step, (other) => this.batch(other, rank));
    return batchesOf(this.call(({ plan }) => plan.step(number, whose, 1)))[0] as Batch;
  }

  /** The batches of all ranks at a step, in the order of ranks. Errors: `step`, and those of `numSteps`. */
  step(step: Integer): Batch[] {
    const number = u53('step', step, (other) => this.step(other));
    const { worldSize } = this;
    return batchesOf(this.call(({ plan }) => plan.step(number, 0, worldSize)));
  }

  /**
   * One pass over the batches of a rank, by default this one, from step number `start` on, which plans a window at a time. It counts them: its
   * `state()` is the state after those that it gave. A pass that goes on after `setEpoch` or `resume` fails, since what it would go on with is no
   * epoch. Errors: `start`, `rank`, `epoch`, `state` (the batcher was moved), and those of `numSteps`.
   */
  batches(start: Integer = 0, rank: Integer = this.rank): Counted<Batch> {
    const whose = this.#whose(rank);
    const first = Number(u53('start', start, (other) => this.batches(other, rank)));
    // The component says what is wrong with the start.
    this.#take(whose, first, 0);
    const same = this.#unmoved();
    const state = (steps: number) => {
      same();
      return this.state(steps);
    };
    return counted(this.#pass(whose, first, same), first, state);
  }

  /** One pass over this rank's batches; see `batches`. */
  [Symbol.iterator](): Counted<Batch> {
    return this.batches();
  }

  /** One pass for lengths that come as promises: `for await (const batch of batcher)`. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Batch, void, undefined> {
    const same = await this.withLengths((own) => own.#unmoved());
    for (let [at, count] = [0, WINDOW]; count > 0; at += count) {
      same();
      const found = await this.withLengths((own) => own.#few(this.rank, at, count));
      count = found.length;
      yield* checkedEach(found, same);
    }
  }

  /** `locate` for many samples: the places of each of them. Errors: as `locate`, with the index of the sample. */
  locateAll(samples: Integers): BatchPlace[][] {
    return each('sample', samples, (sample) => this.locate(sample));
  }

  /** The recipe as it was given, lengths that are lists, the rank and the place in the epoch, for `JSON.stringify` and `fromJSON`. */
  toJSON(): BatcherJson {
    const { document, rank, epoch, state } = this.#recipe;
    return document.toJson({ ...(state === undefined ? { epoch: String(epoch) } : { state }), rank }) as BatcherJson;
  }

  *#pass(rank: number, start: number, same: () => void): Generator<Batch, void, undefined> {
    for (let [at, count] = [start, WINDOW]; count > 0; at += count) {
      same();
      const found = this.#few(rank, at, count);
      count = found.length;
      yield* checkedEach(found, same);
    }
  }

  /** The next batches of a rank: at most so many, and none at the end. */
  #few(rank: number, at: number, count: number): Batch[] {
    try {
      return this.#take(rank, at, count);
    } catch (error) {
      if (!(error instanceof SamedealError)) throw error;
      if (error.kind === 'out-of-range' && error.field === 'count') return this.#take(rank, at, Number(error.most));
      // One by one: so many may be too large together, and those before one that fails are there.
      if (count > 1 && !isWanted(error)) return this.#few(rank, at, 1);
      throw error;
    }
  }

  #take(rank: number, start: number, count: number): Batch[] {
    return batchesOf(this.call(({ plan }) => plan.take(rank, BigInt(start), count)));
  }

  /** Goes on with another plan, after a state if there is one. Nothing after the call may throw: the recipe is what the batcher would be made again by. */
  #move(planned: (plan: RawBatcher) => RawBatcher, state?: string): void {
    const recipe = this.call((raw) => {
      const plan = planned(raw.plan);
      raw.plan = plan;
      return this.#recipe.at(state === undefined ? { epoch: plan.epoch() } : { state });
    });
    this.#recipe = recipe;
    this.follow(recipe);
  }

  /** A check that the place in the epoch is still what it is now. */
  #unmoved(): () => void {
    let before = this.#recipe;
    const [was, epoch] = [this.state(0), this.epoch];
    return () => {
      if (this.#recipe === before) return;
      if (this.epoch !== epoch) fail('out-of-range', 'epoch', this.epoch, `${epoch} until the iteration ends`);
      const now = this.state(0);
      if (now !== was) fail('out-of-range', 'state', now, 'what it was, until the iteration ends');
      before = this.#recipe;
    };
  }

  #whose(rank: Integer): number {
    const number = u32('rank', rank, (other) => this.#take(Number(other), 0, 0));
    if (number !== this.rank) this.#take(number, 0, 0);
    return number;
  }
}

/** One after the other, each after a check. */
function* checkedEach<T>(items: readonly T[], check: () => void): Generator<T, void, undefined> {
  for (const item of items) {
    check();
    yield item;
  }
}

const isSame = (a: BigUint64Array, b: BigUint64Array): boolean =>
  a.length === b.length && a.every((number, i) => number === b[i]);

/** `joinIndices` over an engine. */
export function joinIndicesWith(engine: Engine<ComponentBindings>, parts: readonly (string | Uint8Array)[]): string {
  const texts = Array.from(list('index', parts), indexText);
  const size = texts.reduce((sum, text) => sum + 4 * text.length, 0);
  return engine.once(['index', `${texts.length} parts`], 2 * size, ({ batches }) => batches.joinIndices(texts));
}
