import { fail, unknownName } from '../checks.js';
import { naming, ParquetFile } from './file.js';
import type { Group, Part } from './groups.js';
import { Held } from './held.js';
import type { Library } from './library.js';
import { Shared } from './shared.js';
import type { Place } from './sources.js';

/** How many footers are read at a time. */
const AT_A_TIME = 16;

/** The Parquet files of a dataset: sample indices count through their rows in this order. */
export class Shards {
  readonly paths: readonly string[];
  /** The number of rows of each file. */
  readonly sizes: Float64Array<ArrayBuffer>;
  /** The compressed bytes of the columns to read, for each file. */
  readonly bytes: Float64Array<ArrayBuffer>;
  /** The columns to read, which all files have. */
  readonly columns: readonly string[];
  /** The row group that takes most memory, for each file. */
  readonly largest: readonly Group[];
  readonly #library: Library;
  readonly #places: readonly Place[];
  /** The signal that ends the reading. */
  readonly signal: AbortSignal | undefined;
  readonly #open = new Shared<number, ParquetFile>();
  readonly #held = new Held();

  private constructor(
    library: Library,
    places: readonly Place[],
    signal: AbortSignal | undefined,
    sizes: Float64Array<ArrayBuffer>,
    bytes: Float64Array<ArrayBuffer>,
    columns: readonly string[],
    largest: readonly Group[],
  ) {
    this.#library = library;
    this.#places = places;
    this.signal = signal;
    this.paths = places.map(({ name }) => name);
    this.sizes = sizes;
    this.bytes = bytes;
    this.columns = columns;
    this.largest = largest;
  }

  /** Finds the files and reads their footers, not their data. */
  static async find(
    library: Library,
    places: readonly Place[],
    columns: readonly string[] | undefined,
    { signal, found: told }: Finding = {},
  ) {
    if (places.length === 0) fail('missing', 'paths', '', 'at least one Parquet file');
    const first = await footer(library, places[0] as Place, signal, columns);
    for (const name of columns ?? []) {
      if (!first.schema.has(name)) unknownName('columns', name, [...first.schema.keys()]);
    }
    const names = columns ?? [...first.schema.keys()];
    const sizes = new Float64Array(places.length);
    const bytes = new Float64Array(places.length);
    const largest: Group[] = [];
    let count = 0;
    const tell = async (i: number) => {
      signal?.throwIfAborted();
      const place = places[i] as Place;
      const found = i === 0 ? first : await footer(library, place, signal, columns);
      const { schema } = found;
      const more = columns === undefined && schema.size > names.length;
      if (more || names.some((name) => schema.get(name) !== first.schema.get(name))) {
        const [{ name: one }, { name: other }] = [place, places[0] as Place];
        throw new Error(`${one}: its columns differ from those of ${other}; read a selection that all have`);
      }
      sizes[i] = found.rows;
      largest[i] = found.largest;
      bytes[i] = names.reduce((sum, name) => sum + (found.bytes.get(name) ?? 0), 0);
      count += 1;
      told?.(count, places.length);
    };
    const some = async (_: unknown, from: number) => {
      for (let i = from; i < places.length; i += AT_A_TIME) await tell(i);
    };
    const ends = await Promise.allSettled(Array.from({ length: AT_A_TIME }, some));
    for (const outcome of ends) if (outcome.status === 'rejected') throw outcome.reason;
    return new Shards(library, places, signal, sizes, bytes, names, largest);
  }

  /**
   * Opens a shard, unless it is open; `release` must follow. Fails if its number of rows has changed since the footers
   * were read.
   */
  acquire(shard: number): Promise<ParquetFile> {
    return this.#open.acquire(shard, async () => {
      const use = { names: this.columns, held: this.#held };
      const file = await ParquetFile.open(this.#library, this.#places[shard] as Place, this.signal, use);
      if (file.rows === this.sizes[shard]) return file;
      await file.close();
      throw new Error(`it holds ${file.rows} rows now, and held ${this.sizes[shard]} at the start`);
    });
  }

  /** For each column, the part that is decoded in one piece, in the row group of a shard that takes most memory. */
  async parts(shard: number): Promise<Part[]> {
    try {
      return await (await this.acquire(shard)).parts(this.columns);
    } catch (error) {
      throw naming(this.paths[shard] as string, error, this.signal);
    } finally {
      await this.release(shard);
    }
  }

  /** Closes a shard, unless it was acquired more often than released. */
  release(shard: number): Promise<void> {
    return this.#open.release(shard, (file) => file.close());
  }
}

/** The options of a search for files. */
export interface Finding {
  signal?: AbortSignal | undefined;
  /** A function that is called after each footer that was read. */
  found?: ((count: number, files: number) => void) | undefined;
}

/** The facts of a footer. */
interface Footer {
  rows: number;
  bytes: Map<string, number>;
  schema: Map<string, string>;
  largest: Group;
}

async function footer(
  library: Library,
  place: Place,
  signal: AbortSignal | undefined,
  columns: readonly string[] | undefined,
): Promise<Footer> {
  try {
    const file = await ParquetFile.open(library, place, signal);
    try {
      const { rows, bytes, schema } = file;
      return { rows, bytes, schema, largest: file.largest(columns ?? [...schema.keys()]) };
    } finally {
      await file.close();
    }
  } catch (error) {
    throw naming(place.name, error, signal);
  }
}
