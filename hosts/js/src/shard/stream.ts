import type { ComponentBindings, RawChunkStream } from '../bindings/types.js';
import { integer, natural, natural32, options, U32, U64 } from '../checks.js';
import { WindowIterator } from '../deal/iterator.js';
import { tableSize } from '../deal/recipe.js';
import { Document, fromJson, section } from '../document.js';
import { type Engine, Facade, type Recipe } from '../engine.js';
import { SamedealError } from '../errors.js';
import { numbers } from '../lists.js';
import type { Integer } from '../types.js';
import type { ChunkStreamJson, ChunkStreamOptions, ChunkStreamRecipeOptions } from './types.js';

/** How many chunks an iteration reads at a time. */
const WINDOW = 1024;

const RECIPE_OPTIONS = ['reader', 'epoch'] as const;

/** What decides a stream: a recipe, the reader, and the epoch of the first cycle. */
export class StreamRecipe implements Recipe<ComponentBindings, RawChunkStream> {
  readonly document: Document;
  readonly reader: number;
  readonly epoch: bigint;
  readonly size: number;

  constructor(document: Document, { reader = 0, epoch = 0 }: ChunkStreamRecipeOptions) {
    this.document = document;
    this.reader = natural32('reader', reader, U32);
    this.epoch = integer('epoch', epoch, U64);
    const { name, chunks } = document.said.order ?? {};
    this.size = 1024 + document.size + tableSize(name, chunks);
  }

  get cause(): readonly [string, unknown] {
    return ['chunks', this.document.said.order?.chunks];
  }

  source(most: number): string {
    const { document, epoch, reader } = this;
    return document.source('ChunkStream', { epoch, reader }, most);
  }

  make({ shards }: ComponentBindings): RawChunkStream {
    return new shards.ChunkStream(this.document.text, this.epoch, this.reader);
  }

  /** Of a recipe, and what it does not say. */
  static read(recipe: unknown, given: ChunkStreamRecipeOptions | undefined): StreamRecipe {
    return new StreamRecipe(new Document(recipe), options(given, RECIPE_OPTIONS));
  }
}

type Class<T> = new (reader: Integer, readers: Integer, options?: ChunkStreamOptions) => T;

/** What `ChunkStream` is, over any instance of its engine. */
export abstract class BaseChunkStream extends Facade<ComponentBindings, RawChunkStream> implements Iterable<number> {
  readonly #recipe: StreamRecipe;

  /** @internal */
  constructor(engine: Engine<ComponentBindings>, reader: Integer, readers: Integer, given?: ChunkStreamOptions) {
    const recipe = given instanceof StreamRecipe ? given : recipeOf(reader, readers, given);
    super(engine, 'stream', recipe);
    this.#recipe = recipe;
  }

  /**
   * The stream of a recipe: an object, or a text of JSON. `order` has `name`, `chunks` and `seed`; `deal` has `readers`. A member that
   * is not there has its default. Errors: as the constructor, `recipe` (it is no JSON object), `recipe-member`, `order-member`,
   * `deal-member` (there is no such member).
   */
  static fromRecipe<T>(this: Class<T>, recipe: string | object, options?: ChunkStreamRecipeOptions): T {
    return new this(0, 1, StreamRecipe.read(recipe, options) as unknown as ChunkStreamOptions);
  }

  /** The stream that `toJSON` wrote. Errors: as `fromRecipe`. */
  static fromJSON<T>(this: Class<T>, json: ChunkStreamJson | string): T {
    const { recipe, given } = fromJson<ChunkStreamRecipeOptions>(json, RECIPE_OPTIONS);
    return new this(0, 1, StreamRecipe.read(recipe, given) as unknown as ChunkStreamOptions);
  }

  /** The recipe, which `fromRecipe` takes: JSON in one line, with every member that there is, the defaults too. */
  get recipe(): string {
    return this.call((raw) => raw.recipe());
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

  /** The recipe as it was given, the reader and the epoch, for `JSON.stringify` and `fromJSON`. */
  toJSON(): ChunkStreamJson {
    const { document, epoch, reader } = this.#recipe;
    return document.toJson({ epoch: String(epoch), reader });
  }
}

/** Of the options of a constructor. */
function recipeOf(reader: Integer, readers: Integer, given: ChunkStreamOptions | undefined): StreamRecipe {
  const { chunks, order: name, seed, epoch } = options(given, ['chunks', 'order', 'seed', 'epoch']);
  const document = new Document({ order: section({ name, chunks, seed }), deal: { readers: readers ?? null } });
  return new StreamRecipe(document, {
    reader: natural32('reader', reader, U32),
    ...(epoch !== undefined && { epoch }),
  });
}
