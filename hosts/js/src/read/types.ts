import type { LaneOptions, ReadingBatchOptions, ReadingDealOptions, ShardingOptions } from '../generated/options.js';
import type { Order } from '../order/order.js';
import type { Integers, WorkerPolicy } from '../types.js';

/** Units that readers are given: single positions of one order over all of the dataset, or whole shards. */
export type ReadDeal = 'samples' | 'shards';

/**
 * Everything that decides a `Reading`, but the samples in each shard. An option that the deal does not use is an error, as is
 * a `lanes` or a `shuffleWindow` without a shuffle: `lanes`, `shuffleWindow` and `remainder` belong to the deal `samples`; `shuffleRows`, `reshuffle`,
 * `policy`, `workerPolicy`, `weight` and `bytes` to the deal `shards`. If `lanes` is a multiple of ranks times workers, which are at most 2^22, every
 * row is read once.
 */
export interface ReadingOptions
  extends ReadingDealOptions,
    ReadingBatchOptions,
    LaneOptions,
    Pick<ShardingOptions, 'seed' | 'shuffleRows' | 'reshuffle' | 'workerPolicy' | 'weight'> {
  /** Units that readers are given. Default `samples`. */
  deal?: ReadDeal;
  /**
   * Whether anything is shuffled. With `samples`, the order is `sharded` if it is, else `sequential`. With `shards`, the shards
   * are shuffled before they are given to ranks. Default true.
   */
  shuffle?: boolean;
  /** With `shards`: how shards are given to ranks. Default `size-aware`. */
  policy?: WorkerPolicy;
  /** With `shards` and the weight `bytes`: bytes in each shard. */
  bytes?: Integers;
}

/** The samples in each shard, or an order of `sharded` ones, such as a blend: it has the shards, and all options of the shuffle. */
export type OrderOrSizes = Order | Integers;

/** Samples of a round, by the rows that hold them. */
export interface RoundRows {
  /** For each sample, the number of its row among the rows of the round's spans, laid end to end. */
  rows: Float64Array<ArrayBuffer>;
  /** How many of these samples, the last ones, are padding. */
  padding: number;
}

/** Lists of which the recipe of a reading has the hash, or which it does not have. */
export interface ReadingRecipeOptions {
  /** Samples in each shard. */
  sizes?: Integers;
  /** Bytes in each shard, with the weight `bytes`. */
  bytes?: Integers;
  /** Lists of an order that is made of others, by the paths of their members, such as `sources/web/sizes`. */
  lists?: Readonly<Record<string, Integers>>;
}

/** Options that a state does not have: how the rest is dealt, and lists of which it has the hash. */
export type ReadingStateOptions = ReadingRecipeOptions &
  Pick<ReadingOptions, 'worldSize' | 'workers' | 'remainder' | 'batchSize' | 'dropLast'>;

/** A batch of a rank: samples of one of its workers. */
export interface ReadBatch {
  /** The worker that makes it. */
  worker: number;
  /** Its number among the batches of this worker. */
  number: number;
  /** The step at which the loader of the rank takes it. */
  step: number;
  /** The indices of its samples. */
  samples: Float64Array<ArrayBuffer>;
  /** How many of them, the last ones, are padding. */
  padding: number;
}

/** A reading in JSON: its recipe, and what that does not say. */
export interface ReadingJson {
  recipe: string;
  /** These lists if they were not in the recipe. */
  sizes?: number[];
  bytes?: number[];
  /** Lists by their paths. */
  lists?: Record<string, number[]>;
  /** The epoch, of which nothing was read, as a decimal string, since it may have 64 bits. Default 0. */
  epoch?: string;
  /** The state that it goes on from, in place of the epoch. */
  state?: string;
}
