import { fail } from '../checks.js';
import { naming, ParquetFile } from './file.js';
import type { Library } from './library.js';
import { filesOf } from './paths.js';
import { Shared } from './shared.js';

/** How many footers are read at a time. */
const AT_A_TIME = 16;

/** The Parquet files of a dataset: sample indices count through their rows in this order. */
export class Shards {
  readonly paths: readonly string[];
  /** How many rows each holds. */
  readonly sizes: Float64Array<ArrayBuffer>;
  /** How many bytes the columns to read take in each, compressed. */
  readonly bytes: Float64Array<ArrayBuffer>;
  /** The columns to read, the same in all of them. */
  readonly columns: readonly string[];
  readonly #library: Library;
  readonly #open = new Shared<number, ParquetFile>();

  private constructor(
    library: Library,
    paths: readonly string[],
    sizes: Float64Array<ArrayBuffer>,
    bytes: Float64Array<ArrayBuffer>,
    columns: readonly string[],
  ) {
    this.#library = library;
    this.paths = paths;
    this.sizes = sizes;
    this.bytes = bytes;
    this.columns = columns;
  }

  /** Finds the files and reads their footers, not their data. */
  static async find(library: Library, given: readonly string[], columns: readonly string[] | undefined) {
    const paths = await filesOf(given);
    const first = await footer(library, paths[0] as string);
    for (const name of columns ?? []) {
      if (!first.schema.has(name)) fail('unknown-name', 'columns', name, [...first.schema.keys()].join(', '));
    }
    const names = columns ?? [...first.schema.keys()];
    const sizes = new Float64Array(paths.length);
    const bytes = new Float64Array(paths.length);
    const tell = async (i: number) => {
      const path = paths[i] as string;
      const found = i === 0 ? first : await footer(library, path);
      const { schema } = found;
      const more = columns === undefined && schema.size > names.length;
      if (more || names.some((name) => schema.get(name) !== first.schema.get(name))) {
        throw new Error(`${path}: its columns differ from those of ${paths[0]}; read a selection that all have`);
      }
      sizes[i] = found.rows;
      bytes[i] = names.reduce((sum, name) => sum + (found.bytes.get(name) ?? 0), 0);
    };
    const some = async (_: unknown, from: number) => {
      for (let i = from; i < paths.length; i += AT_A_TIME) await tell(i);
    };
    const told = await Promise.allSettled(Array.from({ length: AT_A_TIME }, some));
    for (const outcome of told) if (outcome.status === 'rejected') throw outcome.reason;
    return new Shards(library, paths, sizes, bytes, names);
  }

  /** Opens a shard, which must still be as long as it was, unless it is open; `release` must follow. */
  acquire(shard: number): Promise<ParquetFile> {
    return this.#open.acquire(shard, async () => {
      const file = await ParquetFile.open(this.#library, this.paths[shard] as string);
      if (file.rows === this.sizes[shard]) return file;
      await file.close();
      throw new Error(`it holds ${file.rows} rows now, and held ${this.sizes[shard]} at the start`);
    });
  }

  /** Closes a shard, unless somebody else has it open. */
  release(shard: number): Promise<void> {
    return this.#open.release(shard, (file) => file.close());
  }
}

/** What a footer tells. */
interface Footer {
  rows: number;
  bytes: Map<string, number>;
  schema: Map<string, string>;
}

async function footer(library: Library, path: string): Promise<Footer> {
  try {
    const file = await ParquetFile.open(library, path);
    try {
      const { rows, bytes, schema } = file;
      return { rows, bytes, schema };
    } finally {
      await file.close();
    }
  } catch (error) {
    throw naming(path, error);
  }
}
