import { U32 } from '../checks.js';
import type { ComponentBindings } from '../engine/types.js';
import type { Engine } from '../engine.js';
import type { Raw } from '../errors.js';
import { BatchStreamMembers } from '../generated/batches.js';
import { words, words32 } from '../lists.js';
import { plain } from '../options.js';
import type { Integer, Integers } from '../types.js';
import { BatchStreamRecipe } from './recipe.js';
import { batchesOf, Metrics } from './run.js';
import type {
  Batch,
  BatchStreamConfig,
  BatchStreamJson,
  BatchStreamOptions,
  BatchStreamRecipeOptions,
} from './types.js';

type Class<T> = new (options?: BatchStreamOptions) => T;

/** The members of `BatchStream`. An entry point such as index.ts adds the engine. */
export abstract class BaseBatchStream extends BatchStreamMembers implements Iterable<Batch> {
  readonly #recipe: BatchStreamRecipe;
  /** Batches that an iteration took from the engine, and has not returned yet. */
  #taken: Batch[] = [];

  /** @internal */
  constructor(engine: Engine<ComponentBindings>, options?: BatchStreamOptions) {
    const recipe = options instanceof BatchStreamRecipe ? options : BatchStreamRecipe.of(options);
    super(engine, 'stream', recipe);
    this.#recipe = recipe;
  }

  /**
   * The stream of a recipe, as `Batcher.fromRecipe` takes it, without lengths. Only the seed in its section `order` is
   * used. Errors: as the constructor, and those of a recipe.
   */
  static fromRecipe<T>(this: Class<T>, recipe: string | object, options?: BatchStreamRecipeOptions): T {
    return new this(BatchStreamRecipe.read(recipe, options) as unknown as BatchStreamOptions);
  }

  /** A stream with the recipe, the rank and the epoch that `toJSON` wrote, to which nothing was pushed. Errors: as `fromRecipe`. */
  static fromJSON<T>(this: Class<T>, json: BatchStreamJson | string): T {
    return new this(BatchStreamRecipe.ofJson(json) as unknown as BatchStreamOptions);
  }

  /** The recipe, which `fromRecipe` takes, in its canonical form (SPEC.md, section 14). */
  get recipe(): string {
    return this.call(({ told }) => told.text);
  }

  /** SHA-256 over the recipe, in hexadecimal: it names the training run. */
  recipeFingerprint(): string {
    return this.call(({ told }) => told.fingerprint);
  }

  /** All options that the strategy uses, with the defaults: `new BatchStream(config)` makes an equal stream. */
  get config(): BatchStreamConfig {
    const { order, ...options } = this.#recipe.document.options(this.recipe);
    return { ...options, rank: this.rank, epoch: this.epoch } as BatchStreamConfig;
  }

  /**
   * The recipe as it was given, the rank and the epoch, for `JSON.stringify` and `fromJSON`; without the pushed
   * samples.
   */
  toJSON(): BatchStreamJson {
    const { document, rank, epoch } = this.#recipe;
    return document.toJson({ epoch: String(epoch), rank });
  }

  /** The rank whose batches the stream returns. */
  get rank(): number {
    return this.#recipe.rank;
  }

  /** Number of the epoch; a `bigint` where it is beyond 2^53 - 1. */
  get epoch(): Integer {
    return plain(this.#recipe.epoch);
  }

  /** How many ranks there are. */
  get worldSize(): number {
    return JSON.parse(this.recipe).deal.world_size;
  }

  /**
   * Adds samples: their indices (0 to 2^53 - 1), and the length of each of them in tokens. If it fails, none are added.
   * Errors: `lengths` (another number of them; too long), `samples` (out of range; after `flush`), `maxLength`,
   * `maxTokens`, `maxCost` (too low for a single token of a sample that is too long), memory.
   */
  push(samples: Integers, lengths: Integers): void {
    const numbers = words('samples', samples);
    const tokens = words32('lengths', lengths, U32);
    this.call((raw) => {
      // Lists that are too long are refused here: if the engine ran out of memory, the samples in the stream would be
      // lost.
      if (numbers.byteLength + tokens.byteLength > raw.room()) throw full(numbers.length);
      raw.push(numbers, tokens);
    });
  }

  /**
   * Plans the next window that is ready, and returns its batches; an empty array if no window is ready. Errors:
   * `maxLength` (samples are split into too many parts), memory; then the samples of the window still wait.
   */
  take(): Batch[] {
    if (this.#taken.length > 0) return this.#taken.splice(0);
    // The batches are copied within the call. If the copy fails, the batches are lost, and every later call has to fail
    // rather than continue without them.
    return this.call((raw) => {
      const run = raw.take();
      return run ? batchesOf(run) : [];
    });
  }

  /**
   * The batches of all windows that are ready. Iterate again after each `push`. If an iteration ends early, the rest of
   * its window comes first in the next iteration or `take`.
   */
  *[Symbol.iterator](): Generator<Batch, void, undefined> {
    for (;;) {
      if (this.#taken.length === 0) this.#taken = this.take();
      const next = this.#taken.shift();
      if (!next) return;
      yield next;
    }
  }

  /**
   * The metrics of the batches of all ranks, in the windows that were taken. Samples that were pushed and still wait are
   * in none of the numbers.
   */
  metrics(): Metrics {
    return this.call((raw) => new Metrics(raw));
  }
}

function full(samples: number): Raw {
  return { kind: 'out-of-memory', field: 'samples', value: `${samples} of them`, allowed: 'fewer at a time' };
}
