import type { BatchingBindings, RawBatchStream } from '../bindings/types.js';
import { natural32, options, U32 } from '../checks.js';
import { type Engine, Facade } from '../engine.js';
import type { Failure } from '../errors.js';
import { type Integers, words, words32 } from '../lists.js';
import { toJson } from '../options.js';
import { BatchStreamRecipe, configured, optionsOf, STREAM_OPTIONS, sourceOf } from './recipe.js';
import { batchesOf, Metrics } from './run.js';
import type { Batch, BatchStreamConfig, BatchStreamJson, BatchStreamOptions } from './types.js';

/** What `BatchStream` is, over any instance of its engine. */
export abstract class BaseBatchStream extends Facade<BatchingBindings, RawBatchStream> implements Iterable<Batch> {
  readonly #recipe: BatchStreamRecipe;
  /** What an iteration has taken and not given. */
  #taken: Batch[] = [];

  /** @internal */
  constructor(engine: Engine<BatchingBindings>, given?: BatchStreamOptions) {
    const named = options(given, STREAM_OPTIONS);
    const config = configured(new Uint32Array(0), { ...named, order: 'sequential' });
    const rank = natural32('rank', named.rank === undefined ? 0 : named.rank, [0n, BigInt(config.world) - 1n]);
    const recipe = new BatchStreamRecipe(config, rank);
    super(engine, 'stream', recipe);
    this.#recipe = recipe;
  }

  /** All options, with the defaults of the strategy: `new BatchStream(config)` makes an equal stream. */
  get config(): BatchStreamConfig {
    const { order, history, ...config } = optionsOf(this.#recipe.config, this.#recipe.rank);
    return config;
  }

  /** All options, for `JSON.stringify`; what was pushed is not told. */
  toJSON(): BatchStreamJson {
    return toJson(this.config) as unknown as BatchStreamJson;
  }

  /** Whose batches they are. */
  get rank(): number {
    return this.#recipe.rank;
  }

  /** How many ranks there are. */
  get world(): number {
    return this.#recipe.config.world;
  }

  /**
   * Adds samples, by their numbers (0 to 2^53 - 1), and as many lengths, in tokens; all of them or, after a failure, none.
   * Errors: `lengths` (another number of them; too long), `samples` (out of range; after `flush`), memory.
   */
  push(samples: Integers, lengths: Integers): void {
    const numbers = words('samples', samples);
    const tokens = words32('lengths', lengths, U32);
    this.call((raw) => {
      // Told before anything crosses: what is in the stream is there once.
      if (numbers.byteLength + tokens.byteLength > raw.room()) throw full(numbers.length);
      raw.push(numbers, tokens);
    });
  }

  /** Ends the stream: what waits becomes batches, as they are taken. */
  flush(): void {
    this.call((raw) => raw.flush());
  }

  /** The batches of the next window that is ready; none where none is. It plans the window. Errors: memory; nothing is lost. */
  take(): Batch[] {
    if (this.#taken.length > 0) return this.#taken.splice(0);
    // Within the call: batches that do not come out of it are lost, and no call after that goes on without them.
    return this.call((raw) => {
      const run = raw.take();
      return run ? batchesOf(run) : [];
    });
  }

  /**
   * Takes the batches that are ready, window by window, until no more are: as often as samples were pushed. What an
   * iteration that ends early leaves of a window comes first in the next one, or with `take`.
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
   * What the batches of all windows that were taken amount to, those of the other ranks too. What happened to samples that
   * are too long is told of all that were pushed.
   */
  metrics(): Metrics {
    return this.call((raw) => new Metrics(raw));
  }

  /** The call that makes an equal stream, with nothing in it; what `console.log` shows. */
  toString(): string {
    return `BatchStream(${sourceOf(this.config)})`;
  }
}

function full(samples: number): Failure {
  return { kind: 'out-of-memory', field: 'samples', value: `${samples} of them`, allowed: 'fewer at a time' };
}
