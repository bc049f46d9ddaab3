import { FROM_ONE, integer, natural, natural32, options, S64, string, U32, U64 } from './checks.js';
import { source, tableSize } from './config.js';
import { type Engine, Handle, type Recipe, symbolDispose, symbolInspect } from './engine.js';
import { SamedealError } from './errors.js';
import { WindowIterator } from './iterator.js';
import { numbers } from './lists.js';
import type { PlanningBindings, RawStream, RawStreamConfig } from './plan-raw.js';
import type { ChunkStreamJson, ChunkStreamOptions } from './plan-types.js';
import type { Integer } from './types.js';

/** How many chunks an iteration reads at a time. */
const WINDOW = 1024;

/** What decides a stream. */
export class StreamRecipe implements Recipe<PlanningBindings, RawStream> {
  readonly config: RawStreamConfig;
  readonly size: number;

  constructor(config: RawStreamConfig) {
    this.config = config;
    this.size = 1024 + tableSize(config.order, config.chunks ?? 0n);
  }

  get cause(): readonly [string, unknown] {
    return ['chunks', this.config.chunks];
  }

  make(bindings: PlanningBindings): RawStream {
    return bindings.stream(this.config);
  }
}

/** What `ChunkStream` is, over any instance of its engine. */
export abstract class BaseChunkStream implements Iterable<number> {
  readonly #handle: Handle<PlanningBindings, RawStream>;
  readonly #config: RawStreamConfig;

  /** @internal */
  constructor(engine: Engine<PlanningBindings>, reader: Integer, readers: Integer, given?: ChunkStreamOptions) {
    const { chunks, order = 'sequential', seed = 0, epoch = 0 } = options(given, ['chunks', 'order', 'seed', 'epoch']);
    this.#config = {
      ...(chunks !== undefined && { chunks: natural('chunks', chunks) }),
      reader: natural32('reader', reader, U32),
      readers: natural32('readers', readers, FROM_ONE),
      order: string('order', order),
      seed: integer('seed', seed, S64),
      epoch: integer('epoch', epoch, U64),
    };
    this.#handle = new Handle(engine, this, 'stream', new StreamRecipe(this.#config));
  }

  /**
   * This reader's chunks number `start` to `start` + `count` - 1. Errors: `start`, `count` (above 2^20; or more than 2^24
   * elements in more than two tables, where the order shuffles a table for each cycle), memory.
   */
  chunks(start: Integer, count: Integer): Float64Array<ArrayBuffer> {
    const first = natural('start', start);
    const many = natural32('count', count, U32);
    return numbers(this.#handle.call((raw) => raw.chunks(first, many)));
  }

  /** The chunks one by one, without end. */
  [Symbol.iterator](): IterableIterator<number> {
    const read = (start: number, end: number) => this.chunks(start, end - start);
    return new WindowIterator(() => {}, Number.POSITIVE_INFINITY, this.#window(), read);
  }

  /** How many chunks to ask for at a time: one, where the tables of more would take too long. */
  #window(): number {
    try {
      this.#handle.call((raw) => raw.chunks(0n, WINDOW));
    } catch (error) {
      if (error instanceof SamedealError && error.field === 'count') return 1;
      throw error;
    }
    return WINDOW;
  }

  /** What makes an equal stream, for `JSON.stringify`. */
  toJSON(): ChunkStreamJson {
    const { chunks, seed, epoch, ...others } = this.#config;
    const known = chunks === undefined ? {} : { chunks: String(chunks) };
    return { ...others, ...known, seed: String(seed), epoch: String(epoch) };
  }

  /** The call that makes an equal stream; what `console.log` shows. */
  toString(): string {
    const { reader, readers, chunks, order, seed, epoch } = this.#config;
    const cycle = chunks === undefined ? '' : `chunks: ${source(chunks)}, `;
    const settings = `${cycle}order: '${order}', seed: ${source(seed)}, epoch: ${source(epoch)}`;
    return `ChunkStream(${reader}, ${readers}, { ${settings} })`;
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
}

/** What `chunkStreamOf` makes. */
export interface ChunkStreamClass {
  /**
   * The chunks of reader number `reader` of `readers`: those at places `reader`, `reader` + `readers`, ... of an endless
   * row, of all chunks there will ever be, or of one cycle through the known ones after the other. Errors
   * (`SamedealError`): a value out of its range or of the wrong type, an unknown order, an order of an unknown number of
   * chunks.
   */
  new (reader: Integer, readers: Integer, options?: ChunkStreamOptions): BaseChunkStream;
}

/** The class of an entry, over the engine that `engine` gives when the first stream is made. */
export function chunkStreamOf(engine: () => Engine<PlanningBindings>): ChunkStreamClass {
  return class extends BaseChunkStream {
    constructor(reader: Integer, readers: Integer, options?: ChunkStreamOptions) {
      super(engine(), reader, readers, options);
    }
  };
}
