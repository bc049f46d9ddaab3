/**
 * Datasets in Parquet files, read by many readers without overlap, on Node. It reads with the packages `hyparquet` and
 * `hyparquet-compressors`, which have to be installed beside this one.
 *
 * @module
 */
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Sampler, ShardPlan } from '#samedeal';
import { boolean, FROM_ONE, fail, integer, oneOf, options } from './checks.js';
import { isAddress } from './parquet/bytes.js';
import { library } from './parquet/library.js';
import { ahead, type Block, sampleBlocks, shardBlocks } from './parquet/reading.js';
import { Shards } from './parquet/shards.js';
import { warnOfLanes, warnOfRank } from './parquet/warnings.js';
import { WORKER_POLICIES } from './plan-recipe.js';
import type { Weight, WorkerPolicy } from './plan-types.js';
import type { Integer, Remainder } from './types.js';

/**
 * A row: a value for each column, as `hyparquet` gives it. Integers of 64 bits are `bigint`s, those of 32 bits and all
 * fractions `number`s; dates and timestamps are `Date`s, which hold milliseconds; a value that is missing is null.
 */
export type Row = Record<string, unknown>;

/** What is read, by whom, and in which order. */
export interface ReadOptions {
  /**
   * Which data-parallel reader this is, together with `world`: 0 to `world` - 1. Default 0 of 1, whatever a launcher says:
   * pass what `detectRank` finds, or `Mesh.dataRank`.
   */
  rank?: Integer;
  /** How many there are, together with `rank`. Default 1. */
  world?: Integer;
  /** Which of the rank's workers this is: 0 to `workers` - 1. Default 0. */
  worker?: Integer;
  /** How many workers read in each rank. Default 1. */
  workers?: Integer;
  /** Seed of the order: any 64-bit signed integer. Default 0. */
  seed?: Integer;
  /** Number of the epoch: 0 to 2^64 - 1. Default 0. */
  epoch?: Integer;
  /**
   * `samples` (the default): the order `sharded`, the same whatever the number of readers; a reader holds a window of each
   * of its lanes. `shards`: whole files to readers, by a `ShardPlan`; a reader holds one file where rows are shuffled.
   */
  deal?: 'samples' | 'shards';
  /**
   * With `samples`: how many streams the dataset is cut into; a multiple of `world` times `workers`, or else several
   * readers read and decode each row, which one of them gives. Default 64.
   */
  lanes?: Integer;
  /** With `samples`: how many rows of a lane are shuffled together. Default 256. */
  window?: Integer;
  /** With `samples`: what happens where the readers do not divide the rows. Default `pad`. */
  remainder?: Remainder;
  /** With `shards`: how files are given to ranks. Default `size-aware`. */
  policy?: WorkerPolicy;
  /** With `shards`: how those of a rank are given to its workers. Default `size-aware`. */
  workerPolicy?: WorkerPolicy;
  /** With `shards`: what is to be equal, rows or compressed bytes of the columns that are read. Default `samples`. */
  weight?: Weight;
  /** With `shards`: whether the files are shuffled before they are given away. Default true. */
  shuffle?: boolean;
  /** With `shards`: whether the rows within each file are shuffled. Default as `shuffle`. */
  shuffleRows?: boolean;
  /** With `shards`: whether each reader shuffles its files once more. Default false. */
  reshuffle?: boolean;
  /** The names of the columns to read. Default all of them. */
  columns?: readonly string[];
  /** The name of a column to add: the index of each row in the dataset. Default none. */
  sampleColumn?: string;
  /** The name of a column to add: whether the row is padding, which a metric has to leave out. Default none. */
  paddingColumn?: string;
}

/** The same, in batches. */
export interface BatchReadOptions extends ReadOptions {
  /** How many rows come together. */
  batchSize: Integer;
  /** Whether a reader's last batch is left out where it is shorter. Default false. */
  dropLast?: boolean;
}

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

/** What goes with each deal. */
const OF_SAMPLES = ['lanes', 'window', 'remainder'] as const;
const OF_SHARDS = ['policy', 'workerPolicy', 'weight', 'shuffle', 'shuffleRows', 'reshuffle'] as const;
const OPTIONS = [
  'rank',
  'world',
  'worker',
  'workers',
  'seed',
  'epoch',
  'deal',
  ...OF_SAMPLES,
  ...OF_SHARDS,
  'columns',
  'sampleColumn',
  'paddingColumn',
  'batchSize',
  'dropLast',
] as const;

const DEALS = ['samples', 'shards'] as const;
const POLICIES = { policy: 'size-aware', workerPolicy: 'size-aware' } as const;

/** How many rows come before everything else that waits in this process has its turn. */
const TURN = 256;

/**
 * One epoch of one reader: its rows of the Parquet files at `paths`, in the order of the deal. Worker w of n in rank r of W
 * is reader r + W * w of W * n. With the deal `samples` it gives the samples of `Sampler.sharded`, with `shards` the files
 * of `ShardPlan.shards`, each in the order of `ShardPlan.rows` or as it is stored. The next window, or file, is read
 * while the one before it is in use, and what is open is closed when the iteration ends, however it does.
 *
 * It does not look at the launcher: `const { rank, world } = detectRank()` gives what to pass. Values come as `hyparquet`
 * has them: int64 as `bigint`, timestamps as `Date` (milliseconds).
 *
 * Warnings (`process.emitWarning`, each once, with the name SamedealWarning): SAMEDEAL_LANES where the readers do not
 * divide the lanes, so that several of them read and decode each row, which still one alone gives; SAMEDEAL_RANK where
 * neither rank nor world is given, and a launcher's variables say that this is one of several processes.
 *
 * Errors: a `SamedealError` for an option (`missing` for one of rank and world without the other); else an error that names the file, which cannot be read, holds other rows than
 * its footer promises, or other columns than the first one.
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
  const { paths, columns, marks, batchSize, dropLast, deal } = settings;
  const shards = await Shards.find(await library(), paths, columns);
  const names = [...shards.columns];
  for (const [field, name] of Object.entries(marks)) {
    if (name === undefined) continue;
    if (names.includes(name)) fail('contradiction', field, name, 'a name that no other column has');
    names.push(name);
  }
  const row = rowMaker(shards.columns, marks);
  let batch: Row[] = [];
  let turn = 0;
  for await (const block of ahead(deal(shards))) {
    for (let i = 0; i < block.count; i++) {
      if (++turn % TURN === 0) await setImmediate();
      if (batchSize === undefined) {
        yield row(block, i);
      } else if (batch.push(row(block, i)) === batchSize) {
        const full = batch;
        batch = [];
        yield full;
      }
    }
  }
  if (batch.length > 0 && !dropLast) yield batch;
}

/** What makes the rows. */
function rowMaker(columns: readonly string[], marks: Marks): (block: Block, i: number) => Row {
  const { 'sample-column': sampleColumn, 'padding-column': paddingColumn } = marks;
  const own = [...columns, sampleColumn, paddingColumn].includes('__proto__');
  return (block, i) => {
    const [run, at, sample] = block.place(i);
    const row: Row = {};
    // An assignment to that name would be none.
    if (own) Object.defineProperty(row, '__proto__', { writable: true, enumerable: true, configurable: true });
    // A list that is null comes as undefined.
    for (let i = 0; i < columns.length; i++) row[columns[i] as string] = run.columns[i]?.[at] ?? null;
    if (sampleColumn !== undefined) row[sampleColumn] = sample;
    if (paddingColumn !== undefined) row[paddingColumn] = i >= block.real;
    return row;
  };
}

/** The names of columns to add, by the field that an error tells. */
interface Marks {
  'sample-column': string | undefined;
  'padding-column': string | undefined;
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
    world,
    worker = 0,
    workers = 1,
    deal = 'samples',
    columns,
    sampleColumn,
    paddingColumn,
    batchSize,
    dropLast = false,
    ...others
  } = options<BatchReadOptions>(given as BatchReadOptions, OPTIONS);
  if ((rank === undefined) !== (world === undefined)) {
    const [field, other] = rank === undefined ? ['rank', 'world'] : ['world', 'rank'];
    fail('missing', field, '', `${field} too, where ${other} is given`);
  }
  const ranks = Number(integer('world', world === undefined ? 1 : world, FROM_ONE));
  const each = Number(integer('workers', workers, [1n, FROM_ONE[1] / BigInt(ranks)]));
  const readers = each * ranks;
  const own = Number(integer('rank', rank === undefined ? 0 : rank, [0n, BigInt(ranks) - 1n]));
  const ofRank = Number(integer('worker', worker, [0n, BigInt(each) - 1n]));
  const dealt = oneOf('deal', deal, DEALS);
  for (const name of dealt === 'samples' ? OF_SHARDS : OF_SAMPLES) {
    if (others[name] === undefined) continue;
    const other = dealt === 'samples' ? 'shards' : 'samples';
    fail('contradiction', kebab(name), others[name], `none, as it goes with the deal ${other}`);
  }
  if (others.policy !== undefined) oneOf('policy', others.policy, WORKER_POLICIES);
  if (boolean('drop-last', dropLast) && batchSize === undefined) {
    fail('contradiction', 'drop-last', dropLast, 'false where single rows come, without batchSize');
  }
  const settings: Settings = {
    paths: pathsOf(paths),
    columns: columns === undefined ? columns : namesOf(columns),
    marks: {
      'sample-column': sampleColumn === undefined ? sampleColumn : nameOf('sample-column', sampleColumn),
      'padding-column': paddingColumn === undefined ? paddingColumn : nameOf('padding-column', paddingColumn),
    },
    batchSize: batchSize === undefined ? batchSize : Number(integer('batch-size', batchSize, FROM_ONE)),
    dropLast,
    async *deal(shards) {
      if (dealt === 'samples') {
        const sampler = Sampler.sharded(shards.sizes, { ...others, rank: own + ranks * ofRank, world: readers });
        try {
          warnOfLanes(sampler.lanes as number, ranks, each);
          yield* sampleBlocks(shards, sampler);
        } finally {
          sampler.dispose();
        }
      } else {
        const { shuffle = true, shuffleRows = shuffle, ...planned } = others;
        const readers = { bytes: shards.bytes, world: ranks, workers: each };
        const plan = new ShardPlan(shards.sizes, { ...POLICIES, ...planned, shuffle, ...readers });
        try {
          yield* shardBlocks(shards, plan, own, ofRank, boolean('shuffle-rows', shuffleRows));
        } finally {
          plan.dispose();
        }
      }
    },
  };
  if (world === undefined) warnOfRank();
  return settings;
}

function pathsOf(given: unknown): string[] {
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

function namesOf(given: unknown): string[] {
  if (!Array.isArray(given)) fail('wrong-type', 'columns', given, 'an array of names');
  const names = Array.from(given, (name) => nameOf('columns', name));
  if (names.length === 0) fail('missing', 'columns', '', 'at least one column');
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined) fail('contradiction', 'columns', twice, 'each column once');
  return names;
}

/** The name that all languages share. */
const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function nameOf(field: string, given: unknown): string {
  if (typeof given !== 'string') fail('wrong-type', field, given, 'a name');
  return given;
}
