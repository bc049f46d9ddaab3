import type { PlanningBindings, RawChunkStream } from '../bindings/types.js';
import { FROM_ONE, integer, natural, natural32, options, S64, string, U32, U64 } from '../checks.js';
import { WindowIterator } from '../deal/iterator.js';
import { tableSize } from '../deal/recipe.js';
import { type Engine, Facade, type Recipe } from '../engine.js';
import { SamedealError } from '../errors.js';
import type { StreamConfig } from '../jco/interfaces/samedeal-deal-shards.js';
import { numbers } from '../lists.js';
import { type Checks, checked, settings, toJson } from '../options.js';
import type { Integer } from '../types.js';
import type { ChunkStreamJson, ChunkStreamOptions } from './types.js';

/** How many chunks an iteration reads at a time. */
const WINDOW = 1024;

const CHECKS: Checks<Required<Omit<StreamConfig, 'reader' | 'readers'>>> = {
  chunks: (value) => natural('chunks', value),
  order: (value) => string('order', value),
  seed: (value) => integer('seed', value, S64),
  epoch: (value) => integer('epoch', value, U64),
};

/** What decides a stream. */
export class StreamRecipe implements Recipe<PlanningBindings, RawChunkStream> {
  readonly config: StreamConfig;
  readonly size: number;

  constructor(config: StreamConfig) {
    this.config = config;
    this.size = 1024 + tableSize(config.order, config.chunks ?? 0n);
  }

  get cause(): readonly [string, unknown] {
    return ['chunks', this.config.chunks];
  }

  make({ shards }: PlanningBindings): RawChunkStream {
    return new shards.ChunkStream(this.config);
  }
}

/** What `ChunkStream` is, over any instance of its engine. */
export abstract class BaseChunkStream extends Facade<PlanningBindings, RawChunkStream> implements Iterable<number> {
  readonly #config: StreamConfig;

  /** @internal */
  constructor(engine: Engine<PlanningBindings>, reader: Integer, readers: Integer, given?: ChunkStreamOptions) {
    const named = options(given, ['chunks', 'order', 'seed', 'epoch']);
    const { chunks, ...others } = checked(CHECKS, named, { order: 'sequential', seed: 0, epoch: 0 });
    const config = {
      ...(chunks !== undefined && { chunks }),
      reader: natural32('reader', reader, U32),
      readers: natural32('readers', readers, FROM_ONE),
      ...others,
    };
    super(engine, 'stream', new StreamRecipe(config));
    this.#config = config;
  }

  /**
   * This reader's chunks number `start` to `start` + `count` - 1. Errors: `start`, `count` (above 2^20; or more than 2^24
   * elements in more than two tables, where the order shuffles a table for each cycle), memory.
   */
  chunks(start: Integer, count: Integer): Float64Array<ArrayBuffer> {
    const first = natural('start', start);
    const many = natural32('count', count, U32);
    return numbers(this.call((raw) => raw.chunks(first, many)));
  }

  /** The chunks one by one, without end. */
  [Symbol.iterator](): IterableIterator<number> {
    const read = (start: number, end: number) => this.chunks(start, end - start);
    return new WindowIterator(() => {}, Number.POSITIVE_INFINITY, this.#window(), read);
  }

  /** How many chunks to ask for at a time: one, where the tables of more would take too long. */
  #window(): number {
    try {
      this.call((raw) => raw.chunks(0n, WINDOW));
    } catch (error) {
      if (error instanceof SamedealError && error.field === 'count') return 1;
      throw error;
    }
    return WINDOW;
  }

  /** What makes an equal stream, for `JSON.stringify`. */
  toJSON(): ChunkStreamJson {
    return toJson(this.#config) as unknown as ChunkStreamJson;
  }

  /** The call that makes an equal stream; what `console.log` shows. */
  toString(): string {
    const { reader, readers, ...others } = this.#config;
    return `ChunkStream(${reader}, ${readers}, { ${settings(others).join(', ')} })`;
  }
}
