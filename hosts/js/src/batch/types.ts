import type { Order } from '../order/order.js';
import type { Integer, Integers, OrderName, RecipeOptions } from '../types.js';

/**
 * The length of every sample, in tokens. With a blend of different datasets (the index space `joined`) as the order, also the lengths of each
 * source, by its name.
 */
export type Lengths = Integers | Readonly<Record<string, Integers>> | ReadonlyMap<string, Integers>;

/**
 * How samples become batches. `budget`: as many samples of similar length as `maxTokens` or `maxCost` allows. `bucket`:
 * `maxBatchSize` samples of one bucket of lengths, or fewer if `maxTokens` or `maxCost` does not allow so many. `pack`:
 * `maxBatchSize` rows of `capacity` tokens; several samples share a row. `pad-to-max`: `maxBatchSize` samples in the order of
 * the epoch.
 */
export type Strategy = 'budget' | 'bucket' | 'pack' | 'pad-to-max';

/**
 * What a sample counts. `padded`: the length of the longest sample of its batch. `unpadded`: its own length. `weighted`:
 * `linear` * length + `quadratic` * length^2. `maxTokens` limits the first two, `maxCost` the third.
 */
export type Counting = 'padded' | 'unpadded' | 'weighted';

/**
 * How much work goes into finding few rows. `fast`: about as fast as sorting. `optimal`: the best result of several methods,
 * with a lower bound on the number of rows (`packsBound` of the metrics).
 */
export type Packing = 'fast' | 'optimal';

/**
 * What happens to samples that are longer than `maxLength`, or than the limit of a batch or of a row allows. `error`: there is
 * no plan. `truncate`: their beginning is kept. `drop`: they are left out. `split`: they become several items. `single`: each is
 * a batch of its own, whatever it costs.
 */
export type TooLong = 'error' | 'truncate' | 'drop' | 'split' | 'single';

/**
 * What happens to the last samples of the epoch, if they do not fill a step. `even-split`: they make a smaller step; if a step has
 * fewer items than ranks, it borrows items from another step, or packs are split. `drop`: they are left out. `keep`: they make a
 * smaller step; if a step has fewer items than ranks, some of its batches are empty. `duplicate`: some samples are repeated, until
 * every rank has the same number of rows.
 */
export type Tail = 'even-split' | 'drop' | 'keep' | 'duplicate';

/**
 * What decides the batches of a stream. An option that the strategy or the counting does not use is an error, also if it has its
 * default value.
 */
export interface BatchStreamOptions {
  /** Seed of the order of steps: any 64-bit signed integer, as a `bigint` beyond 2^53 - 1. Default 0. */
  seed?: Integer;
  /** Number of the epoch: 0 to 2^64 - 1, as a `bigint` beyond 2^53 - 1. Default 0. */
  epoch?: Integer;
  /** Which rank iteration answers for: 0 to `worldSize` - 1. Default 0. */
  rank?: Integer;
  /** How many data-parallel ranks there are: 1 to 2^20. Default 1. */
  worldSize?: Integer;
  /** How samples become batches. Default `budget`. */
  strategy?: Strategy;
  /** What a sample counts. Default `padded`. */
  counting?: Counting;
  /** What a token costs, with `weighted`: 0 to 2^32 - 1. Default 1. */
  linear?: Integer;
  /** What a pair of tokens costs, with `weighted`: 0 to 2^32 - 1. Default 0. */
  quadratic?: Integer;
  /** The most rows of a batch: 0 to 2^32 - 1. 0 is no limit, which needs `maxTokens` or `maxCost`. Default 0 if one of these
   * limits the batch, 1 with `pack`, else 32. */
  maxBatchSize?: Integer;
  /** The most tokens of a sample: 0 to 2^32 - 1. Default: no limit. */
  maxLength?: Integer;
  /**
   * The most tokens of a batch, with `budget` and `bucket`: 1 to 2^64 - 1, as a `bigint` beyond 2^53 - 1. With the counting
   * `padded`, padding counts too. Default with `budget`: `maxBatchSize` * `maxLength`, and it is needed if one of them is
   * missing. Default with `bucket`: no limit.
   */
  maxTokens?: Integer;
  /** The most that a batch may cost, in place of `maxTokens`, with the counting `weighted`. Needed with `budget`. */
  maxCost?: Integer;
  /** The number of samples of a batch is a multiple of this, if it is greater than this: 1 to 2^32 - 1. Used with `bucket`, and
   * with `budget` and the counting `padded`; not used at the end of the epoch. Default 1. */
  batchSizeMultiple?: Integer;
  /** Tokens of a row, with `pack`: 1 to 2^32 - 1. Default `maxLength`, and needed if that is missing. */
  capacity?: Integer;
  /** How much work goes into finding few rows, with `pack`, and with `budget` and a counting that is not `padded`. Default `fast`. */
  packing?: Packing;
  /** Buckets of equal width, with `bucket`: 1 to 2^32 - 1 tokens each. Default of a stream 64. */
  bucketWidth?: Integer;
  /** Or the greatest length of each bucket, ascending; longer samples are in one more bucket. */
  boundaries?: Integers;
  /**
   * How many samples are looked at together. A larger window makes fuller batches; a smaller one keeps more of the order. 0 takes
   * samples as they come. Range: 0 to 2^32 - 1, for a stream to 2^24. Default: the samples of 64 steps of average batches, at least
   * 8,192. It follows `worldSize`; after a resume with another number of ranks, each segment has its own. Default of a stream 8,192.
   */
  batchWindow?: Integer;
  /** What happens to samples that are too long; with `error`, `push` of a stream fails. Default `error`. */
  tooLong?: TooLong;
  /** What happens to samples that do not fill a step at the end of the epoch. Default `even-split`. */
  tail?: Tail;
}

/** What decides the batches of an epoch, but the lengths. */
export interface BatcherOptions extends BatchStreamOptions {
  /**
   * The order of the epoch: one of `orders()`, an order that `blend`, `sharded` and others made, or the section `order` of a recipe. An order that
   * was made has its own seed, which is that of the order of steps too; `seed` is then no option. Default `feistel`.
   */
  order?: OrderName | Order | Readonly<Record<string, unknown>>;
  /** The number of buckets, in place of `bucketWidth` or `boundaries`: 1 to 2^20. Each gets the same number of samples, as far as
   * equal lengths allow. Default without any of the three: 64 buckets that have the same number of tokens each. */
  quantiles?: Integer;
  /**
   * The steps of this epoch that were taken before, segment by segment: the plan is of what they leave. `resume` takes it from a
   * state. At most 4,096 segments. Default: none.
   */
  history?: readonly Readonly<Record<keyof Segment, Integer>>[];
}

/** Steps that a group of ranks took. */
export interface Segment {
  /** How many ranks there were: 1 to 2^20. */
  worldSize: number;
  /** How many steps each of them took of its plan. */
  steps: number;
}

/** What the recipe of a stream does not say. `boundaries`: needed if the recipe has their hash. */
export type BatchStreamRecipeOptions = Pick<BatchStreamOptions, 'rank' | 'epoch' | 'boundaries'>;

/** What the recipe of a batcher does not say. `boundaries`, `sizes`, `lists`: needed if the recipe has their hash. */
export type BatcherRecipeOptions = Pick<BatcherOptions, 'rank' | 'epoch' | 'history' | 'boundaries'> &
  Pick<RecipeOptions, 'sizes' | 'lists'>;

/** What a state does not say: the ranks that go on, and lists of which it has the hash. */
export type BatcherStateOptions = Pick<BatcherOptions, 'rank' | 'worldSize' | 'boundaries'> &
  Pick<RecipeOptions, 'sizes' | 'lists'>;

/** Options that have a value whatever the strategy is. */
type Always = 'seed' | 'epoch' | 'rank' | 'worldSize' | 'strategy' | 'counting' | 'maxBatchSize' | 'tooLong' | 'tail';

/** All options of a stream that its strategy uses, with their defaults. */
export type BatchStreamConfig = BatchStreamOptions & Required<Pick<BatchStreamOptions, Always>>;

/** All options of a batcher that its strategy uses, with their defaults. There is no `seed` if the order was made. */
export type BatcherConfig = Omit<BatcherOptions, 'history'> &
  Required<Pick<BatcherOptions, Exclude<Always, 'seed'> | 'order'>> & { history: Segment[] };

/** A stream in JSON: its recipe, and what that does not say. */
export interface BatchStreamJson {
  recipe: string;
  /** If they were not in the recipe. */
  boundaries?: number[];
  /** The epoch as a decimal string, since it may have 64 bits. Default 0. */
  epoch?: string;
  /** Default 0. */
  rank?: number;
}

/** A batcher in the same form. */
export interface BatcherJson extends BatchStreamJson {
  /** If they were not in the recipe. */
  lengths?: number[];
  /** Samples in each shard, if they were not in the recipe. */
  sizes?: number[];
  /** Lists of composed orders that were not in the recipe, by the paths of their members. */
  lists?: Record<string, number[]>;
  /** Default: none. */
  history?: Segment[];
}

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
  /** What the batch counts of `maxTokens`, or of `maxCost`; a `bigint` beyond 2^53 - 1. */
  cost: Integer;
  /** How many rows at its end are repeated from another batch, to fill the step. */
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
  indexInRow: number;
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
  /** The width is rounded up to a multiple of this. Default 1. */
  padToMultipleOf?: Integer;
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
