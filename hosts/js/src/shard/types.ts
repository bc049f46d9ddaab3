import type { ChunkOptions, PlanDealOptions, ShardingOptions } from '../generated/options.js';
import type { Integer, Integers, OrderName } from '../types.js';

/** A plan in JSON: its recipe, and the lists and options that the recipe does not have. */
export interface ShardPlanJson {
  recipe: string;
  /** Lists of these names that were not in the recipe: see `ShardPlanRecipeOptions`. */
  sizes?: number[];
  bytes?: number[];
  holders?: number[];
  holderOffsets?: number[];
  rankNodes?: number[];
  /** The epoch as a decimal string, since it may have 64 bits. Default 0. */
  epoch?: string;
}

/** A stream of chunks in JSON: its recipe, and the options that a recipe does not have. */
export interface ChunkStreamJson {
  recipe: string;
  /** The epoch of the first cycle, as a decimal string. Default 0. */
  epoch?: string;
  /** The number of the reader. Default 0. */
  reader?: number;
}

/** The members of which the work is counted: every rank, or every worker, the workers of rank 0 first. */
export type Tier = 'ranks' | 'workers';

/** The options that decide which reader gets which shard, together with the samples in each shard. */
export interface ShardPlanOptions extends ShardingOptions, PlanDealOptions {
  /** Bytes in each shard. Required with `balanceBy` `bytes`. */
  bytes?: Integers;
  /** For `locality-aware`: the numbers of the nodes that hold each shard, at least one for each. */
  holders?: readonly Integers[];
  /** For `locality-aware`: the number of each rank's node. */
  rankNodes?: Integers;
  /** Epoch of the shuffles: 0 to 2^64 - 1, as a `bigint` beyond 2^53 - 1. Default 0. */
  epoch?: Integer;
}

/** Options that the recipe of a plan does not have. */
export interface ShardPlanRecipeOptions {
  /** Samples in each shard, if the recipe has only their hash, or leaves them out. The other lists likewise. */
  sizes?: Integers;
  /** Bytes in each shard. */
  bytes?: Integers;
  /**
   * The nodes on which shards are stored: those of shard i are the elements `holderOffsets[i]` to
   * `holderOffsets[i + 1]` - 1 of this list.
   */
  holders?: Integers;
  /** See `holders`. */
  holderOffsets?: Integers;
  /** The number of each rank's node. */
  rankNodes?: Integers;
  /** Epoch of the shuffles. Default 0. */
  epoch?: Integer;
}

/** The work of ranks or workers, an element for each. */
export interface Loads {
  /** The number of shards. */
  shards: Float64Array<ArrayBuffer>;
  /** The number of samples. */
  samples: Float64Array<ArrayBuffer>;
  /** The number of bytes, if the recipe has bytes. */
  bytes?: Float64Array<ArrayBuffer>;
  /** With `locality-aware`: how many of the bytes (without bytes: of the samples) are stored on the rank's own node. */
  local?: Float64Array<ArrayBuffer>;
}

/** The bounds of the loads of ranks or workers, and their sum. */
export interface LoadSummary {
  /** The lightest load. */
  min: number;
  /** The heaviest load. */
  max: number;
  /** The sum of all loads. */
  total: number;
  /** How many ranks or workers there are. */
  members: number;
  /** The heaviest load divided by the mean, with six decimal places: 1 if all loads are equal, or all are 0. */
  imbalance: number;
}

/** The fewest and the most steps of a rank. */
export interface Steps {
  /** The fewest steps of a rank. */
  min: number;
  /** The most steps of a rank. */
  max: number;
  /**
   * Whether all ranks end at the same step. Otherwise some ranks wait for others at the end of the epoch, or for ever.
   */
  equal: boolean;
}

/** Shards that are read twice, and shards that are not read. */
export interface Verification {
  /** Whether there are neither overlaps nor gaps. */
  ok: boolean;
  /**
   * The shards that are read twice: each with the first reader that has the shard, and with another reader that has it
   * (or the same reader, if it has the shard twice).
   */
  overlaps: { shard: number; firstReader: number; otherReader: number }[];
  /** Runs of neighbouring shards that no reader has, ascending. */
  gaps: { firstShard: number; numShards: number }[];
}

/** The options that decide which chunks a reader of a stream takes. */
export interface ChunkStreamOptions extends ChunkOptions {
  /**
   * The order of the chunks of a cycle, one of `plainOrders()`. Default `feistel`; `sequential` if the number of chunks is
   * not known.
   */
  order?: OrderName;
  /** The epoch of the first cycle; each further cycle is the next one. Default 0. */
  epoch?: Integer;
}

/** Options that the recipe of a stream does not have. */
export interface ChunkStreamRecipeOptions {
  /** The number of the reader: 0 to the readers of the recipe - 1. Default 0. */
  reader?: Integer;
  /** The epoch of the first cycle. Default 0. */
  epoch?: Integer;
}
