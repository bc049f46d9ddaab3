import { fail, unknownName } from '../checks.js';
import type { Bytes } from './bytes.js';
import type { FormatReader, Largest, OpenFile, Piece } from './format.js';
import { naming } from './naming.js';
import { atATime } from './pool.js';
import type { Files, Place } from './sources.js';
import { Shared } from './users.js';

/** How many footers are read at a time. */
const AT_A_TIME = 16;

/** The files of a dataset: sample indices count through their rows in this order. */
export class Shards {
  readonly format: FormatReader;
  readonly paths: readonly string[];
  /** The number of rows of each file. */
  readonly sizes: Float64Array<ArrayBuffer>;
  /** For each file, the bytes that the columns to read take in it; or all columns, if the format does not know that. */
  readonly bytes: Float64Array<ArrayBuffer>;
  /** The columns to read, which all files have. */
  readonly columns: readonly string[];
  /** The part that takes most memory, for each file. */
  readonly largest: readonly Largest[];
  /** The signal that ends the reading. */
  readonly signal: AbortSignal | undefined;
  readonly #places: readonly Place[];
  readonly #facts: readonly Facts[];
  readonly #open = new Shared<number, Opened>();

  private constructor(
    { format, places }: Files,
    signal: AbortSignal | undefined,
    columns: readonly string[],
    facts: readonly Facts[],
  ) {
    this.format = format;
    this.paths = places.map(({ name }) => name);
    this.sizes = Float64Array.from(facts, ({ rows }) => rows);
    this.bytes = Float64Array.from(facts, ({ bytes }) => bytes);
    this.columns = columns;
    this.largest = facts.map(({ largest }) => largest);
    this.signal = signal;
    this.#places = places;
    this.#facts = facts;
  }

  /** Reads the footers of files, not their data. */
  static async find(
    files: Files,
    columns: readonly string[] | undefined,
    { signal, found: told }: Finding = {},
  ): Promise<Shards> {
    const { format, places } = files;
    if (places.length === 0) fail('missing', 'paths', '', `at least one ${format.name} file`);
    const facts: Facts[] = [];
    const schemas: Schemas = new Map();
    let count = 0;
    await atATime(places.length, AT_A_TIME, async (i) => {
      signal?.throwIfAborted();
      const { name } = places[i] as Place;
      try {
        const { bytes, file } = await opened(format, places[i] as Place, signal, []);
        await bytes.close();
        const names = columns ?? [...file.columns.keys()];
        const { rows, index } = file;
        facts[i] = { rows, index, length: bytes.byteLength, bytes: file.bytes(names), largest: file.largest(names) };
        // In a format without schemas, a file without rows has no columns: it gets those of another file.
        if (rows > 0 || file.columns.size > 0) add(schemas, i, file.columns);
      } catch (error) {
        throw naming(name, error, signal);
      }
      count += 1;
      told?.(count, places.length);
    });
    const paths = places.map(({ name }) => name);
    return new Shards(files, signal, columnsOf(format, schemas, columns, paths), facts);
  }

  /**
   * Opens a shard, unless it is open; `release` must follow. Fails if its number of bytes or of rows has changed since
   * the footers were read.
   */
  async acquire(shard: number): Promise<OpenFile> {
    const { file } = await this.#open.acquire(shard, async () => {
      const { rows, length, index } = this.#facts[shard] as Facts;
      const made = await opened(this.format, this.#places[shard] as Place, this.signal, this.columns, {
        length,
        index,
      });
      if (made.file.rows === rows && made.bytes.byteLength === length) return made;
      await made.bytes.close();
      throw made.file.rows === rows
        ? changed(`${made.bytes.byteLength} bytes`, length)
        : changed(`${made.file.rows} rows`, rows);
    });
    return file;
  }

  /** The pieces of columns that are decoded together, in the part of a shard that takes most memory. */
  async pieces(shard: number): Promise<Piece[]> {
    try {
      return await (await this.acquire(shard)).pieces(this.columns);
    } catch (error) {
      throw naming(this.paths[shard] as string, error, this.signal);
    } finally {
      await this.release(shard);
    }
  }

  /** Closes a shard, unless it was acquired more often than released. */
  release(shard: number): Promise<void> {
    return this.#open.release(shard, ({ bytes, file }) => {
      file.leave?.();
      return bytes.close();
    });
  }
}

/** The options of a search for files. */
export interface Finding {
  signal?: AbortSignal | undefined;
  /** A function that is called after each footer that was read. */
  found?: ((count: number, files: number) => void) | undefined;
}

/** The facts about a file that are known before its rows are read. */
interface Facts {
  rows: number;
  /** The bytes of the whole file. */
  length: number;
  /** The bytes of the columns to read. */
  bytes: number;
  largest: Largest;
  index: unknown;
}

interface Opened {
  bytes: Bytes;
  file: OpenFile;
}

/** Opens a file. `known` are the facts about it, if it was opened before. */
async function opened(
  format: FormatReader,
  place: Place,
  signal: AbortSignal | undefined,
  names: readonly string[],
  known?: Pick<Facts, 'length' | 'index'>,
): Promise<Opened> {
  const bytes = await place.open(signal);
  try {
    // An index leads to wrong places in another file.
    if (known?.index !== undefined && bytes.byteLength !== known.length) {
      throw changed(`${bytes.byteLength} bytes`, known.length);
    }
    return { bytes, file: await format.open(bytes, known?.index, names) };
  } catch (error) {
    await bytes.close();
    throw error;
  }
}

const changed = (now: string, before: number) => new Error(`it holds ${now} now, and held ${before} at the start`);

/** Each set of columns that files have, by its text, with the number of the first of these files. */
type Schemas = Map<string, { first: number; columns: ReadonlyMap<string, string> }>;

function add(schemas: Schemas, file: number, columns: ReadonlyMap<string, string>): void {
  const text = JSON.stringify([...columns]);
  const known = schemas.get(text);
  if (known) known.first = Math.min(known.first, file);
  else schemas.set(text, { first: file, columns });
}

/** The columns to read, which all files have, in types that go together. */
function columnsOf(
  format: FormatReader,
  schemas: Schemas,
  columns: readonly string[] | undefined,
  paths: readonly string[],
): readonly string[] {
  const [first, ...others] = [...schemas.values()].sort((one, other) => one.first - other.first);
  const known = new Map(first?.columns);
  for (const name of columns ?? []) if (!known.has(name)) unknownName('columns', name, [...known.keys()]);
  const names = columns ?? [...known.keys()];
  const unite = format.unite ?? ((one, other) => (one === other ? one : undefined));
  for (const { first: file, columns: own } of others) {
    for (const name of names) {
      const [one, other] = [known.get(name) as string, own.get(name)];
      const both = other === undefined ? undefined : unite(one, other);
      if (both === undefined || (columns === undefined && own.size > names.length)) {
        const told = `its columns differ from those of ${paths[first?.first ?? 0]}; read a selection that all have`;
        throw new Error(`${paths[file]}: ${told}`);
      }
      known.set(name, both);
    }
  }
  return names;
}
