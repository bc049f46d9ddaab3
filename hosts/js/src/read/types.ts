import type { LaneOptions, ReadingBatchOptions, ReadingDealOptions, ShardingOptions } from '../generated/options.js';
import type { Order } from '../order/order.js';
import type { Integers, WorkerPolicy } from '../types.js';

/** The kinds of deals: readers get single positions of one order over all of the dataset, or whole shards. */
export type ReadDeal = 'samples' | 'shards';

/**
 * The options that decide a `Reading`, together with the samples in each shard. An option that the deal does not use is
 * an error, and so is `lanes` or `shuffleWindow` without a shuffle: `lanes`, `shuffleWindow` and `remainder` belong to
 * the deal `samples`; `shuffleRows`, `reshuffle`, `policy`, `workerPolicy`, `balanceBy` and `bytes` to the deal `shards`.
 * If `lanes` is a multiple of ranks times workers, which are at most 2^22, every row is read once.
 */
export interface ReadingOptions
  extends ReadingDealOptions,
    ReadingBatchOptions,
    LaneOptions,
    Pick<ShardingOptions, 'seed' | 'shuffleRows' | 'reshuffle' | 'workerPolicy' | 'balanceBy'> {
  /** Whether readers get single samples or whole shards. Default `samples`. */
  deal?: ReadDeal;
  /**
   * Whether anything is shuffled. With `samples`: the order is `sharded` if true, else `sequential`. With `shards`: if
   * true, the shards are shuffled before they are given to ranks. Default true.
   */
  shuffle?: boolean;
  /** With `shards`: how shards are given to ranks. Default `size-aware`. */
  policy?: WorkerPolicy;
  /** With `shards` and `balanceBy` `bytes`: bytes in each shard. */
  bytes?: Integers;
}

/**
 * The samples in each shard; or an order that is made of `sharded` orders, such as a blend of them. Such an order has
 * the shards, and all options of the shuffle.
 */
export type OrderOrSizes = Order | Integers;

/** The rows of a round's samples. */
export interface RoundRows {
  /** For each sample, the number of its row among the rows of the round's spans, laid end to end. */
  rows: Float64Array<ArrayBuffer>;
  /** How many of these samples, the last ones, are padding. */
  numPadding: number;
}

/** Lists of which the recipe of a reading has only the hash, or which it leaves out. */
export interface ReadingRecipeOptions {
  /** Samples in each shard. */
  sizes?: Integers;
  /** Bytes in each shard, with `balanceBy` `bytes`. */
  bytes?: Integers;
  /** Lists of an order that is made of others, by the paths of their members, such as `sources/web/sizes`. */
  lists?: Readonly<Record<string, Integers>>;
}

/**
 * Options that a state does not have: how the rest of its epoch is dealt, and lists of which the state has only the
 * hash.
 */
export type ReadingStateOptions = ReadingRecipeOptions &
  Pick<ReadingOptions, 'worldSize' | 'workers' | 'remainder' | 'batchSize' | 'dropLast'>;

/** A batch of a rank: samples of one of its workers. */
export interface ReadBatch {
  /** The worker that makes the batch. */
  worker: number;
  /** The number of the batch among those of this worker. */
  number: number;
  /** The step at which the loader of the rank takes the batch. */
  step: number;
  /** The sample indices of the batch. */
  samples: Float64Array<ArrayBuffer>;
  /** How many samples at the end of the batch are padding. */
  numPadding: number;
}

/** A reading in JSON: its recipe, and the lists and options that the recipe does not have. */
export interface ReadingJson {
  recipe: string;
  /** Samples and bytes in each shard, if they were not in the recipe. */
  sizes?: number[];
  bytes?: number[];
  /** Lists by their paths. */
  lists?: Record<string, number[]>;
  /** The epoch, if it is read from its beginning: a decimal string, since it may have 64 bits. Default 0. */
  epoch?: string;
  /** The state after which the reading continues, in place of the epoch. */
  state?: string;
}
