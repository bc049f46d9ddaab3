import type { BatchingBindings, RawBatchStream } from './batch-raw.js';
import { BatchStreamRecipe, configured, optionsJson, optionsOf, STREAM_OPTIONS, sourceOf } from './batch-recipe.js';
import { batchesOf, Metrics } from './batch-run.js';
import type { Batch, BatchStreamConfig, BatchStreamJson, BatchStreamOptions } from './batch-types.js';
import { natural32, options, U32 } from './checks.js';
import { type Engine, Handle, symbolDispose, symbolInspect } from './engine.js';
import type { Failure } from './errors.js';
import { type Integers, words, words32 } from './lists.js';

/** What `BatchStream` is, over any instance of its engine. */
export abstract class BaseBatchStream implements Iterable<Batch> {
  readonly #handle: Handle<BatchingBindings, RawBatchStream>;
  readonly #recipe: BatchStreamRecipe;
  /** What an iteration has taken and not given. */
  #taken: Batch[] = [];

  /** @internal */
  constructor(engine: Engine<BatchingBindings>, given?: BatchStreamOptions) {
    const named = options(given, STREAM_OPTIONS);
    const config = configured(new Uint32Array(0), { ...named, order: 'sequential' });
    const rank = natural32('rank', named.rank === undefined ? 0 : named.rank, [0n, BigInt(config.world) - 1n]);
    this.#recipe = new BatchStreamRecipe(config, rank);
    this.#handle = new Handle(engine, this, 'stream', this.#recipe);
  }

  /** All options, with the defaults of the strategy: `new BatchStream(config)` makes an equal stream. */
  get config(): BatchStreamConfig {
    const { order, history, ...config } = optionsOf(this.#recipe.config, this.#recipe.rank);
    return config;
  }

  /** All options, for `JSON.stringify`; what was pushed is not told. */
  toJSON(): BatchStreamJson {
    return optionsJson(this.config);
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
    this.#call((raw) => {
      // Told before anything crosses: what is in the stream is there once.
      if (numbers.byteLength + tokens.byteLength > raw.room()) throw full(numbers.length);
      raw.push(numbers, tokens);
    });
  }

  /** Ends the stream: what waits becomes batches, as they are taken. */
  flush(): void {
    this.#call((raw) => raw.flush());
  }

  /** The batches of the next window that is ready; none where none is. It plans the window. Errors: memory; nothing is lost. */
  take(): Batch[] {
    if (this.#taken.length > 0) return this.#taken.splice(0);
    // Within the call: batches that do not come out of it are lost, and no call after that goes on without them.
    return this.#call((raw) => {
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
    return new Metrics(
      this.#call((raw) => raw.metrics()),
      this.#recipe.config,
    );
  }

  /** The call that makes an equal stream, with nothing in it; what `console.log` shows. */
  toString(): string {
    return `BatchStream(${sourceOf(this.config)})`;
  }

  /** @internal */
  [symbolInspect](): string {
    return this.toString();
  }

  /** Frees the engine's memory now rather than when the stream is collected; it cannot be used afterwards. */
  dispose(): void {
    this.#handle.dispose();
  }

  /** The same as `dispose()`, for `using`. */
  [symbolDispose](): void {
    this.dispose();
  }

  #call<T>(call: (raw: RawBatchStream) => T): T {
    return this.#handle.call(call);
  }
}

function full(samples: number): Failure {
  return { kind: 'out-of-memory', field: 'samples', value: `${samples} of them`, allowed: 'fewer at a time' };
}

/** What `batchStreamOf` makes. */
export interface BatchStreamClass {
  /**
   * Batches of one rank from samples whose lengths are not known up front: those of a `Batcher` with the order
   * `sequential`. Push what comes, and take the batches that are ready: those of one window at a time, as soon as a sample
   * comes that is not in it. Every rank pushes all samples. What waits is a window (8,192 samples with `pad-to-max`, or
   * where `window` is 0) and what the one before left over. Errors (`SamedealError`): as `Batcher`.
   */
  new (options?: BatchStreamOptions): BaseBatchStream;
}

/** The class of an entry, over the engine that `engine` gives when the first stream is made. */
export function batchStreamOf(engine: () => Engine<BatchingBindings>): BatchStreamClass {
  return class extends BaseBatchStream {
    constructor(options?: BatchStreamOptions) {
      super(engine(), options);
    }
  };
}
