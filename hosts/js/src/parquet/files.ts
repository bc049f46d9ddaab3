// Parquet files that are known by their footers, for whoever makes a `Reading` of them.
import { fileURLToPath } from 'node:url';
import type { Reading } from '#samedeal';
import { fail, natural32, options, U32 } from '../checks.js';
import type { Integer } from '../types.js';
import { isAddress } from './bytes.js';
import { library } from './library.js';
import { readingBlocks } from './reading.js';
import { type MarkOptions, marksOf, nameOf, type Row, rowsOf } from './rows.js';
import { Shards } from './shards.js';
import { warnOfLanes } from './warnings.js';

/**
 * Files, directories, and `http:` or `https:` addresses of files, which are read by ranges.
 *
 * A directory stands for every regular file below it, at any depth, whose name ends in .parquet (this case only), in the
 * byte order of their paths relative to the directory with '/' between parts. Names that begin with '.' or '_' (files and
 * directories) are passed over (hidden and temporary files, as Spark, Arrow and Hugging Face do). Symbolic links to files
 * and to directories are followed; a link that leads back to a directory above it is an error; a link that leads nowhere,
 * and a directory that cannot be listed, are errors that name the path: nothing is left out silently. A named file that is
 * no regular file (FIFO, socket, device) is an error, not a wait. Names that are not UTF-8 are errors that name the file.
 */
export type Paths = string | URL | readonly (string | URL)[];

/** Which columns are read. */
export interface FindOptions {
  /** The names of the columns to read. Default all of them. */
  columns?: readonly string[];
}

/** The Parquet files of a dataset, as `findShards` found them: sample indices count through their rows in this order. */
export class ShardFiles {
  readonly #shards: Shards;

  /** @internal */
  constructor(shards: Shards) {
    this.#shards = shards;
  }

  /** Where each file is. */
  get paths(): string[] {
    return [...this.#shards.paths];
  }

  /** Rows in each file: what a `Reading` is made of. A new copy. */
  get sizes(): Float64Array<ArrayBuffer> {
    return this.#shards.sizes.slice();
  }

  /** Bytes that the columns to read take in each file, compressed: the `bytes` of a `Reading`. A new copy. */
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

/**
 * Finds the Parquet files at `paths` and reads their footers, not their rows. Errors: a `SamedealError` for `paths` or
 * `columns`; else an error that names the file, which cannot be read, or has other columns than the first one.
 */
export async function findShards(paths: Paths, given?: FindOptions): Promise<ShardFiles> {
  const { columns } = options(given, ['columns']);
  const [found, names] = [pathsOf(paths), columns === undefined ? columns : namesOf(columns)];
  return new ShardFiles(await Shards.find(await library(), found, names));
}

/** Which reader of a `Reading` this is, and which columns come with the rows. */
export interface ReaderOptions extends MarkOptions {
  /** Which rank this is: 0 to the ranks of the reading - 1. */
  rank: Integer;
  /** Which of the rank's workers this is: 0 to the workers of the reading - 1. Default 0. */
  worker?: Integer;
}

/**
 * The batches of one reader of a `Reading`: its rows of the files, in the order of `reading.indices(rank, worker)`, as many in
 * each batch as the `batchSize` of the reading says. With `dropLast`, a last batch that is shorter is left out. So the batches
 * are those that `reading.state(steps)` counts, also where the reading goes on from a state in the middle of a turn of workers.
 *
 * The next round is read while the one before it is in use. What is open is closed when the iteration ends, however it does.
 * The reading must not be disposed of before.
 *
 * A warning (`process.emitWarning`, once, with the name SamedealWarning and the code SAMEDEAL_LANES) tells where several readers
 * decode each row, which one of them gives.
 *
 * Errors: a `SamedealError` for `shards`, `reading`, `rank`, `worker`, a column or `sizes` (the
 * reading is of other shards); else an error that names the file, which cannot be read or holds other rows than
 * its footer promised.
 */
export function readBatches(
  shards: ShardFiles,
  reading: Reading,
  given: ReaderOptions,
): AsyncGenerator<Row[], void, undefined> {
  const files = ShardFiles.shardsOf(shards);
  const { rank, worker = 0, ...marks } = options(given, ['rank', 'worker', 'sampleColumn', 'paddingColumn']);
  if (rank === undefined) fail('missing', 'rank', '', 'the number of the rank that reads');
  const own = [natural32('rank', rank, U32), natural32('worker', worker, U32)] as const;
  // Errors that need no file are told by this call, not by the iteration.
  sameSizes(files, sizesOf(reading));
  reading.numSamples(...own);
  const { drop_last: dropLast } = (JSON.parse(reading.recipe) as { batch: { drop_last: boolean } }).batch;
  warnOfLanes(reading);
  const batches = rowsOf(files, marksOf(marks), { batchSize: reading.batchSize, dropLast }, (shards) =>
    readingBlocks(shards, reading, ...own),
  );
  return batches as AsyncGenerator<Row[], void, undefined>;
}

function sizesOf(reading: unknown): ArrayLike<number> {
  const is = typeof reading === 'object' && reading !== null && 'readsPerRow' in reading;
  return is ? (reading as Reading).sizes : fail('wrong-type', 'reading', reading, 'a Reading');
}

/** Holds the shards of a reading against the files. */
function sameSizes({ paths, sizes }: Shards, of: ArrayLike<number>): void {
  if (of.length !== sizes.length) {
    fail('contradiction', 'sizes', `${of.length} shards in the reading`, `${sizes.length}, as many as there are files`);
  }
  const other = sizes.findIndex((size, i) => size !== of[i]);
  if (other < 0) return;
  const path = paths[other] as string;
  fail('contradiction', 'sizes', `${of[other]} samples in shard ${other}`, `${sizes[other]}, the rows of ${path}`);
}

export function pathsOf(given: unknown): string[] {
  const several = Array.isArray(given) ? given : [given];
  return Array.from(several, (path: unknown) => {
    const text = path instanceof URL ? path.href : path;
    if (typeof text === 'string' && text !== '') {
      if (/^file:\/\//i.test(text)) return fileURLToPath(text);
      if (isAddress(text) || !/^[a-z][a-z\d+.-]*:\/\//i.test(text)) return text;
    }
    return fail('wrong-type', 'paths', text, 'paths of files and directories, and URLs with file:, http: or https:');
  });
}

export function namesOf(given: unknown): string[] {
  if (!Array.isArray(given)) fail('wrong-type', 'columns', given, 'an array of names');
  const names = Array.from(given, (name) => nameOf('columns', name));
  if (names.length === 0) fail('missing', 'columns', '', 'at least one column');
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined) fail('contradiction', 'columns', twice, 'each column once');
  return names;
}
