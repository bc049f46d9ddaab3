// The functions that read datasets in files, for the entries `samedeal/files` and `samedeal/parquet`, and for pages. The
// build makes the latter two, with other modules in place of `files/formats-all` and `files/host`.
import type { Reading } from '#samedeal';
import { boolean, FROM_ONE, fail, integer, options, U64 } from './checks.js';
import { type Choice, choiceOf } from './files/formats.js';
import { formats } from './files/formats-all.js';
import { host } from './files/host.js';
import { type Block, readingBlocks } from './files/reading.js';
import { type MarkOptions, type Marks, marksOf, type Row, rowsOf } from './files/rows.js';
import {
  batchesWith,
  type FindOptions,
  type FormatOption,
  findWith,
  namesOf,
  type Paths,
  type ReaderOptions,
  type RowOptions,
  rowsWith,
  type ShardFiles,
  signalOf,
} from './files/shard-files.js';
import { Shards } from './files/shards.js';
import { filesOf, type Given, givenOf } from './files/sources.js';
import { warnOfGroups, warnOfLanes, warnOfRank } from './files/warnings.js';
import type { ReadingOptions } from './read/types.js';
import type { Integer, Integers, SavedState } from './types.js';

export type { DataFile, FileBytes, Footer, Format, PartRows, Values } from './files/format.js';
export type { MarkOptions, Row } from './files/rows.js';
export type { FindOptions, FormatOption, Paths, ReaderOptions, RowOptions, ShardFiles } from './files/shard-files.js';
export type { AsyncBuffer, Source } from './files/sources.js';

/**
 * Finds the files at `paths` and reads their footers, not their rows. (JSON lines and Arrow streams have no footer, so
 * they are scanned.) Errors: a `SamedealError` for `paths`, `columns` or `format`; else an error that names the file: it cannot be read, or has other columns than the first file.
 */
export const findShards = (paths: Paths, options?: FindOptions): Promise<ShardFiles> =>
  findWith(host, formats, paths, options);

/**
 * The batches of one reader of a `Reading`: its rows of the files, in the order of `reading.indices(rank, worker)`,
 * with the `batchSize` of the reading in each batch. With `dropLast`, a last batch that is shorter is left out. So the
 * batches are those that `reading.state(steps)` counts, even if the reading continues from a state in the middle of a
 * turn of workers.
 *
 * Rows come as soon as they are read; the next round is read while the current one is in use. Open files are closed
 * when the iteration ends, however it ends. Do not dispose of the reading before.
 *
 * A warning (in Node `process.emitWarning`, once, with the name SamedealWarning and the code SAMEDEAL_LANES) is given
 * if several readers decode each row, though only one returns it. Another one is given if a reader would have more than
 * 1 GB of decoded values in memory for its lanes.
 *
 * Errors: a `SamedealError` for `shards`, `reading`, `rank`, `worker`, a column or `sizes` (the reading is of other
 * shards); else an error that names the file: it cannot be read, or has other rows than its footer says.
 */
export const readBatches = <R extends object = Row>(
  shards: ShardFiles,
  reading: Reading,
  options: ReaderOptions,
): AsyncGenerator<R[], void, undefined> => batchesWith(host, shards, reading, options) as AsyncGenerator<R[], void>;

/**
 * The rows of some samples, in the order of `samples`, such as a batch that a `Batcher` planned:
 * `readRows(shards, batch.samples)`. For each sample that is far from the others, it reads a page of every column. A
 * sample may come several times. Errors: a `SamedealError` for `shards` or `sample` (the dataset has no such row); else
 * an error that names the file.
 */
export const readRows = <R extends object = Row>(
  shards: ShardFiles,
  samples: Integers,
  options?: RowOptions,
): Promise<R[]> => rowsWith(host, shards, samples, options) as Promise<R[]>;

/** The options of a `Reading` that are options of `readShards`, too. A shard is a file there, and a sample a row. */
const SHARED = [
  ...(['workers', 'seed', 'deal', 'shuffle', 'lanes', 'shuffleWindow', 'remainder', 'policy'] as const),
  ...(['workerPolicy', 'balanceBy', 'shuffleRows', 'reshuffle'] as const),
] as const;

/**
 * The options of `readShards`: what is read, by which reader, and in which order. With the deal `samples`, a reader has
 * a shuffle window of each of its lanes in memory; with the deal `shards`, a whole file if its rows are shuffled, and
 * some thousand rows if not. `balanceBy` `bytes` means the compressed bytes of the columns that are read.
 */
export interface ReadOptions extends MarkOptions, FormatOption, Pick<ReadingOptions, (typeof SHARED)[number]> {
  /**
   * The data-parallel rank, together with `worldSize`: 0 to `worldSize` - 1. Default: rank 0 of a single rank, even if
   * a launcher has set its variables: pass the rank that `detectRank` finds, or `Mesh.dataRank`.
   */
  rank?: Integer;
  /** The number of data-parallel ranks, together with `rank`. Default 1. */
  worldSize?: Integer;
  /** The number of the worker of this rank: 0 to `workers` - 1. Default 0. */
  worker?: Integer;
  /** Number of the epoch: 0 to 2^64 - 1. Default 0. */
  epoch?: Integer;
  /**
   * The state after which the reading continues: the text that `state` of a `Reading` returned, in any language, or the
   * dictionary that Python's `state_dict` saved. The state has the epoch. Its steps may be those of `readBatches`, which
   * has a `batchSize`. Default: the beginning of `epoch`.
   */
  state?: string | Uint8Array | SavedState;
  /** The names of the columns to read. Default all of them. */
  columns?: readonly string[];
  /** Ends the iteration if it aborts, with the reason of the signal. */
  signal?: AbortSignal;
  /**
   * A function that is called whenever another footer was read, when the number of rows is known, after every 256 rows,
   * and in the end.
   */
  progress?: (progress: ReadProgress) => void;
}

/** The progress of a reader. */
export interface ReadProgress {
  /** The number of files, and of the footers that were read. */
  files: number;
  filesFound: number;
  /** The number of rows that this reader returns in all (0 until all footers were read), and that it has returned. */
  rows: number;
  rowsGiven: number;
}

/** Options of a reader that gets rows in batches. */
export interface BatchReadOptions extends ReadOptions {
  /** The number of rows in a batch. */
  batchSize: Integer;
  /** Whether the last batch of a reader is left out if it is shorter. Default false. */
  dropLast?: boolean;
}

const OPTIONS: readonly (keyof BatchReadOptions)[] = [
  ...(['rank', 'worldSize', 'worker', 'epoch', 'state'] as const),
  ...SHARED,
  ...(['signal', 'progress', 'columns', 'format', 'sampleColumn', 'paddingColumn', 'batchSize', 'dropLast'] as const),
];

/**
 * One epoch of one reader: its rows of the files at `paths`, in the order of the deal. Worker w of n in rank r
 * of W is reader r + W * w of W * n. It returns the samples of a `Reading` with these options: with the deal `samples`
 * those of `Sampler.sharded`, with `shards` the files of `ShardPlan.shards`, each in the order of `ShardPlan.rows` or
 * as it is stored. Rows come as soon as they are read. The next window, or file, is read while the current one is in
 * use, and open files are closed when the iteration ends, however it ends.
 *
 * The type of a row can be given, as in `readShards<{ id: bigint }>('data')`; rows are not checked against it.
 *
 * The variables of a launcher decide nothing: `const { rank, worldSize } = detectRank()` returns the values to pass.
 * Values of Parquet and Arrow files have the types of `hyparquet`: int64 is a `bigint`, a timestamp is a `Date`
 * (milliseconds).
 *
 * Warnings (`process.emitWarning`, each once, with the name SamedealWarning): SAMEDEAL_LANES if the number of readers
 * does not divide the lanes, so that several readers read and decode each row, though only one returns it; also if a
 * reader would have more than 1 GB of decoded values in memory for its lanes. SAMEDEAL_RANK if neither rank nor
 * worldSize is given, and a launcher's variables say that this is one of several processes.
 *
 * Errors: a `SamedealError` for an option (`missing` for one of rank and worldSize without the other); else an error
 * that names the file: it cannot be read, has other rows than its footer says, or other columns than the first file.
 */
export function readShards<R extends object = Row>(
  paths: Paths,
  options: BatchReadOptions,
): AsyncGenerator<R[], void, undefined>;
export function readShards<R extends object = Row>(
  paths: Paths,
  options?: ReadOptions,
): AsyncGenerator<R, void, undefined>;
export function readShards(
  paths: Paths,
  options?: ReadOptions | BatchReadOptions,
): AsyncGenerator<Row | Row[], void, undefined> {
  return read(checked(paths, options));
}

async function* read(settings: Settings): AsyncGenerator<Row | Row[], void, undefined> {
  const { given, choice, columns, marks, batchSize, dropLast, signal, progress, deal } = settings;
  signal?.throwIfAborted();
  const told: ReadProgress = { files: 0, filesFound: 0, rows: 0, rowsGiven: 0 };
  const tell = (news: Partial<ReadProgress>) => progress?.({ ...Object.assign(told, news) });
  const finding = { signal, found: (filesFound: number, files: number) => tell({ filesFound, files }) };
  const shards = await Shards.find(await filesOf(host, given, choice), columns, finding);
  const coming = { batchSize, dropLast, signal, made: (rowsGiven: number) => tell({ rowsGiven }) };
  yield* rowsOf(host, shards, marks, coming, (shards) => deal(shards, (rows) => tell({ rows })));
}

/** The options, checked as far as they can be before the files are known. */
interface Settings {
  given: Given[];
  choice: Choice;
  columns: string[] | undefined;
  marks: Marks;
  batchSize: number | undefined;
  dropLast: boolean;
  signal: AbortSignal | undefined;
  progress: ((progress: ReadProgress) => void) | undefined;
  /** The blocks of rows to read. `count` is called with the number of all rows. */
  deal(shards: Shards, count: (rows: number) => void): AsyncGenerator<Block, void>;
}

function checked(paths: Paths, given: ReadOptions | BatchReadOptions | undefined): Settings {
  const {
    rank,
    worldSize,
    worker = 0,
    epoch,
    state,
    columns,
    format,
    sampleColumn,
    paddingColumn,
    batchSize,
    dropLast = false,
    signal,
    progress,
    ...others
  } = options<BatchReadOptions>(given as BatchReadOptions, OPTIONS);
  if ((rank === undefined) !== (worldSize === undefined)) {
    const [field, other] = rank === undefined ? ['rank', 'worldSize'] : ['world_size', 'rank'];
    fail('missing', field, '', `it too, if ${other} is given`);
  }
  if (state !== undefined && epoch !== undefined)
    fail('contradiction', 'epoch', epoch, 'none with a state, which has it');
  if (progress !== undefined && typeof progress !== 'function') fail('wrong-type', 'progress', progress, 'a function');
  const reader = [rank === undefined ? 0 : rank, worker] as const;
  const number = integer('epoch', epoch === undefined ? 0 : epoch, U64);
  if (boolean('drop_last', dropLast) && batchSize === undefined) {
    fail('contradiction', 'drop_last', dropLast, 'false where single rows come, without batchSize');
  }
  const size = batchSize === undefined ? batchSize : Number(integer('batch_size', batchSize, FROM_ONE));
  const readingOf = (sizes: Integers, bytes: Integers) =>
    new host.Reading(sizes, {
      ...(others as ReadingOptions),
      ...(worldSize !== undefined && { worldSize }),
      ...(others.balanceBy === 'bytes' && { bytes }),
      ...(size !== undefined && { batchSize: size, dropLast }),
    });
  // A reading of no files, so that wrong options fail before a file is read.
  const none = readingOf([], []);
  none.numSamples(...reader);
  none.dispose();
  const settings: Settings = {
    given: givenOf(host, paths),
    choice: choiceOf(formats, format),
    columns: columns === undefined ? columns : namesOf(columns),
    marks: marksOf({ sampleColumn, paddingColumn } as MarkOptions),
    batchSize: size,
    dropLast,
    signal: signalOf(signal),
    progress,
    async *deal(shards, count) {
      const whole = readingOf(shards.sizes, shards.bytes);
      let reading: Reading | undefined;
      try {
        reading = state === undefined ? whole.atEpoch(number) : whole.resume(state);
        warnOfLanes(host, reading);
        count(reading.numSamples(...reader));
        await warnOfGroups(host, shards, reading);
        yield* readingBlocks(shards, reading, Number(reader[0]), Number(reader[1]), settings.signal);
      } finally {
        whole.dispose();
        reading?.dispose();
      }
    },
  };
  if (worldSize === undefined) warnOfRank(host);
  return settings;
}
