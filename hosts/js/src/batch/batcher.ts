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

/** Whether an error says that a call needs lengths which were not supplied yet. */
const isWanted = (error: unknown): boolean => error instanceof SamedealError && error.kind === 'wanted';

/** The members of `Batcher`. An entry point such as index.ts adds the engine. */
export abstract class BaseBatcher extends BatcherMembers<Planned> implements Iterable<Batch>, AsyncIterable<Batch> {
  #recipe: BatcherRecipe;
  #text?: string;
  #worldSize?: number;
  /**
   * The outcomes of the calls that the current question of `withLengths` has made, and the index of the next outcome. A
   * repeated question gets these outcomes again. Undefined outside of a question.
   */
  #answers: { given: (() => unknown)[]; next: number } | undefined;
  /** The last question of `withLengths`; the next question waits for it. */
  #last: Promise<unknown> = Promise.resolve();

  /** @internal */
  constructor(engine: Engine<ComponentBindings>, lengths: Lengths, options?: BatcherOptions) {
    const recipe = options instanceof BatcherRecipe ? options : BatcherRecipe.of(lengths, options);
    super(engine, 'batcher', recipe);
    this.#recipe = recipe;
    // A reader or a function is asked for lengths only when a call needs them, since the answer may take time.
    if (recipe.document.lengths?.isList === false) return;
    try {
      this.call((raw) => raw.plan);
    } catch (error) {
      this.dispose();
      throw error;
    }
  }

  /**
   * Makes a call of the engine, and supplies the lengths that it lacks, again and again until it has all of them.
   * @internal
   */
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
        // Nobody awaits this promise, so its rejection has to be caught here.
        lengths.catch(() => {});
        const advice =
          'lengths at once; for a promise of them, `await batcher.withLengths((own) => own.batch(0))` and its like';
        throw new SamedealError({ kind: 'wrong-type', field: 'lengths', value: 'a Promise', allowed: advice });
      }
      super.call((raw) => raw.supply(lengths));
    }
  }

  /**
   * Calls `question` with this batcher, and awaits the lengths that its calls need. Use it for lengths that come as
   * promises, such as those of a file in a page. `question` is called again whenever lengths came, so it should do
   * nothing but call this batcher. Questions are answered one after the other. Errors: those of `question`, and of the
   * source of the lengths.
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
        // While the lengths are awaited, another call may supply them. So the question is asked again, and the lengths
        // are supplied only if the lengths of these samples are still wanted.
        had = { samples, lengths: await this.#lengthsOf(samples.slice()) };
      }
    }
  }

  /**
   * Makes a call, and returns its outcome as a function, which returns the value or throws the error whenever the
   * question is repeated. If the call lacks lengths, `#outcome` itself throws.
   */
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

  /**
   * The batcher that `toJSON` wrote. Give `lengths` if the lengths of that batcher were no lists: the JSON has only
   * lists. Errors: as `fromRecipe`.
   */
  static fromJSON<T>(this: Class<T>, json: BatcherJson | string, lengths?: Lengths): T {
    return new this([], BatcherRecipe.ofJson(json, lengths) as unknown as BatcherOptions);
  }

  /**
   * The batcher of a recipe: an object, or a text of JSON. `order` is as in the recipe of a sampler; `deal` has
   * `world_size`; `batch` has the other options of the constructor, by the names that all languages share, such as
   * `max_tokens`. A member that is not there has its default. Give `lengths`, `boundaries`, `sizes` or `lists` if the
   * recipe has only their hash, or leaves them out. Errors: as the constructor, `recipe` (it is no JSON object),
   * `recipe`, `order`, `deal` or `batch` (this object has an unknown member).
   */
  static fromRecipe<T>(this: Class<T>, recipe: string | object, lengths?: Lengths, options?: BatcherRecipeOptions): T {
    return new this([], BatcherRecipe.read(recipe, lengths, options) as unknown as BatcherOptions);
  }

  /**
   * A batcher that continues after a state. The state has the recipe and the epoch; `worldSize` (default 1) is the
   * number of ranks that continue. Give `lengths`, `boundaries`, `sizes` or `lists` if the state has only their hash.
   * Errors: as `fromRecipe` and `resume`.
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
   * The recipe, which `fromRecipe` takes, in its canonical form (SPEC.md, section 14). It is the same on all ranks and
   * in all epochs, and the same text in every language. Instead of more than 256 boundaries, it has their hash; instead
   * of more than 256 lengths, the hash of the lengths of up to 2^14 samples.
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

  /** The rank whose batches an iteration returns. */
  get rank(): number {
    return this.#recipe.rank;
  }

  /** How many ranks there are. */
  get worldSize(): number {
    this.#worldSize ??= JSON.parse(this.recipe).deal.world_size as number;
    return this.#worldSize;
  }

  /**
   * Moves to the beginning of another epoch. With the number of the current epoch, nothing changes, even if a part of
   * the epoch was taken. Errors: `epoch`, memory.
   */
  setEpoch(epoch: Integer): void {
    const number = integer('epoch', epoch, U64);
    if (number !== this.call(({ plan }) => plan.epoch())) this.#move((plan) => plan.atEpoch(number));
  }

  /**
   * Continues where a state was taken: moves to the epoch of the state, and counts steps from 0 again. With as many
   * ranks as the state has, the batches are the rest of its plan. With another number of ranks, the rest of the open
   * window is planned again, and so are the windows after it. With `replan`, the options of batches may differ from
   * those of the state, such as `maxTokens` after a device ran out of memory. A composed order may have been extended
   * since the state was taken, if the extension begins with a later epoch, or no step of the state's epoch was taken.
   * The state need not be trusted. Errors: `state` (no state of batches; more than 2^24 bytes), the first member of the
   * recipe that is not as in the state, `consumed`, `worldSize`, `history`, `window`, `checksum` (the state contradicts
   * itself), memory; then the batcher is unchanged.
   */
  resume(state: string | Uint8Array | SavedState, options?: { replan?: boolean }): void {
    const text = stateText(state);
    const replan = flag('replan', 'replan', options);
    this.#move((plan) => (replan ? plan.replan(text) : plan.resume(text)), text);
  }

  /**
   * The metrics of the batches of all ranks. The first call plans all windows, unless there is an index (`useIndex`).
   * Errors: those of `numSteps`.
   */
  metrics(): Metrics {
    return this.call(({ plan }) => new Metrics(plan));
  }

  /**
   * The batch of a rank, by default this one, at a step. Windows before this step are planned if their number of steps
   * is not known yet. Errors: `step`, `rank`, and those of `numSteps`.
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
   * One pass over the batches of a rank, by default this one, from step `start` on. It plans a window at a time, and
   * counts its batches: its `state()` is the state after the batches that it returned. If `setEpoch` or `resume` moved
   * the batcher to another place, the pass fails, since its batches would not be one pass over one epoch. Errors:
   * `start`, `rank`, `epoch`, `state` (the batcher was moved), and those of `numSteps`.
   */
  batches(start: Integer = 0, rank: Integer = this.rank): Counted<Batch> {
    const whose = this.#whose(rank);
    const first = Number(u53('start', start, (other) => this.batches(other, rank)));
    // A call that takes no batch, so that the component checks `start`.
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

  /** The next batches of a rank: at most `count`, and an empty array at the end of the epoch. */
  #few(rank: number, at: number, count: number): Batch[] {
    try {
      return this.#take(rank, at, count);
    } catch (error) {
      if (!(error instanceof SamedealError)) throw error;
      if (error.kind === 'out-of-range' && error.field === 'count') return this.#take(rank, at, Number(error.max));
      // One batch at a time: `count` batches may be too large together, and the batches before one that fails have to
      // be returned.
      if (count > 1 && !isWanted(error)) return this.#few(rank, at, 1);
      throw error;
    }
  }

  #take(rank: number, start: number, count: number): Batch[] {
    return batchesOf(this.call(({ plan }) => plan.take(rank, BigInt(start), count)));
  }

  /**
   * Replaces the plan by the plan that `planned` makes of it. `state`, if given, is the state after which the new plan
   * continues. Nothing may throw between the replacement and the new `#recipe`: a lost batcher is made again by
   * `#recipe`, which has to belong to the new plan.
   */
  #move(planned: (plan: RawBatcher) => RawBatcher, state?: string): void {
    const recipe = this.call((raw) => {
      const plan = planned(raw.plan);
      raw.plan = plan;
      return this.#recipe.at(state === undefined ? { epoch: plan.epoch() } : { state });
    });
    this.#recipe = recipe;
    this.follow(recipe);
  }

  /** A function that fails if the batcher has since been moved to another place in the epoch. */
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

/** The items one by one. `check` is called before each item, and may throw. */
function* checkedEach<T>(items: readonly T[], check: () => void): Generator<T, void, undefined> {
  for (const item of items) {
    check();
    yield item;
  }
}

const isSame = (a: BigUint64Array, b: BigUint64Array): boolean =>
  a.length === b.length && a.every((number, i) => number === b[i]);

/** `joinIndices` with the engine as a parameter. */
export function joinIndicesWith(engine: Engine<ComponentBindings>, parts: readonly (string | Uint8Array)[]): string {
  if (!Array.isArray(parts)) fail('wrong-type', 'index', parts, 'an array of parts of an index');
  const texts = Array.from(list('index', parts), indexText);
  const size = texts.reduce((sum, text) => sum + 4 * text.length, 0);
  return engine.once(['index', `${texts.length} parts`], 2 * size, ({ batches }) => batches.joinIndices(texts));
}
