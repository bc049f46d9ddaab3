import { integer, options, U64, u32 } from '../checks.js';
import { WindowIterator } from '../deal/iterator.js';
import { Document, fromJson, section } from '../document.js';
import type { ComponentBindings, RawChunkStream } from '../engine/types.js';
import type { Engine, Recipe } from '../engine.js';
import { SamedealError } from '../errors.js';
import { CHUNKS } from '../generated/options.js';
import { ChunkStreamMembers } from '../generated/shards.js';
import { tableMemory } from '../memory.js';
import type { Integer } from '../types.js';
import type { ChunkStreamJson, ChunkStreamOptions, ChunkStreamRecipeOptions } from './types.js';

/** How many chunks an iteration reads at a time. */
const WINDOW = 1024;

const RECIPE_OPTIONS = ['reader', 'epoch'] as const;

/** The definition of a stream: a recipe, the reader, and the epoch of the first cycle. */
export class StreamRecipe implements Recipe<ComponentBindings, RawChunkStream> {
  readonly document: Document;
  readonly reader: number;
  readonly epoch: bigint;
  readonly size: number;

  constructor(document: Document, { reader = 0, epoch = 0 }: ChunkStreamRecipeOptions) {
    this.document = document;
    this.reader = u32('reader', reader);
    this.epoch = integer('epoch', epoch, U64);
    const { name, chunks } = document.said.order ?? {};
    this.size = document.size + tableMemory(name, chunks);
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

  /** Makes the definition from a recipe, and from options that a recipe does not have. */
  static read(recipe: unknown, given: ChunkStreamRecipeOptions | undefined): StreamRecipe {
    return new StreamRecipe(new Document(recipe), options(given, RECIPE_OPTIONS));
  }
}

type Class<T> = new (reader: Integer, readers: Integer, options?: ChunkStreamOptions) => T;

/** The members of `ChunkStream`. An entry point such as index.ts adds the engine. */
export abstract class BaseChunkStream extends ChunkStreamMembers implements Iterable<number> {
  readonly #recipe: StreamRecipe;

  /** @internal */
  constructor(engine: Engine<ComponentBindings>, reader: Integer, readers: Integer, given?: ChunkStreamOptions) {
    const recipe = given instanceof StreamRecipe ? given : recipeOf(reader, readers, given);
    super(engine, 'stream', recipe);
    this.#recipe = recipe;
  }

  /**
   * The stream of a recipe: an object, or a text of JSON. `order` has `name`, `chunks` and `seed`; `deal` has
   * `readers`. A member that is not there has its default. Errors: as the constructor, `recipe` (it is no JSON object),
   * `recipe`, `order` or `deal` (this object has an unknown member).
   */
  static fromRecipe<T>(this: Class<T>, recipe: string | object, options?: ChunkStreamRecipeOptions): T {
    return new this(0, 1, StreamRecipe.read(recipe, options) as unknown as ChunkStreamOptions);
  }

  /** The stream that `toJSON` wrote. Errors: as `fromRecipe`. */
  static fromJSON<T>(this: Class<T>, json: ChunkStreamJson | string): T {
    const { recipe, given } = fromJson<ChunkStreamRecipeOptions>(json, RECIPE_OPTIONS);
    return new this(0, 1, StreamRecipe.read(recipe, given) as unknown as ChunkStreamOptions);
  }

  /** The chunks one by one, without end. */
  [Symbol.iterator](): IterableIterator<number> {
    const read = (start: number, end: number) => this.chunks(start, end - start);
    return new WindowIterator(() => {}, Number.POSITIVE_INFINITY, this.#window(), read);
  }

  /**
   * How many chunks to read at a time: `WINDOW`, or one if the engine refuses so many because the tables of their
   * cycles would take too long.
   */
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

/** Makes the definition from the options of a constructor. */
function recipeOf(reader: Integer, readers: Integer, given: ChunkStreamOptions | undefined): StreamRecipe {
  const { order: name, epoch, ...others } = options(given, [...CHUNKS, 'order', 'epoch']);
  const document = new Document({ order: section({ name, ...others }), deal: { readers: readers ?? null } });
  return new StreamRecipe(document, {
    reader: u32('reader', reader),
    ...(epoch !== undefined && { epoch }),
  });
}
