import type { BatchingBindings, RawBatcher } from '../bindings/types.js';
import { fail, integer, natural, natural32, options, stateText, U32, U64 } from '../checks.js';
import { type Engine, Facade } from '../engine.js';
import { SamedealError } from '../errors.js';
import { type Integers, shown, words32 } from '../lists.js';
import { plain, toJson } from '../options.js';
import type { Integer } from '../types.js';
import {
  BATCHER_OPTIONS,
  BatcherRecipe,
  configured,
  historySource,
  ofJson,
  optionsOf,
  rankBelow,
  sourceOf,
  stretches,
} from './recipe.js';
import { batchesOf, Metrics } from './run.js';
import type { Batch, BatcherConfig, BatcherJson, BatcherOptions, BatchPlace, Stretch } from './types.js';

/** How many steps an iteration reads at a time. */
const WINDOW = 64;

/** What `Batcher` is, over any instance of its engine. */
export abstract class BaseBatcher extends Facade<BatchingBindings, RawBatcher> implements Iterable<Batch> {
  readonly #rank: number;
  #recipe: BatcherRecipe;
  #metrics: Metrics;

  /** @internal */
  constructor(engine: Engine<BatchingBindings>, lengths: Integers, given?: BatcherOptions) {
    const named = options(given, BATCHER_OPTIONS);
    const recipe = new BatcherRecipe(configured(words32('lengths', lengths, U32), named));
    const rank = rankBelow(named.rank === undefined ? 0 : named.rank, recipe.config.world);
    super(engine, 'batcher', recipe);
    this.#recipe = recipe;
    this.#rank = rank;
    this.#metrics = this.call((raw) => new Metrics(raw));
  }

  /** The batcher of what `toJSON` gave. Errors: as the constructor. */
  static fromJSON<T>(this: new (lengths: Integers, options?: BatcherOptions) => T, json: BatcherJson): T {
    return new this(...ofJson(json));
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

  /** What was taken of the epoch before (`resume`): a new copy. */
  get history(): Stretch[] {
    return stretches(this.#recipe.config.history);
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

  /**
   * Plans another epoch, of which nothing was taken; as costly as the constructor. The epoch that it is at stays as it
   * is, also where a part of it was taken. Errors: `epoch`, memory; the old epoch stands then.
   */
  setEpoch(epoch: Integer): void {
    const moved = this.#recipe.inEpoch(integer('epoch', epoch, U64));
    const metrics = this.call((raw) => {
      raw.setEpoch(moved.config.epoch);
      return new Metrics(raw);
    });
    this.#move(moved, metrics);
  }

  /**
   * The state once every rank has taken `taken` steps: a text for a checkpoint, the same on all ranks, of JSON in one
   * line. `resume` of any batcher of the same batches goes on there, in any language and on any world. Errors: `taken`
   * (more than there are), `history` (more than 64 worlds took a part of this epoch).
   */
  state(taken: Integer): string {
    const number = natural('taken', taken, () => this.numSteps + 1);
    return this.call((raw) => raw.state(number));
  }

  /**
   * Goes on where a state was taken: moves to its epoch, and plans what was not taken; steps are counted from 0 again.
   * On the world of the state, what is left is what that plan has left, batch for batch; on another one, it is planned
   * anew. As costly as the constructor, for each world that took a part. The state need not be trusted. Errors: `state`
   * (no state of a batcher; more than 2^14 bytes), `order`, `samples`, `seed`, `strategy`, `config` (not those of the
   * state), `history` (more taken than there was), memory; the batcher is where it was then.
   */
  resume(state: string): void {
    const text = stateText(state);
    const { recipe, metrics } = this.call((raw) => {
      raw.resume(text);
      const recipe = this.#recipe.with({ epoch: raw.epoch(), history: raw.history() });
      return { recipe, metrics: new Metrics(raw) };
    });
    this.#move(recipe, metrics);
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
   * `setEpoch` or `resume` fails, since what it would go on with is no epoch. Errors: `start`, `rank`, `epoch`,
   * `history`, memory.
   */
  batches(start: Integer = 0, rank: Integer = this.#rank): Generator<Batch, void, undefined> {
    const whose = this.#whose(rank);
    const first = Number(integer('start', start, [0n, BigInt(this.numSteps)]));
    // The engine says what is wrong with the rank.
    this.#take(whose, first, 0);
    return this.#pass(whose, first, this.numSteps, this.#unmoved());
  }

  /** One pass over this rank's batches; see `batches`. */
  [Symbol.iterator](): Generator<Batch, void, undefined> {
    return this.batches();
  }

  /**
   * Where a sample is, in the order of steps: once, or as often as it has parts or is repeated; never where it is left
   * out, or was taken before. Costs planning its windows. Errors: `sample`, memory.
   */
  locate(sample: Integer): BatchPlace[] {
    const number = natural('sample', sample, () => this.#recipe.config.lengths.length);
    const found = this.call((raw) => raw.locate(number));
    return found.map(({ step, rank, row, slot, start }) => ({ step: Number(step), rank, row, slot, start }));
  }

  /** SHA-256 over all batches of all ranks, in hexadecimal: equal on all ranks that plan alike. Errors: memory. */
  fingerprint(): string {
    return this.call((raw) => raw.fingerprint());
  }

  /** The lengths and all options as they stand, for `JSON.stringify` and `fromJSON`. */
  toJSON(): BatcherJson {
    return toJson({ lengths: this.#recipe.config.lengths, ...this.config }) as unknown as BatcherJson;
  }

  /** The call that makes an equal batcher, with the first ones of long lists; what `console.log` shows. */
  toString(): string {
    return `Batcher(${shown(this.#recipe.config.lengths, 16)}, ${sourceOf(this.config)})`;
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
    return batchesOf(this.call((raw) => raw.take(rank, BigInt(start), count)));
  }

  /** Nothing here may throw: the recipe is what the batcher would be made again by. */
  #move(recipe: BatcherRecipe, metrics: Metrics): void {
    this.#recipe = recipe;
    this.follow(recipe);
    this.#metrics = metrics;
  }

  /** A check that the place in the epoch is still what it is now. */
  #unmoved(): () => void {
    const before = this.#recipe.config;
    return () => {
      const now = this.#recipe.config;
      if (now === before) return;
      if (now.epoch !== before.epoch) {
        fail('out-of-range', 'epoch', now.epoch, `${before.epoch} until the iteration ends`);
      }
      const [is, was] = [now.history, before.history].map(historySource);
      if (is !== was) fail('out-of-range', 'history', is, 'what it was, until the iteration ends');
    };
  }

  #whose(rank: Integer): number {
    return natural32('rank', rank, [0n, BigInt(this.world) - 1n]);
  }
}
