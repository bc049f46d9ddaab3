import type { Order } from '../order/order.js';
import type { Weight, WorkerPolicy } from '../shard/types.js';
import type { Integer, Integers, Remainder, Spans } from '../types.js';

/** What readers are given: single positions of one order over all of the dataset, or whole shards. */
export type ReadDeal = 'samples' | 'shards';

/**
 * Everything that decides a `Reading`, but the samples in each shard. An option that the deal does not use is an error, as is
 * a `lanes` or a `shuffleWindow` without a shuffle.
 */
export interface ReadingOptions {
  /** Seed of all shuffles: any 64-bit signed integer, as a `bigint` beyond 2^53 - 1. Default 0. */
  seed?: Integer;
  /** What readers are given. Default `samples`. */
  deal?: ReadDeal;
  /**
   * Whether anything is shuffled. With `samples`, the order is `sharded` if it is, else `sequential`. With `shards`, the shards
   * are shuffled before they are given to ranks. Default true.
   */
  shuffle?: boolean;
  /**
   * With `samples` and a shuffle: into how many streams the dataset is cut, 1 to 4,096. If it is a multiple of ranks times
   * workers, every row is read once. Default 64.
   */
  lanes?: Integer;
  /** With `samples` and a shuffle: how many neighbouring samples of a lane are shuffled together, 1 to 2^20. Default 256. */
  shuffleWindow?: Integer;
  /** With `samples`: what happens if the number of readers does not divide the number of samples. Default `pad`. */
  remainder?: Remainder;
  /** With `shards`: whether the rows of each shard are shuffled. Default as `shuffle`. */
  shuffleRows?: boolean;
  /** With `shards`: whether each reader shuffles its shards once more. Default false. */
  reshuffle?: boolean;
  /** With `shards`: how shards are given to ranks. Default `size-aware`. */
  policy?: WorkerPolicy;
  /** With `shards`: how the shards of a rank are given to its workers. Default `size-aware`. */
  workerPolicy?: WorkerPolicy;
  /** With `shards`: what is to be equal. Default `samples`. */
  weight?: Weight;
  /** With `shards` and the weight `bytes`: bytes in each shard. */
  bytes?: Integers;
  /** How many ranks there are: 1 to 2^22. Default 1. */
  worldSize?: Integer;
  /** How many workers read in each rank: 1 to 2^16, and to 2^22 with all ranks. Default 1. */
  workers?: Integer;
  /** How many samples a batch has: from 1. Default 1. */
  batchSize?: Integer;
  /** Whether the last batch of a reader is left out where it is shorter. Default false. */
  dropLast?: boolean;
}

/** The samples in each shard, or an order of `sharded` ones, such as a blend: it has the shards, and all options of the shuffle. */
export type OrderOrSizes = Order | Integers;

/** Samples of a reader that come together, and what has to be read for them. */
export interface ReadRound {
  /** The first of the samples, by its number among the reader's (`indices`). */
  start: number;
  /** How many samples there are. */
  count: number;
  /**
   * The rows to read. Every sample of the round is a row of one of these spans. Spans of padding come last and have one row each. The
   * rows of a lane come in the order in which they are stored: one open file for each lane is enough. (Whole shards have one lane.)
   */
  spans: Spans;
}

/** Samples of a round, by the rows that hold them. */
export interface RoundRows {
  /** For each sample, the number of its row among the rows of the round's spans, laid end to end. */
  rows: Float64Array<ArrayBuffer>;
  /** How many of these samples, the last ones, are padding. */
  padding: number;
}

/** Lanes from which batches mix better. */
export interface MixingAdvice {
  /** How many lanes each reader has now. The rows of a batch come from as many places of the dataset. */
  lanesPerReader: number;
  /**
   * How much the mean of a batch varies if neighbouring rows are alike, as a multiple of its variance by chance: batch size /
   * `lanesPerReader`, to the nearest integer.
   */
  varianceRatio: number;
  /** The lanes to use instead. */
  lanes: number;
  /** The shuffle window to use with them. About as many rows are in memory then. */
  shuffleWindow: number;
}

/** What the recipe of a reading does not say: lists of which it has the hash, or which it does not have. */
export interface ReadingRecipeOptions {
  /** Samples in each shard. */
  sizes?: Integers;
  /** Bytes in each shard, with the weight `bytes`. */
  bytes?: Integers;
  /** Lists of an order that is made of others, by the paths of their members, such as `sources/web/sizes`. */
  lists?: Readonly<Record<string, Integers>>;
}

/** What a state does not say: how what is left is dealt, and lists of which it has the hash. */
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
