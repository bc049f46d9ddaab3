import type { BatchDealOptions, BatchingOptions } from '../generated/options.js';
import type { Order } from '../order/order.js';
import type { Integer, Integers, OrderName, RecipeOptions, SavedState } from '../types.js';

/** Lengths that are read only when they are needed, such as the lengths in a file. */
export interface LengthsReader {
  /** Number of samples. */
  readonly length: number;
  /**
   * The lengths of these samples in tokens, one for each sample. A promise of them is allowed with `withLengths` and
   * `for await` only.
   */
  take(samples: Float64Array<ArrayBuffer>): Integers | PromiseLike<Integers>;
}

/**
 * A source of the lengths of all samples, in tokens: a list, which is not copied and must not change; or a reader or a
 * function, which is called for the lengths of some samples. With a function, the order must say how many samples there
 * are.
 */
export type LengthsSource = Integers | LengthsReader | LengthsReader['take'];

/**
 * The length of every sample. If the order is a blend of different datasets (the index space `joined`), the lengths may
 * also be given for each source, by its name.
 */
export type Lengths =
  | LengthsSource
  | Readonly<Record<string, Integers | LengthsReader>>
  | ReadonlyMap<string, Integers | LengthsReader>;

/**
 * The options that decide the batches of a stream. An option that the strategy or the counting does not use is an
 * error, even with its default value.
 */
export interface BatchStreamOptions extends BatchDealOptions, BatchingOptions {
  /** Seed of the order of steps: any 64-bit signed integer, as a `bigint` beyond 2^53 - 1. Default 0. */
  seed?: Integer;
  /** Number of the epoch: 0 to 2^64 - 1, as a `bigint` beyond 2^53 - 1. Default 0. */
  epoch?: Integer;
  /** The rank whose batches an iteration returns: 0 to `worldSize` - 1. Default 0. */
  rank?: Integer;
}

/** The options that decide the batches of an epoch, together with the lengths. */
export interface BatcherOptions extends BatchStreamOptions {
  /**
   * The order of the epoch: one of `plainOrders()`, an order that `blend`, `sharded` and others made, or the section `order`
   * of a recipe. An order that was made has its own seed, which also decides the order of steps; then the option `seed`
   * is an error. Default `feistel`.
   */
  order?: OrderName | Order | Readonly<Record<string, unknown>>;
  /** The number of buckets, in place of `bucketWidth` or `boundaries`: 1 to 2^20. Each gets the same number of samples, as far as
   * equal lengths allow. Default without any of the three: 64 buckets that have the same number of tokens each. */
  quantiles?: Integer;
}

/** Options that the recipe of a stream does not have. `boundaries`: needed if the recipe has their hash. */
export type BatchStreamRecipeOptions = Pick<BatchStreamOptions, 'rank' | 'epoch' | 'boundaries'>;

/** Options that the recipe of a batcher does not have. `boundaries`, `sizes`, `lists`: needed if the recipe has their hash. */
export interface BatcherRecipeOptions
  extends Pick<BatcherOptions, 'rank' | 'epoch' | 'boundaries'>,
    Pick<RecipeOptions, 'sizes' | 'lists'> {
  /**
   * A state after which the epoch continues, in place of `epoch`. The state is taken as by `resume` with the option
   * `replan`.
   */
  state?: string | Uint8Array | SavedState;
}

/**
 * Options that a state does not have: the rank and the number of ranks that continue, and lists of which the state has
 * only the hash.
 */
export type BatcherStateOptions = Pick<BatcherOptions, 'rank' | 'worldSize' | 'boundaries'> &
  Pick<RecipeOptions, 'sizes' | 'lists'>;

/** Options that have a value whatever the strategy is. */
type Always = 'seed' | 'epoch' | 'rank' | 'worldSize' | 'strategy' | 'counting' | 'tooLong' | 'tail';

/** All options of a stream that its strategy uses, with their defaults. */
export type BatchStreamConfig = BatchStreamOptions & Required<Pick<BatchStreamOptions, Always>>;

/**
 * All options of a batcher that its strategy uses, with their defaults. If `order` is an `Order`, there is no `seed`.
 */
export type BatcherConfig = BatcherOptions & Required<Pick<BatcherOptions, Exclude<Always, 'seed'> | 'order'>>;

/** A stream in JSON: its recipe, and the options that a recipe does not have. */
export interface BatchStreamJson {
  recipe: string;
  /** The boundaries, if the recipe does not have them. */
  boundaries?: number[];
  /** The epoch as a decimal string, since it may have 64 bits. Default 0. */
  epoch?: string;
  /** The rank. Default 0. */
  rank?: number;
}

/** A batcher in JSON: its recipe, and the lists and options that the recipe does not have. */
export interface BatcherJson extends BatchStreamJson {
  /** The lengths, if the recipe does not have them, and they are lists. */
  lengths?: number[] | Record<string, number[]>;
  /** Samples in each shard, if they were not in the recipe. */
  sizes?: number[];
  /** Lists of composed orders that were not in the recipe, by the paths of their members. */
  lists?: Record<string, number[]>;
  /** The state after which the batcher continued, in place of `epoch`. Default: none, so it has the whole epoch. */
  state?: string;
}

/**
 * One batch of one rank. An *item* is a sample, or a part of one where `tooLong` is `split`. A *row* is an item, or several
 * with the strategy `pack`.
 */
export interface Batch {
  /** The sample of every item. */
  samples: Float64Array<ArrayBuffer>;
  /** The first token of each item within its sample: 0 unless the item is a part. */
  starts: Uint32Array<ArrayBuffer>;
  /** The tokens of each item. */
  lengths: Uint32Array<ArrayBuffer>;
  /**
   * The end of each row in the list of items: row i has the items `rowEnds[i - 1]` (0 for the first row) to
   * `rowEnds[i]` - 1.
   */
  rowEnds: Uint32Array<ArrayBuffer>;
  /** Tokens of each row, padding included. */
  paddedLength: number;
  /** The cost of the batch, which `maxTokens` or `maxCost` limits; a `bigint` beyond 2^53 - 1. */
  cost: Integer;
  /** How many rows at the end of the batch are repeated from another batch, to fill the step. */
  repeated: number;
  /** How many rows a full batch of this padded length has. To give all batches of a bucket one shape, add rows of padding. */
  fullRows: number;
}

/** The side of a row on which the padding is. */
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
   * The number of the first token of each sequence, and at last the number of all tokens. With offsets, `sequences` is
   * one typed array, with all tokens end to end.
   */
  offsets?: Integers;
  /** The value of a cell without a token, of the type of the tokens. Default 0. */
  paddingValue?: Integer;
}

/** How sequences are padded. */
export interface PadOptions extends CollateOptions {
  /** The side of a row on which the padding is. Default `right`. */
  side?: Side;
  /** The width is rounded up to a multiple of this. Default 1. */
  padToMultipleOf?: Integer;
  /** The width of a row. Default: the length of the longest sequence. */
  width?: Integer;
}

/** How sequences are packed. */
export interface PackOptions extends CollateOptions {
  /** How many sequences there are up to the end of each row, such as `rowEnds` of a batch. Default: all in one row. */
  rowEnds?: Integers;
  /** Cells of a row, such as `paddedLength` of a batch. Default: as many as the fullest row has tokens. */
  width?: Integer;
}

/** Sequences that are padded to one width: a row for each sequence. */
export interface Padded<T extends Tokens> {
  /** Rows * width cells, row by row, of the type of the sequences. */
  values: T;
  /** For every cell, 1 if it holds a token, else 0. */
  attentionMask: Uint8Array<ArrayBuffer>;
  /** How many rows there are. */
  rows: number;
  /** Cells of a row. */
  width: number;
}

/** Sequences that are packed: several in a row. */
export interface Packed<T extends Tokens> {
  /** Rows * width cells, row by row, of the type of the sequences. */
  values: T;
  /** For every cell, its place in its sequence; 0 where it is padding. */
  positionIds: Int32Array<ArrayBuffer>;
  /** For every cell, the number of its sequence within the row, from 1; 0 where it is padding. */
  segmentIds: Int32Array<ArrayBuffer>;
  /**
   * The place at which each sequence begins if all are laid end to end without padding, and at last the end of the last
   * one.
   */
  cuSeqlens: Int32Array<ArrayBuffer>;
  /** The length of the longest sequence. */
  maxSeqlen: number;
  /** How many rows there are. */
  rows: number;
  /** Cells of a row. */
  width: number;
}
