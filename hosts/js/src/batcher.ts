import type { BatchingBindings, RawBatcher } from './batch-raw.js';
import { BATCHER_OPTIONS, BatcherRecipe, configured, optionsOf, rankBelow, sourceOf } from './batch-recipe.js';
import { batchesOf, Metrics } from './batch-run.js';
import type { Batch, BatcherConfig, BatcherOptions } from './batch-types.js';
import { fail, integer, natural32, options, U32, U64 } from './checks.js';
import { plain } from './config.js';
import { type Engine, Handle, symbolDispose, symbolInspect } from './engine.js';
import { SamedealError } from './errors.js';
import { type Integers, shown, words32 } from './lists.js';
import type { Integer } from './types.js';

/** How many steps an iteration reads at a time. */
const WINDOW = 64;

/** What `Batcher` is, over any instance of its engine. */
export abstract class BaseBatcher implements Iterable<Batch> {
  readonly #handle: Handle<BatchingBindings, RawBatcher>;
  readonly #rank: number;
  #recipe: BatcherRecipe;
  #metrics: Metrics;

  /** @internal */
  constructor(engine: Engine<BatchingBindings>, lengths: Integers, given?: BatcherOptions) {
    const named = options(given, BATCHER_OPTIONS);
    this.#recipe = new BatcherRecipe(configured(words32('lengths', lengths, U32), named));
    this.#rank = rankBelow(named.rank === undefined ? 0 : named.rank, this.#recipe.config.world);
    this.#handle = new Handle(engine, this, 'batcher', this.#recipe);
    this.#metrics = new Metrics(
      this.#call((raw) => raw.metrics()),
      this.#recipe.config,
    );
  }

  /** All options, with the defaults of the strategy: `new Batcher(lengths, config)` makes an equal batcher. */
  get config(): BatcherConfig {
    return optionsOf(this.#recipe.config, this.#rank);
  }

  /** The length of every sample: a new copy. */
  get lengths(): Uint32Array<ArrayBuffer> {
    return this.#recipe.config.lengths.slice();
  }

  /** Number of the epoch; a `bigint` where it is beyond 2^53 - 1. `setEpoch` plans another. */
  get epoch(): Integer {
    return plain(this.#recipe.config.epoch);
  }

  /** Which rank iteration answers for. */
  get rank(): number {
    return this.#rank;
  }

  /** How many ranks there are. */
  get world(): number {
    return this.#recipe.config.world;
  }

  /** How many batches every rank has. */
  get length(): number {
    return this.numSteps;
  }

  /** How many batches every rank has: `length`. */
  get numSteps(): number {
    return this.#metrics.steps;
  }

  /** Plans another epoch; as costly as the constructor. Errors: `epoch`, memory; the old epoch stands then. */
  setEpoch(epoch: Integer): void {
    const moved = this.#recipe.with(integer('epoch', epoch, U64));
    const metrics = this.#call((raw) => {
      raw.setEpoch(moved.config.epoch);
      return new Metrics(raw.metrics(), moved.config);
    });
    // Nothing here may throw: the recipe is what the batcher would be made again by.
    this.#recipe = moved;
    this.#handle.recipe = moved;
    this.#metrics = metrics;
  }

  /** What the batches of all ranks amount to. */
  metrics(): Metrics {
    return this.#metrics;
  }

  /**
   * The batch of a rank, by default this one, at a step: any at once, at the price of planning a window.
   * Errors: `step`, `rank`, memory.
   */
  batch(step: Integer, rank: Integer = this.#rank): Batch {
    const whose = this.#whose(rank);
    const number = Number(integer('step', step, [0n, BigInt(this.numSteps) - 1n]));
    return this.#take(whose, number, 1)[0] as Batch;
  }

  /**
   * One pass over the batches of a rank, by default this one, from step number `start` on. A pass that goes on after
   * `setEpoch` fails, since what it would go on with is no epoch. Errors: `start`, `rank`, `epoch`, memory.
   */
  batches(start: Integer = 0, rank: Integer = this.#rank): Generator<Batch, void, undefined> {
    const whose = this.#whose(rank);
    const first = Number(integer('start', start, [0n, BigInt(this.numSteps)]));
    // The engine says what is wrong with the rank.
    this.#take(whose, first, 0);
    return this.#pass(whose, first, this.numSteps, this.#recipe.config.epoch);
  }

  /** One pass over this rank's batches; see `batches`. */
  [Symbol.iterator](): Generator<Batch, void, undefined> {
    return this.batches();
  }

  /** SHA-256 over all batches of all ranks, in hexadecimal: equal on all ranks that plan alike. Errors: memory. */
  fingerprint(): string {
    return this.#call((raw) => raw.fingerprint());
  }

  /** The call that makes an equal batcher, with the first ones of long lists; what `console.log` shows. */
  toString(): string {
    return `Batcher(${shown(this.#recipe.config.lengths, 16)}, ${sourceOf(this.config)})`;
  }

  /** @internal */
  [symbolInspect](): string {
    return this.toString();
  }

  /** Frees the engine's memory now rather than when the batcher is collected; it cannot be used afterwards. */
  dispose(): void {
    this.#handle.dispose();
  }

  /** The same as `dispose()`, for `using`. */
  [symbolDispose](): void {
    this.dispose();
  }

  *#pass(rank: number, start: number, end: number, epoch: bigint): Generator<Batch, void, undefined> {
    let count = WINDOW;
    for (let at = start; at < end; ) {
      this.#same(epoch);
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
        this.#same(epoch);
        yield batch;
      }
    }
  }

  #take(rank: number, start: number, count: number): Batch[] {
    return batchesOf(this.#call((raw) => raw.take(rank, BigInt(start), count)));
  }

  #same(epoch: bigint): void {
    const { epoch: now } = this.#recipe.config;
    if (now !== epoch) fail('out-of-range', 'epoch', now, `${epoch} until the iteration ends`);
  }

  #whose(rank: Integer): number {
    return natural32('rank', rank, [0n, BigInt(this.world) - 1n]);
  }

  #call<T>(call: (raw: RawBatcher) => T): T {
    return this.#handle.call(call);
  }
}

/** What `batcherOf` makes. */
export interface BatcherClass {
  /**
   * Plans the batches of an epoch of samples of these lengths, in tokens. Errors (`SamedealError`): a value out of its
   * range or of the wrong type, a sample that is too long, an unknown name, what the strategy needs and is not given,
   * buckets that do not ascend or are given in more than one way, memory.
   */
  new (lengths: Integers, options?: BatcherOptions): BaseBatcher;
}

/** The class of an entry, over the engine that `engine` gives when the first batcher is made. */
export function batcherOf(engine: () => Engine<BatchingBindings>): BatcherClass {
  return class extends BaseBatcher {
    constructor(lengths: Integers, options?: BatcherOptions) {
      super(engine(), lengths, options);
    }
  };
}
