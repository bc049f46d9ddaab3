import type { Integers } from '../lists.js';
import type { Integer } from '../types.js';

/**
 * How samples become batches. `pad-to-max`: `maxBatchSize` of them in the order of the epoch. `bucket`: `maxBatchSize` of
 * one bucket of lengths, or fewer where `budget` says so. `budget`: as many of similar length as `budget` allows. `pack`:
 * `maxBatchSize` rows of `capacity` tokens, which samples share.
 */
export type Strategy = 'pad-to-max' | 'bucket' | 'budget' | 'pack';

/**
 * What a sample costs of the budget. `padded`: the length of the longest of its batch. `unpadded`: its own length.
 * `weighted`: `linear` * length + `quadratic` * length^2.
 */
export type Counting = 'padded' | 'unpadded' | 'weighted';

/**
 * How hard to look for few rows. `fast`: about as fast as sorting. `optimal`: the best of several ways, with a bound that
 * no other can be better than (`packsBound` of the metrics).
 */
export type Packing = 'fast' | 'optimal';

/**
 * What happens to samples that are longer than `maxLength`, or than a budget or a capacity alone allows. `error`: there is
 * no plan. `truncate`: their beginning is kept. `drop`: they are left out. `split`: they become several items. `single`:
 * each is a batch by itself, whatever it costs.
 */
export type TooLong = 'error' | 'truncate' | 'drop' | 'split' | 'single';

/**
 * What happens at the end of the epoch to samples that do not fill a step. `drop`: they are left out. `keep`: they make a
 * smaller step; where there are fewer than ranks, some batches are empty. `even-split`: the same, but where there are fewer
 * than ranks, another step gives some of its own, or packs are split, so that no batch is empty where there are as many
 * samples as ranks. `duplicate`: some are given again, until every rank
 * has as many rows.
 */
export type Tail = 'drop' | 'keep' | 'even-split' | 'duplicate';

/** What decides batches of samples that come in an order of their own. */
export interface BatchStreamOptions {
  /** Seed of the order of steps: any 64-bit signed integer, as a `bigint` beyond 2^53 - 1. Default 0. */
  seed?: Integer;
  /** Number of the epoch: 0 to 2^64 - 1, as a `bigint` beyond 2^53 - 1. Default 0. */
  epoch?: Integer;
  /** Which rank iteration answers for: 0 to `world` - 1. Default 0. */
  rank?: Integer;
  /** How many data-parallel ranks there are: 1 to 2^20. Default 1. */
  world?: Integer;
  /** How samples become batches. Default `budget`. */
  strategy?: Strategy;
  /** The most rows of a batch. Default 32, with `pack` 1, with `budget` 0 for no bound. */
  maxBatchSize?: Integer;
  /** The most tokens of a sample: 0 to 2^32 - 1. Default 2^32 - 1. */
  maxLength?: Integer;
  /**
   * What a batch may cost: 1 to 2^64 - 1, as a `bigint` beyond 2^53 - 1. With `budget`, by default `maxBatchSize` *
   * `maxLength`, and needed where one of them is not given; with `bucket`, by default 0 for no bound.
   */
  budget?: Integer;
  /** What a sample costs of the budget. Default `padded`. */
  counting?: Counting;
  /** What a token costs, with `weighted`: 0 to 2^32 - 1. Default 1. */
  linear?: Integer;
  /** What a pair of tokens costs, with `weighted`: 0 to 2^32 - 1. Default 0. */
  quadratic?: Integer;
  /** Batches have a multiple of so many samples where they have more than that, with `bucket`, and with a `budget` that counts
   * padding; not at the end of the epoch. Default 1. */
  multiple?: Integer;
  /** Tokens of a row, with `pack`: 1 to 2^32 - 1. Default `maxLength`, and needed where that is not given. */
  capacity?: Integer;
  /** How hard to look for few rows, with `pack`, and with budgets that do not count padding. Default `fast`. */
  packing?: Packing;
  /** Buckets of equal width, with `bucket`: 1 to 2^32 - 1 tokens each. Default of a stream 64. */
  bucketWidth?: Integer;
  /** Or the greatest length of each bucket, ascending; longer samples are in one more. */
  boundaries?: Integers;
  /**
   * How many samples are looked at together: more of them make batches fuller, fewer leave more of the order. 0 takes them
   * as they come. 0 to 2^32 - 1, for a stream to 2^24. By default as many as 64 steps of average batches take, and at least
   * 8,192: it follows `world`, and after a resume on another world each of the worlds has its own. Default of a stream 8192.
   */
  window?: Integer;
  /** What happens to samples that are too long; `push` of a stream fails with `error`. Default `error`. */
  tooLong?: TooLong;
  /** What happens to samples that do not fill a step at the end of the epoch. Default `even-split`. */
  tail?: Tail;
}

/** Everything that decides batches but the lengths. */
export interface BatcherOptions extends BatchStreamOptions {
  /** The order of the epoch, one of `orders()`. Its seed is that of the order of steps. Default `feistel`. */
  order?: string;
  /** Or so many buckets of as many samples each, as far as equal lengths allow: 1 to 2^20. Without any of the three, 64
   * buckets of as many tokens each. */
  quantiles?: Integer;
  /**
   * What was taken of this epoch before, by one world after the other, up to 64 of them: what they leave is planned.
   * `resume` takes it from a state. Default none.
   */
  history?: readonly Readonly<Record<keyof Stretch, Integer>>[];
}

/** Steps that a world took. */
export interface Stretch {
  /** How many ranks there were: 1 to 2^20. */
  world: number;
  /** How many steps each of them took of its plan. */
  steps: number;
}

type Buckets = 'bucketWidth' | 'boundaries' | 'quantiles';

/** Options that have no value where none is given: what stands then follows the lengths and the world. */
type Following = Buckets | 'window';

/** All options of a stream, with the defaults of its strategy; a window and buckets only where they were given. */
export type BatchStreamConfig = Required<Omit<BatchStreamOptions, Following>> &
  Pick<BatchStreamOptions, 'bucketWidth' | 'boundaries' | 'window'>;

/** All options of a batcher, with the defaults of its strategy; a window and buckets only where they were given. */
export type BatcherConfig = Required<Omit<BatcherOptions, Following | 'history'>> &
  Pick<BatcherOptions, Following> & { history: Stretch[] };

type Wide = 'seed' | 'epoch' | 'budget';
/** Lists as arrays, and numbers of 64 bits as decimal strings. */
type OfJson<C> = Omit<C, Wide | 'boundaries'> & Record<Wide, string> & { boundaries?: number[] };

/** A batcher as this package writes it in JSON: numbers of 64 bits as decimal strings, so that no reader rounds them. */
export type BatcherJson = OfJson<BatcherConfig> & { lengths: number[] };

/** The options of a stream in the same form. */
export type BatchStreamJson = OfJson<BatchStreamConfig>;

/**
 * One batch of one rank. An *item* is a sample, or a part of one where `tooLong` is `split`. A *row* is an item, or several
 * with the strategy `pack`.
 */
export interface Batch {
  /** The sample of every item. */
  samples: Float64Array<ArrayBuffer>;
  /** Where in its sample each item begins, in tokens: 0 unless it is a part. */
  starts: Uint32Array<ArrayBuffer>;
  /** The tokens of each item. */
  lengths: Uint32Array<ArrayBuffer>;
  /** Where the items of each row end: row i holds those from `rowEnds[i - 1]` (0 for the first) on. */
  rowEnds: Uint32Array<ArrayBuffer>;
  /** Tokens of each row, padding included. */
  paddedLength: number;
  /** What the batch costs of its budget; a `bigint` where it is beyond 2^53 - 1. */
  cost: Integer;
  /** How many rows at its end are there to fill the step: another batch holds them too. */
  repeated: number;
}

/** Where an item of a sample is. */
export interface BatchPlace {
  /** Number of the step. */
  step: number;
  /** Whose batch it is. */
  rank: number;
  /** Number of the row in that batch. */
  row: number;
  /** Number of the item in that row. */
  slot: number;
  /** Where in the sample the item begins, in tokens: 0 unless it is a part. */
  start: number;
}

/** On which side of a row the padding is. */
export type Side = 'right' | 'left';

/** Tokens of one type. */
export type Tokens =
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array
  | BigInt64Array
  | BigUint64Array;

/** How sequences become an array. */
export interface CollateOptions {
  /**
   * Where each sequence begins, and where the last one ends: one number more than there are. Then the sequences are one
   * typed array, all tokens end to end.
   */
  offsets?: Integers;
  /** What is where no token is: a value of their type. Default 0. */
  paddingValue?: Integer;
}

/** How sequences are padded. */
export interface PadOptions extends CollateOptions {
  /** On which side of a row the padding is. Default `right`. */
  side?: Side;
  /** The width is rounded up to a multiple of it. Default 1. */
  multiple?: Integer;
  /** A width, in place of that of the longest sequence. */
  width?: Integer;
}

/** How sequences are packed. */
export interface PackOptions extends CollateOptions {
  /** How many sequences there are up to the end of each row, such as `rowEnds` of a batch. Default: all in one row. */
  rowEnds?: Integers;
  /** Cells of a row, such as `paddedLength` of a batch. Default: as many as the fullest row has tokens. */
  width?: Integer;
}

/** A row for each sequence. */
export interface Padded<T extends Tokens> {
  /** Rows * width cells, row by row, of the type of the sequences. */
  values: T;
  /** For every cell, 1 where a token is, else 0. */
  attentionMask: Uint8Array<ArrayBuffer>;
  /** How many rows there are. */
  rows: number;
  /** Cells of a row. */
  width: number;
}

/** Rows that sequences share. */
export interface Packed<T extends Tokens> {
  /** Rows * width cells, row by row, of the type of the sequences. */
  values: T;
  /** For every cell, its place in its sequence; 0 where it is padding. */
  positionIds: Int32Array<ArrayBuffer>;
  /** For every cell, which sequence of its row it belongs to, from 1; 0 where it is padding. */
  segmentIds: Int32Array<ArrayBuffer>;
  /** Where each sequence begins if all are laid end to end without padding, and where the last one ends. */
  cuSeqlens: Int32Array<ArrayBuffer>;
  /** The longest of them. */
  maxSeqlen: number;
  /** How many rows there are. */
  rows: number;
  /** Cells of a row. */
  width: number;
}
