import {
  type BatchingBindings,
  COUNTINGS,
  PACKINGS,
  type RawBatchConfig,
  type RawBatcher,
  type RawBatchStream,
  type RawBuckets,
  STRATEGIES,
  TAILS,
  TOO_LONG,
} from './batch-raw.js';
import type { BatcherConfig, BatcherOptions } from './batch-types.js';
import { FROM_ONE, fail, integer, natural32, oneOf, type Range, S64, string, U32, U64 } from './checks.js';
import { plain, source, tableSize } from './config.js';
import { ALONE, type Recipe } from './engine.js';
import { shown, words32 } from './lists.js';

/** The options of a stream; a batcher has two more. */
export const STREAM_OPTIONS = [
  'seed',
  'epoch',
  'rank',
  'world',
  'strategy',
  'maxBatchSize',
  'maxLength',
  'budget',
  'counting',
  'linear',
  'quadratic',
  'multiple',
  'capacity',
  'packing',
  'bucketWidth',
  'boundaries',
  'window',
  'tooLong',
  'tail',
] as const;
export const BATCHER_OPTIONS = [...STREAM_OPTIONS, 'order', 'quantiles'] as const;

const WORLD: Range = [1n, 2n ** 20n];
const QUANTILES: Range = [1n, 2n ** 20n];

/** What decides a batcher, checked as far as it has to be to cross. */
export class BatcherRecipe implements Recipe<BatchingBindings, RawBatcher> {
  readonly config: RawBatchConfig;
  readonly size: number;

  constructor(config: RawBatchConfig) {
    const { lengths, order, tooLong, world, buckets, window } = config;
    this.config = config;
    const samples = lengths.length;
    const bounds =
      4 * (buckets.tag === 'boundaries' ? buckets.val.length : buckets.tag === 'quantiles' ? buckets.val : 0);
    // Every window may take over all samples of those before.
    const carried = 4 * samples * Math.ceil(samples / (window || 8192));
    // Nobody knows of how many parts, before they are made.
    const parts = tooLong === 'split' ? ALONE : 0;
    this.size = 8192 + 96 * samples + tableSize(order, BigInt(samples)) + 64 * world + bounds + carried + parts;
  }

  get cause(): readonly [string, string] {
    return ['lengths', `${this.config.lengths.length} of them`];
  }

  with(epoch: bigint): BatcherRecipe {
    return new BatcherRecipe({ ...this.config, epoch });
  }

  make(bindings: BatchingBindings): RawBatcher {
    return bindings.batcher(this.config);
  }
}

/** What decides a stream of batches. What was pushed is in its instance alone, which it therefore has for itself. */
export class BatchStreamRecipe implements Recipe<BatchingBindings, RawBatchStream> {
  readonly config: RawBatchConfig;
  readonly rank: number;
  readonly size = ALONE;
  readonly cause = ['samples', ''] as const;
  readonly lost = 'a call of this stream did not come to its end, and what was pushed is lost: make another stream';

  constructor(config: RawBatchConfig, rank: number) {
    this.config = config;
    this.rank = rank;
  }

  make(bindings: BatchingBindings): RawBatchStream {
    return bindings.stream(this.config, this.rank);
  }
}

/** The configuration of options whose names are known, with what the strategy takes where nothing is given. */
export function configured(lengths: Uint32Array<ArrayBuffer>, given: BatcherOptions): RawBatchConfig {
  const {
    seed = 0,
    epoch = 0,
    order = 'feistel',
    world = 1,
    strategy: named = 'budget',
    counting = 'padded',
    linear = 1,
    quadratic = 0,
    multiple = 1,
    packing = 'fast',
    window = 8192,
    tooLong = 'error',
    tail = 'keep',
  } = given;
  const strategy = oneOf('strategy', named, STRATEGIES);
  const rows = where(given.maxBatchSize, (value) => natural32('max-batch-size', value, U32));
  const longest = where(given.maxLength, (value) => natural32('max-length', value, U32));
  const tokens = where(given.budget, (value) => integer('budget', value, U64));
  const room = where(given.capacity, (value) => natural32('capacity', value, FROM_ONE));
  let [budget, capacity] = [tokens ?? 0n, room ?? 0];
  if (strategy === 'budget' && tokens === undefined) {
    if (rows === undefined || longest === undefined) {
      fail('missing', 'budget', '', 'what a batch may cost, or maxBatchSize and maxLength');
    }
    budget = BigInt(rows) * BigInt(longest);
  }
  if (strategy === 'pack' && room === undefined) {
    if (longest === undefined) fail('missing', 'capacity', '', 'the tokens of a row, or maxLength');
    capacity = longest;
  }
  return {
    lengths,
    seed: integer('seed', seed, S64),
    epoch: integer('epoch', epoch, U64),
    order: string('order', order),
    world: natural32('world', world, WORLD),
    strategy,
    maxBatchSize: rows ?? { budget: 0, pack: 1, bucket: 32, 'pad-to-max': 32 }[strategy],
    maxLength: longest ?? Number(U32[1]),
    budget,
    counting: oneOf('counting', counting, COUNTINGS),
    linear: natural32('linear', linear, U32),
    quadratic: natural32('quadratic', quadratic, U32),
    multiple: natural32('multiple', multiple, FROM_ONE),
    capacity,
    packing: oneOf('packing', packing, PACKINGS),
    buckets: bucketsOf(given),
    window: natural32('window', window, U32),
    tooLong: oneOf('too-long', tooLong, TOO_LONG),
    tail: oneOf('tail', tail, TAILS),
  };
}

/** The rank of a batcher, below `world` as far as that is one. */
export const rankBelow = (rank: unknown, world: number): number =>
  Number(integer('rank', rank, [0n, BigInt(Math.max(world, 1)) - 1n]));

/** The options that make an equal one. */
export function optionsOf(config: RawBatchConfig, rank: number): BatcherConfig {
  const { lengths, buckets, seed, epoch, budget, ...others } = config;
  const name = buckets.tag === 'bucket-width' ? 'bucketWidth' : buckets.tag;
  const value = typeof buckets.val === 'number' ? buckets.val : Array.from(buckets.val);
  return { seed: plain(seed), epoch: plain(epoch), rank, budget: plain(budget), ...others, [name]: value };
}

/** The same as they are written in a program, without what the strategy does not have. */
export function sourceOf(options: Partial<BatcherConfig>): string {
  const settings = Object.entries(options).flatMap(([name, value]) => {
    if (name === 'capacity' && value === 0) return [];
    if (Array.isArray(value)) return [`${name}: ${shown(value, 16)}`];
    return [`${name}: ${typeof value === 'string' ? `'${value}'` : source(BigInt(value as number | bigint))}`];
  });
  return `{ ${settings.join(', ')} }`;
}

/** The one way that is given. */
function bucketsOf({ bucketWidth, boundaries, quantiles }: BatcherOptions): RawBuckets {
  const given = Object.entries({ bucketWidth, boundaries, quantiles }).filter(([, value]) => value !== undefined);
  const [first, second] = given;
  if (first && second) {
    const field = first[0] === 'bucketWidth' ? 'bucket-width' : first[0];
    fail('contradiction', field, first[1], `none, where ${second[0]} is given`);
  }
  if (boundaries !== undefined) return { tag: 'boundaries', val: words32('boundaries', boundaries, U32) };
  if (quantiles !== undefined) return { tag: 'quantiles', val: natural32('quantiles', quantiles, QUANTILES) };
  return {
    tag: 'bucket-width',
    val: natural32('bucket-width', bucketWidth === undefined ? 64 : bucketWidth, FROM_ONE),
  };
}

function where<T, R>(value: T | undefined, check: (value: T) => R): R | undefined {
  return value === undefined ? undefined : check(value);
}
