// Files whose footers were read. They have the sizes of which a `Reading` is made.
import type { Reading } from '#samedeal';
import { fail, options, u32 } from '../checks.js';
import { list } from '../lists.js';
import type { Integer, Integers } from '../types.js';
import { Cursor } from './cursor.js';
import type { Format } from './format.js';
import { choiceOf, type Formats } from './formats.js';
import { atATime } from './pool.js';
import { readingBlocks } from './reading.js';
import { type MarkOptions, marksOf, nameOf, type Row, rowMaker, rowsOf } from './rows.js';
import { Shards } from './shards.js';
import { filesOf, givenOf, type Host, type Source } from './sources.js';
import { warnOfGroups, warnOfLanes } from './warnings.js';

/**
 * The files of a dataset, and in Node also directories. `http:` and `https:` addresses of files are read by ranges. A
 * file can also be a `Blob`, such as one that was dropped on a page, or an `AsyncBuffer` of `hyparquet`: its size, and
 * a function that returns a range of its bytes.
 *
 * A directory stands for every regular file below it, at any depth, whose name ends as the names of the format do, such
 * as in .parquet (this case only), in the byte order of their paths relative to the directory with '/' between parts. Names that begin with '.' or '_'
 * (files and directories) are passed over (hidden and temporary files, as Spark, Arrow and Hugging Face do). Symbolic
 * links to files and to directories are followed; a link that leads back to a directory above it is an error; a link
 * that leads nowhere, and a directory that cannot be listed, are errors that name the path: nothing is left out
 * silently. A named file that is no regular file (FIFO, socket, device) is an error, not a wait. Names that are not
 * UTF-8 are errors that name the file.
 */
export type Paths = Source | readonly Source[];

/** The option that says of which format files are. */
export interface FormatOption {
  /**
   * The format of all files: a format of your own, or the name of one: `parquet`; with `samedeal/files` also `arrow`
   * (Arrow files and streams, Feather, datasets that Hugging Face saved) and `jsonl`. By default, it follows from the
   * names of the files: Parquet, unless all of them are of another format.
   */
  format?: string | Format;
}

/** The options of `findShards`: what is read, and a signal to end the search early. */
export interface FindOptions extends FormatOption {
  /** The names of the columns to read. Default all of them. */
  columns?: readonly string[];
  /** A signal that, when it aborts, ends the search, and later the requests to servers, with its reason. */
  signal?: AbortSignal;
}

/** The files of a dataset, as `findShards` found them: sample indices count through their rows in this order. */
export class ShardFiles {
  readonly #shards: Shards;

  /** @internal */
  constructor(shards: Shards) {
    this.#shards = shards;
  }

  /** The path, the address or the name of each file. */
  get paths(): string[] {
    return [...this.#shards.paths];
  }

  /** The number of rows of each file, from which a `Reading` is made. A new copy. */
  get sizes(): Float64Array<ArrayBuffer> {
    return this.#shards.sizes.slice();
  }

  /**
   * For each file, the compressed bytes of the columns to read; the bytes of all columns if the format does not store
   * columns apart. They are the option `bytes` of a `Reading`. A new copy.
   */
  get bytes(): Float64Array<ArrayBuffer> {
    return this.#shards.bytes.slice();
  }

  /** The columns to read, which all files have. */
  get columns(): string[] {
    return [...this.#shards.columns];
  }

  /** @internal */
  static shardsOf(files: unknown): Shards {
    const is = typeof files === 'object' && files !== null && #shards in files;
    return is ? files.#shards : fail('wrong-type', 'shards', files, 'what `findShards` found');
  }
}

export async function findWith(host: Host, formats: Formats, paths: Paths, given?: FindOptions): Promise<ShardFiles> {
  const { columns, signal, format } = options(given, ['columns', 'signal', 'format']);
  const [found, names] = [givenOf(host, paths), columns === undefined ? columns : namesOf(columns)];
  const [checked, choice] = [signalOf(signal), choiceOf(formats, format)];
  return new ShardFiles(await Shards.find(await filesOf(host, found, choice), names, { signal: checked }));
}

/** The options of `readBatches`: which reader of a `Reading` reads, and which columns are added to its rows. */
export interface ReaderOptions extends MarkOptions {
  /** The rank that reads, from 0. It is below the number of ranks of the reading. */
  rank: Integer;
  /** The worker of this rank that reads, from 0. It is below the number of workers of the reading. Default 0. */
  worker?: Integer;
  /** Ends the iteration if it aborts, with the reason of the signal. */
  signal?: AbortSignal;
}

export function batchesWith(
  host: Host,
  shards: ShardFiles,
  reading: Reading,
  given: ReaderOptions,
): AsyncGenerator<Row[], void, undefined> {
  const files = ShardFiles.shardsOf(shards);
  const known = ['rank', 'worker', 'sampleColumn', 'paddingColumn', 'signal'] as const;
  const { rank, worker = 0, signal: aborting, ...marks } = options(given, known);
  const signal = signalOf(aborting);
  if (rank === undefined) fail('missing', 'rank', '', 'the number of the rank that reads');
  const own = [u32('rank', rank), u32('worker', worker)] as const;
  // Errors that need no file are thrown by this call, not by the iteration.
  sameSizes(files, sizesOf(reading));
  reading.numSamples(...own);
  const { drop_last: dropLast } = (JSON.parse(reading.recipe) as { batch: { drop_last: boolean } }).batch;
  warnOfLanes(host, reading);
  const coming = { batchSize: reading.batchSize, dropLast, signal };
  const batches = rowsOf(host, files, marksOf(marks), coming, async function* (shards) {
    await warnOfGroups(host, shards, reading);
    yield* readingBlocks(shards, reading, ...own, signal);
  });
  return batches as AsyncGenerator<Row[], void, undefined>;
}

function sizesOf(reading: unknown): ArrayLike<number> {
  const is = typeof reading === 'object' && reading !== null && 'readsPerRow' in reading;
  return is ? (reading as Reading).sizes : fail('wrong-type', 'reading', reading, 'a Reading');
}

/** Checks that the shards of a reading have as many samples as the files have rows. */
function sameSizes({ paths, sizes }: Shards, of: ArrayLike<number>): void {
  if (of.length !== sizes.length) {
    fail('contradiction', 'sizes', `${of.length} shards in the reading`, `${sizes.length}, as many as there are files`);
  }
  const other = sizes.findIndex((size, i) => size !== of[i]);
  if (other < 0) return;
  const path = paths[other] as string;
  fail('contradiction', 'sizes', `${of[other]} samples in shard ${other}`, `${sizes[other]}, the rows of ${path}`);
}

/** The options of `readRows`. */
export interface RowOptions {
  /** The name of a column to add: the index of each row in the dataset. Default none. */
  sampleColumn?: string;
  /** A signal that ends the reading with its reason when it aborts. */
  signal?: AbortSignal;
}

/** How many files are read at a time. */
const AT_A_TIME = 8;

export async function rowsWith(host: Host, shards: ShardFiles, samples: Integers, given?: RowOptions): Promise<Row[]> {
  const files = ShardFiles.shardsOf(shards);
  const { signal: aborting, sampleColumn } = options(given, ['sampleColumn', 'signal']);
  const signal = signalOf(aborting);
  const row = rowMaker(files.columns, marksOf(sampleColumn === undefined ? {} : { sampleColumn }));
  const wanted = list('samples', samples);
  const places = new Map<number, { offset: number; sample: number; i: number }[]>();
  const order = host.Sampler.sharded(files.sizes);
  try {
    for (let i = 0; i < wanted.length; i++) {
      const sample = wanted[i] as Integer;
      const { shard, row: stored } = order.shardOf(sample);
      const own = places.get(shard) ?? [];
      own.push({ offset: stored, sample: Number(sample), i });
      places.set(shard, own);
    }
  } finally {
    order.dispose();
  }
  const rows: Row[] = new Array(wanted.length);
  const left = [...places].sort(([one], [other]) => one - other);
  await atATime(left.length, AT_A_TIME, async (next) => {
    const [shard, own] = left[next] as (typeof left)[number];
    const cursor = new Cursor(files);
    try {
      for (const { offset, sample, i } of own.sort((one, other) => one.offset - other.offset)) {
        signal?.throwIfAborted();
        rows[i] = row({ real: rows.length }, i, [await cursor.read(shard, offset, 1), 0, sample]);
      }
    } finally {
      await cursor.close();
    }
  });
  return rows;
}

/** The signal that a caller passed to end something early. */
export function signalOf(given: unknown): AbortSignal | undefined {
  if (given === undefined || given instanceof AbortSignal) return given;
  return fail('wrong-type', 'signal', given, 'an AbortSignal');
}

export function namesOf(given: unknown): string[] {
  if (!Array.isArray(given)) fail('wrong-type', 'columns', given, 'an array of names');
  const names = Array.from(given, (name) => nameOf('columns', name));
  if (names.length === 0) fail('missing', 'columns', '', 'at least one column');
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined) fail('contradiction', 'columns', twice, 'each column once');
  return names;
}
