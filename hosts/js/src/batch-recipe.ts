import {
  type BatchingBindings,
  COUNTINGS,
  PACKINGS,
  type RawBatchConfig,
  type RawBatcher,
  type RawBatchStream,
  type RawBuckets,
  type RawStretch,
  STRATEGIES,
  TAILS,
  TOO_LONG,
} from './batch-raw.js';
import type {
  BatcherConfig,
  BatcherJson,
  BatcherOptions,
  BatchStreamConfig,
  Counting,
  Strategy,
  Stretch,
} from './batch-types.js';
import {
  FROM_ONE,
  fail,
  integer,
  natural,
  natural32,
  oneOf,
  options,
  type Range,
  S64,
  string,
  U32,
  U64,
} from './checks.js';
import { decimal, plain, source, tableSize } from './config.js';
import { ALONE, type Recipe } from './engine.js';
import { type Integers, shown, words32 } from './lists.js';

/** The options of a stream; a batcher has some more. */
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
export const BATCHER_OPTIONS = [...STREAM_OPTIONS, 'order', 'quantiles', 'history'] as const;

const WORLD: Range = [1n, 2n ** 20n];
const QUANTILES: Range = [1n, 2n ** 20n];
/** More stretches than the engine takes, which it tells. */
const MOST_STRETCHES = 65;

/** What decides a batcher, checked as far as it has to be to cross. */
export class BatcherRecipe implements Recipe<BatchingBindings, RawBatcher> {
  readonly config: RawBatchConfig;
  readonly size: number;

  constructor(config: RawBatchConfig) {
    const { lengths, order, tooLong, buckets, window, history } = config;
    this.config = config;
    const samples = lengths.length;
    const bounds =
      4 * (buckets?.tag === 'boundaries' ? buckets.val.length : buckets?.tag === 'quantiles' ? buckets.val : 0);
    // A window may take over all samples of those before, but brings at least an eighth as many.
    const carried = 4 * samples * Math.min(8, Math.ceil(samples / (window || 8192)));
    // Nobody knows of how many parts, before they are made.
    const parts = tooLong === 'split' ? ALONE : 0;
    // Of what a history leaves, two lists and marks, whoever comes to have one.
    const each = 96 + 12;
    const world = Math.max(config.world, ...history.map((past) => past.world));
    this.size = 8192 + each * samples + tableSize(order, BigInt(samples)) + 64 * world + bounds + carried + parts;
  }

  get cause(): readonly [string, string] {
    return ['lengths', `${this.config.lengths.length} of them`];
  }

  /** The same at another place of an epoch. */
  with(moved: Pick<RawBatchConfig, 'epoch' | 'history'>): BatcherRecipe {
    return new BatcherRecipe({ ...this.config, ...moved });
  }

  /** The same in an epoch: in another one, of which nothing was taken. */
  inEpoch(epoch: bigint): BatcherRecipe {
    return this.with({ epoch, history: epoch === this.config.epoch ? this.config.history : [] });
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
    tooLong = 'error',
    tail = 'even-split',
    history = [],
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
  const counted = oneOf('counting', counting, COUNTINGS);
  const found = {
    linear: natural32('linear', linear, U32),
    quadratic: natural32('quadratic', quadratic, U32),
    multiple: natural32('multiple', multiple, FROM_ONE),
    packing: oneOf('packing', packing, PACKINGS),
  };
  const buckets = bucketsOf(given);
  const window = where(given.window, (value) => natural32('window', value, U32));
  refuseUnused(strategy, counted, {
    ...(buckets && { [buckets.tag]: buckets.val }),
    linear: unless(found.linear, 1),
    quadratic: unless(found.quadratic, 0),
    multiple: unless(found.multiple, 1),
    capacity: room || undefined,
    packing: unless(found.packing, 'fast'),
  });
  return {
    lengths,
    seed: integer('seed', seed, S64),
    epoch: integer('epoch', epoch, U64),
    order: string('order', order),
    world: natural32('world', world, WORLD),
    strategy,
    maxBatchSize: rows ?? { budget: 0, pack: 1, bucket: tokens ? 0 : 32, 'pad-to-max': 32 }[strategy],
    maxLength: longest ?? Number(U32[1]),
    budget,
    counting: counted,
    ...found,
    ...(buckets && { buckets }),
    ...(window !== undefined && { window }),
    capacity,
    tooLong: oneOf('too-long', tooLong, TOO_LONG),
    tail: oneOf('tail', tail, TAILS),
    history: historyOf(history),
  };
}

/** A strategy and a counting that look at an option; none is any. */
type Use = readonly [Strategy | undefined, Counting | undefined];
const BUCKET: Use = ['bucket', undefined];
const PACK: Use = ['pack', undefined];
const WEIGHTED: Use = [undefined, 'weighted'];

/** Which strategies and countings look at an option: what has no effect is refused. */
const USES: Readonly<Record<string, readonly Use[]>> = {
  'bucket-width': [BUCKET],
  boundaries: [BUCKET],
  quantiles: [BUCKET],
  linear: [WEIGHTED],
  quadratic: [WEIGHTED],
  multiple: [BUCKET, ['budget', 'padded']],
  capacity: [PACK],
  packing: [PACK, ['budget', 'unpadded'], ['budget', 'weighted']],
};

/** Fails where an option has no effect that is not what stands without it. */
function refuseUnused(strategy: Strategy, counting: Counting, chosen: Record<string, unknown>): void {
  for (const [option, value] of Object.entries(chosen)) {
    const uses = USES[option] ?? [];
    const used = uses.some(([by, of]) => (by ?? strategy) === strategy && (of ?? counting) === counting);
    if (value === undefined || used) continue;
    const there = uses.map(named).join(' or ');
    fail('contradiction', option, value, `none with ${named([strategy, counting])}; it is for ${there}`);
  }
}

function named([strategy, counting]: Use): string {
  const parts = Object.entries({ strategy, counting }).filter(([, value]) => value !== undefined);
  return parts.map(([name, value]) => `${name} ${value}`).join(' with ');
}

const unless = <T>(value: T, usual: T): T | undefined => (value === usual ? undefined : value);

/** The rank of a batcher, below `world` as far as that is one. */
export const rankBelow = (rank: unknown, world: number): number =>
  Number(integer('rank', rank, [0n, BigInt(Math.max(world, 1)) - 1n]));

/** The options that make an equal one. */
export function optionsOf(config: RawBatchConfig, rank: number): BatcherConfig {
  const { lengths, buckets, window, seed, epoch, budget, history, ...others } = config;
  const first = { seed: plain(seed), epoch: plain(epoch), rank, budget: plain(budget) };
  const options: BatcherConfig = { ...first, ...others, history: stretches(history) };
  if (window !== undefined) options.window = window;
  if (buckets === undefined) return options;
  const name = buckets.tag === 'bucket-width' ? 'bucketWidth' : buckets.tag;
  return { ...options, [name]: typeof buckets.val === 'number' ? buckets.val : Array.from(buckets.val) };
}

/** The same in JSON. */
export function optionsJson<C extends BatcherConfig | BatchStreamConfig>(config: C) {
  const { seed, epoch, budget, boundaries, ...others } = config;
  const lists = boundaries === undefined ? {} : { boundaries: Array.from(boundaries, Number) };
  return { seed: String(seed), epoch: String(epoch), budget: String(budget), ...others, ...lists };
}

/** Of the same. */
export function ofJson(json: BatcherJson): [lengths: Integers, options: BatcherOptions] {
  const known = options(json, [...BATCHER_OPTIONS, 'lengths']);
  const { lengths, seed, epoch, budget, ...others } = known;
  const wide = Object.entries({ seed, epoch, budget }).flatMap(([name, value]) => {
    return value === undefined ? [] : [[name, decimal(value)]];
  });
  return [lengths as Integers, { ...others, ...Object.fromEntries(wide) }];
}

/** The same as they are written in a program, without what the strategy does not have. */
export function sourceOf({ history = [], ...options }: Partial<BatcherConfig>): string {
  const settings = Object.entries(options).flatMap(([name, value]) => {
    if (name === 'capacity' && value === 0) return [];
    if (Array.isArray(value)) return [`${name}: ${shown(value, 16)}`];
    return [`${name}: ${typeof value === 'string' ? `'${value}'` : source(BigInt(value as number | bigint))}`];
  });
  if (history.length > 0) settings.push(`history: ${historySource(history)}`);
  return `{ ${settings.join(', ')} }`;
}

/** A history as users see it: a new copy. */
export const stretches = (history: readonly RawStretch[]): Stretch[] =>
  history.map(({ world, steps }) => ({ world, steps: Number(steps) }));

/** The same as it is written in a program. */
export const historySource = (history: readonly (Stretch | RawStretch)[]): string =>
  `[${history.map(({ world, steps }) => `{ world: ${world}, steps: ${steps} }`).join(', ')}]`;

/** Worlds and steps; what they may be is the engine's to know, and what is wrong with one too many. */
function historyOf(given: unknown): RawStretch[] {
  if (!Array.isArray(given)) fail('wrong-type', 'history', given, 'an array of { world, steps }');
  return Array.from(given.slice(0, MOST_STRETCHES), (past: unknown) => {
    if (typeof past !== 'object' || past === null || Array.isArray(past)) {
      fail('wrong-type', 'history', past, 'an array of { world, steps }');
    }
    const { world, steps } = options(past as Stretch, ['world', 'steps']);
    return { world: natural32('history', world, WORLD), steps: natural('history', steps) };
  });
}

/** The one way that is given, if one is. */
function bucketsOf({ bucketWidth, boundaries, quantiles }: BatcherOptions): RawBuckets | undefined {
  const given = Object.entries({ bucketWidth, boundaries, quantiles }).filter(([, value]) => value !== undefined);
  const [first, second] = given;
  if (first && second) {
    const field = first[0] === 'bucketWidth' ? 'bucket-width' : first[0];
    fail('contradiction', field, first[1], `none, where ${second[0]} is given`);
  }
  if (boundaries !== undefined) return { tag: 'boundaries', val: words32('boundaries', boundaries, U32) };
  if (quantiles !== undefined) return { tag: 'quantiles', val: natural32('quantiles', quantiles, QUANTILES) };
  if (bucketWidth === undefined) return undefined;
  return { tag: 'bucket-width', val: natural32('bucket-width', bucketWidth, FROM_ONE) };
}

function where<T, R>(value: T | undefined, check: (value: T) => R): R | undefined {
  return value === undefined ? undefined : check(value);
}
