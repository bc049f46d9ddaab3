/**
 * Datasets in Parquet files, read by many readers without overlap, on Node. It reads with the packages `hyparquet` and
 * `hyparquet-compressors`, which have to be installed beside this one.
 *
 * @module
 */
import { Reading } from '#samedeal';
import { boolean, FROM_ONE, fail, integer, options, U64 } from './checks.js';
import type { Integers } from './lists.js';
import { namesOf, type Paths, pathsOf } from './parquet/files.js';
import { library } from './parquet/library.js';
import { type Block, readingBlocks } from './parquet/reading.js';
import { type MarkOptions, type Marks, marksOf, type Row, rowsOf } from './parquet/rows.js';
import { Shards } from './parquet/shards.js';
import { warnOfLanes, warnOfRank } from './parquet/warnings.js';
import type { ReadingOptions } from './read/types.js';
import type { Integer } from './types.js';

export {
  type FindOptions,
  findShards,
  type Paths,
  type ReaderOptions,
  readBatches,
  type ShardFiles,
} from './parquet/files.js';
export type { MarkOptions, Row } from './parquet/rows.js';

/** The options of a `Reading` that are for files, too: a shard is a file there, and a sample a row. */
const SHARED = [
  ...(['workers', 'seed', 'deal', 'shuffle', 'lanes', 'shuffleWindow', 'remainder', 'policy'] as const),
  ...(['workerPolicy', 'weight', 'shuffleRows', 'reshuffle'] as const),
] as const;

/**
 * What is read, by whom, and in which order. With the deal `samples`, a reader holds a window of each of its lanes; with `shards`,
 * one file where rows are shuffled. The weight `bytes` means the compressed bytes of the columns that are read.
 */
export interface ReadOptions extends MarkOptions, Pick<ReadingOptions, (typeof SHARED)[number]> {
  /**
   * Which data-parallel reader this is, together with `worldSize`: 0 to `worldSize` - 1. Default 0 of 1, whatever a launcher says:
   * pass what `detectRank` finds, or `Mesh.dataRank`.
   */
  rank?: Integer;
  /** How many there are, together with `rank`. Default 1. */
  worldSize?: Integer;
  /** Which of the rank's workers this is: 0 to `workers` - 1. Default 0. */
  worker?: Integer;
  /** Number of the epoch: 0 to 2^64 - 1. Default 0. */
  epoch?: Integer;
  /** The names of the columns to read. Default all of them. */
  columns?: readonly string[];
}

/** The same, in batches. */
export interface BatchReadOptions extends ReadOptions {
  /** How many rows come together. */
  batchSize: Integer;
  /** Whether a reader's last batch is left out where it is shorter. Default false. */
  dropLast?: boolean;
}

const OPTIONS: readonly (keyof BatchReadOptions)[] = [
  ...(['rank', 'worldSize', 'worker', 'epoch'] as const),
  ...SHARED,
  ...(['columns', 'sampleColumn', 'paddingColumn', 'batchSize', 'dropLast'] as const),
];

/**
 * One epoch of one reader: its rows of the Parquet files at `paths`, in the order of the deal. Worker w of n in rank r of W
 * is reader r + W * w of W * n. It gives the samples of a `Reading` with these options: with the deal `samples` those of
 * `Sampler.sharded`, with `shards` the files of `ShardPlan.shards`, each in the order of `ShardPlan.rows` or as it is stored.
 * To resume within an epoch, use `readBatches`. The next window, or file, is read while the one before it is in use, and what
 * is open is closed when the iteration ends, however it does.
 *
 * It does not look at the launcher: `const { rank, worldSize } = detectRank()` gives what to pass. Values come as `hyparquet`
 * has them: int64 as `bigint`, timestamps as `Date` (milliseconds).
 *
 * Warnings (`process.emitWarning`, each once, with the name SamedealWarning): SAMEDEAL_LANES where the readers do not
 * divide the lanes, so that several of them read and decode each row, which still one alone gives; SAMEDEAL_RANK where
 * neither rank nor worldSize is given, and a launcher's variables say that this is one of several processes.
 *
 * Errors: a `SamedealError` for an option (`missing` for one of rank and worldSize without the other); else an error that names
 * the file, which cannot be read, holds other rows than its footer promises, or other columns than the first one.
 */
export function readShards(paths: Paths, options: BatchReadOptions): AsyncGenerator<Row[], void, undefined>;
export function readShards(paths: Paths, options?: ReadOptions): AsyncGenerator<Row, void, undefined>;
export function readShards(
  paths: Paths,
  options?: ReadOptions | BatchReadOptions,
): AsyncGenerator<Row | Row[], void, undefined> {
  return read(checked(paths, options));
}

async function* read(settings: Settings): AsyncGenerator<Row | Row[], void, undefined> {
  const { paths, columns, marks, deal } = settings;
  yield* rowsOf(await Shards.find(await library(), paths, columns), marks, settings, deal);
}

/** What is read, checked as far as it can be before the files are known. */
interface Settings {
  paths: string[];
  columns: string[] | undefined;
  marks: Marks;
  batchSize: number | undefined;
  dropLast: boolean;
  deal(shards: Shards): AsyncGenerator<Block, void>;
}

function checked(paths: Paths, given: ReadOptions | BatchReadOptions | undefined): Settings {
  const {
    rank,
    worldSize,
    worker = 0,
    epoch = 0,
    columns,
    sampleColumn,
    paddingColumn,
    batchSize,
    dropLast = false,
    ...others
  } = options<BatchReadOptions>(given as BatchReadOptions, OPTIONS);
  if ((rank === undefined) !== (worldSize === undefined)) {
    const [field, other] = rank === undefined ? ['rank', 'worldSize'] : ['world-size', 'rank'];
    fail('missing', field, '', `it too, if ${other} is given`);
  }
  const reader = [rank === undefined ? 0 : rank, worker] as const;
  const number = integer('epoch', epoch, U64);
  const readingOf = (sizes: Integers, bytes: Integers) =>
    new Reading(sizes, {
      ...(others as ReadingOptions),
      ...(worldSize !== undefined && { worldSize }),
      ...(others.weight === 'bytes' && { bytes }),
    });
  // Whatever is wrong with the options shows without a file.
  const none = readingOf([], []);
  none.numSamples(...reader);
  none.dispose();
  if (boolean('drop-last', dropLast) && batchSize === undefined) {
    fail('contradiction', 'drop-last', dropLast, 'false where single rows come, without batchSize');
  }
  const settings: Settings = {
    paths: pathsOf(paths),
    columns: columns === undefined ? columns : namesOf(columns),
    marks: marksOf({ sampleColumn, paddingColumn } as MarkOptions),
    batchSize: batchSize === undefined ? batchSize : Number(integer('batch-size', batchSize, FROM_ONE)),
    dropLast,
    async *deal(shards) {
      const whole = readingOf(shards.sizes, shards.bytes);
      const reading = whole.atEpoch(number);
      whole.dispose();
      try {
        warnOfLanes(reading);
        yield* readingBlocks(shards, reading, Number(reader[0]), Number(reader[1]));
      } finally {
        reading.dispose();
      }
    },
  };
  if (worldSize === undefined) warnOfRank();
  return settings;
}
