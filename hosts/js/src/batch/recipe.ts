import type { BatchingBindings, RawBatcher, RawBatchStream } from '../bindings/types.js';
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
} from '../checks.js';
import { tableSize } from '../deal/recipe.js';
import { ALONE, type Recipe } from '../engine.js';
import type { BatchConfig, Buckets, Stretch as RawStretch } from '../jco/interfaces/samedeal-deal-batches.js';
import { type Integers, words32 } from '../lists.js';
import { type Checks, checked, fromJson, namesIn, plain, settings } from '../options.js';
import type {
  BatcherConfig,
  BatcherJson,
  BatcherOptions,
  Counting,
  Packing,
  Strategy,
  Stretch,
  Tail,
  TooLong,
} from './types.js';

/** The names in the order of `wit/batches.wit`. */
const STRATEGIES: readonly Strategy[] = ['pad-to-max', 'bucket', 'budget', 'pack'];
const COUNTINGS: readonly Counting[] = ['padded', 'unpadded', 'weighted'];
const PACKINGS: readonly Packing[] = ['fast', 'optimal'];
const TOO_LONG: readonly TooLong[] = ['error', 'truncate', 'drop', 'split', 'single'];
const TAILS: readonly Tail[] = ['drop', 'keep', 'even-split', 'duplicate'];

/** For worlds, and for quantiles. */
const UP_TO_2_20: Range = [1n, 2n ** 20n];
/** More stretches than the engine takes, which it tells. */
const MOST_STRETCHES = 65;

/** Each way to say what a bucket is. */
interface RawBuckets {
  bucketWidth: number;
  boundaries: Uint32Array;
  quantiles: number;
}
type RawOptions = Required<Omit<BatchConfig, 'lengths' | 'buckets'>> & RawBuckets;

/** Every option but the rank; a stream has no `order`, `quantiles` and `history`. */
const CHECKS: Checks<RawOptions> = {
  seed: (value) => integer('seed', value, S64),
  epoch: (value) => integer('epoch', value, U64),
  world: (value) => natural32('world', value, UP_TO_2_20),
  strategy: (value) => oneOf('strategy', value, STRATEGIES),
  maxBatchSize: (value) => natural32('max-batch-size', value, U32),
  maxLength: (value) => natural32('max-length', value, U32),
  budget: (value) => integer('budget', value, U64),
  counting: (value) => oneOf('counting', value, COUNTINGS),
  linear: (value) => natural32('linear', value, U32),
  quadratic: (value) => natural32('quadratic', value, U32),
  multiple: (value) => natural32('multiple', value, FROM_ONE),
  capacity: (value) => natural32('capacity', value, FROM_ONE),
  packing: (value) => oneOf('packing', value, PACKINGS),
  bucketWidth: (value) => natural32('bucket-width', value, FROM_ONE),
  boundaries: (value) => words32('boundaries', value, U32),
  window: (value) => natural32('window', value, U32),
  tooLong: (value) => oneOf('too-long', value, TOO_LONG),
  tail: (value) => oneOf('tail', value, TAILS),
  order: (value) => string('order', value),
  quantiles: (value) => natural32('quantiles', value, UP_TO_2_20),
  history: historyOf,
};
/** The defaults that no strategy changes. */
const USUAL = {
  seed: 0,
  epoch: 0,
  world: 1,
  strategy: 'budget',
  counting: 'padded',
  linear: 1,
  quadratic: 0,
  multiple: 1,
  packing: 'fast',
  tooLong: 'error',
  tail: 'even-split',
  order: 'feistel',
  history: [],
} as const;

export const BATCHER_OPTIONS = ['rank', ...namesIn(CHECKS)] as const;
export const STREAM_OPTIONS = BATCHER_OPTIONS.filter((name) => {
  return name !== 'order' && name !== 'quantiles' && name !== 'history';
});

/** What decides a batcher, checked as far as it has to be to cross. */
export class BatcherRecipe implements Recipe<BatchingBindings, RawBatcher> {
  readonly config: BatchConfig;
  readonly size: number;

  constructor(config: BatchConfig) {
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
  with(moved: Pick<BatchConfig, 'epoch' | 'history'>): BatcherRecipe {
    return new BatcherRecipe({ ...this.config, ...moved });
  }

  /** The same in an epoch: in another one, of which nothing was taken. */
  inEpoch(epoch: bigint): BatcherRecipe {
    return this.with({ epoch, history: epoch === this.config.epoch ? this.config.history : [] });
  }

  make(bindings: BatchingBindings): RawBatcher {
    return new bindings.batches.Batcher(this.config);
  }
}

/** What decides a stream of batches. What was pushed is in its instance alone, which it therefore has for itself. */
export class BatchStreamRecipe implements Recipe<BatchingBindings, RawBatchStream> {
  readonly config: BatchConfig;
  readonly rank: number;
  readonly size = ALONE;
  readonly cause = ['samples', ''] as const;
  readonly lost = 'a call of this stream did not come to its end, and what was pushed is lost: make another stream';

  constructor(config: BatchConfig, rank: number) {
    this.config = config;
    this.rank = rank;
  }

  make({ batches, room }: BatchingBindings): RawBatchStream {
    return Object.assign(new batches.BatchStream(this.config, this.rank), { room });
  }
}

/** The configuration of options whose names are known, with what the strategy takes where nothing is given. */
export function configured(lengths: Uint32Array, given: BatcherOptions): BatchConfig {
  const found = checked(CHECKS, given, USUAL);
  const { bucketWidth, boundaries, quantiles, maxBatchSize, maxLength, budget, capacity, ...others } = found;
  const { strategy, counting, linear, quadratic, multiple, packing } = others;
  const needs = { budget: budget ?? 0n, capacity: capacity ?? 0 };
  if (strategy === 'budget' && budget === undefined) {
    if (maxBatchSize === undefined || maxLength === undefined) {
      fail('missing', 'budget', '', 'what a batch may cost, or maxBatchSize and maxLength');
    }
    needs.budget = BigInt(maxBatchSize) * BigInt(maxLength);
  }
  if (strategy === 'pack' && capacity === undefined) {
    if (maxLength === undefined) fail('missing', 'capacity', '', 'the tokens of a row, or maxLength');
    needs.capacity = maxLength;
  }
  const buckets = bucketsOf(given, found);
  const chosen = { linear, quadratic, multiple, capacity: capacity || undefined, packing };
  refuseUnused(strategy, counting, { ...(buckets && { [buckets.tag]: buckets.val }), ...chosen });
  return {
    lengths,
    maxBatchSize: maxBatchSize ?? { budget: 0, pack: 1, bucket: budget ? 0 : 32, 'pad-to-max': 32 }[strategy],
    maxLength: maxLength ?? Number(U32[1]),
    ...needs,
    ...(buckets && { buckets }),
    ...others,
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
    if (value === undefined || value === USUAL[option as keyof typeof USUAL] || used) continue;
    const there = uses.map(named).join(' or ');
    fail('contradiction', option, value, `none with ${named([strategy, counting])}; it is for ${there}`);
  }
}

function named([strategy, counting]: Use): string {
  const parts = Object.entries({ strategy, counting }).filter(([, value]) => value !== undefined);
  return parts.map(([name, value]) => `${name} ${value}`).join(' with ');
}

/** The rank of a batcher, below `world` as far as that is one. */
export const rankBelow = (rank: unknown, world: number): number =>
  Number(integer('rank', rank, [0n, BigInt(Math.max(world, 1)) - 1n]));

/** The options that make an equal one. */
export function optionsOf(config: BatchConfig, rank: number): BatcherConfig {
  const { lengths, buckets, window, seed, epoch, budget, history, ...others } = config;
  const first = { seed: plain(seed), epoch: plain(epoch), rank, budget: plain(budget) };
  const options: BatcherConfig = { ...first, ...others, history: stretches(history) };
  if (window !== undefined) options.window = window;
  if (buckets === undefined) return options;
  const name = buckets.tag === 'bucket-width' ? 'bucketWidth' : buckets.tag;
  return { ...options, [name]: typeof buckets.val === 'number' ? buckets.val : Array.from(buckets.val) };
}

/** Of options in JSON. */
export function ofJson(json: BatcherJson): [lengths: Integers, options: BatcherOptions] {
  const { lengths, ...others } = fromJson(json, [...BATCHER_OPTIONS, 'lengths']);
  return [lengths as Integers, others as BatcherOptions];
}

/** The same as they are written in a program, without what the strategy does not have. */
export function sourceOf({ history = [], ...options }: Partial<BatcherConfig>): string {
  const parts = settings(options).filter((part) => part !== 'capacity: 0');
  if (history.length > 0) parts.push(`history: ${historySource(history)}`);
  return `{ ${parts.join(', ')} }`;
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
    return { world: natural32('history', world, UP_TO_2_20), steps: natural('history', steps) };
  });
}

const TAGS = { bucketWidth: 'bucket-width', boundaries: 'boundaries', quantiles: 'quantiles' } as const;

/** The one way that is given, if one is. */
function bucketsOf(given: BatcherOptions, found: Partial<RawBuckets>): Buckets | undefined {
  const [first, second] = (Object.keys(TAGS) as (keyof RawBuckets)[]).filter((name) => given[name] !== undefined);
  if (first && second) fail('contradiction', TAGS[first], given[first], `none, where ${second} is given`);
  return first && ({ tag: TAGS[first], val: found[first] } as Buckets);
}
