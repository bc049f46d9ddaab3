import type { ChunkOptions, PlanDealOptions, ShardingOptions } from '../generated/options.js';
import type { Integer, Integers, OrderName } from '../types.js';

/** A plan in JSON: its recipe, and what that does not say. */
export interface ShardPlanJson {
  recipe: string;
  /** These lists if they were not in the recipe. */
  sizes?: number[];
  bytes?: number[];
  holders?: number[];
  holderOffsets?: number[];
  rankNodes?: number[];
  /** The epoch as a decimal string, since it may have 64 bits. Default 0. */
  epoch?: string;
}

/** A stream of chunks in JSON: its recipe, and what that does not say. */
export interface ChunkStreamJson {
  recipe: string;
  /** The epoch of the first cycle, as a decimal string. Default 0. */
  epoch?: string;
  /** Default 0. */
  reader?: number;
}

/** Whose share is asked for: every rank's, or every worker's, those of rank 0 first. */
export type Tier = 'ranks' | 'workers';

/** Everything that decides which reader gets which shard, but the samples in each. */
export interface ShardPlanOptions extends ShardingOptions, PlanDealOptions {
  /** Bytes in each shard; needed if they are the weight. */
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
  /** Samples in each shard, if the recipe has their hash, or does not have them. So are the other lists. */
  sizes?: Integers;
  /** Bytes in each shard. */
  bytes?: Integers;
  /** The nodes that hold the shards: those of shard i are number `holderOffsets[i]` to `holderOffsets[i + 1]` - 1 of this list. */
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
  /** How many shards. */
  shards: Float64Array<ArrayBuffer>;
  /** How many samples. */
  samples: Float64Array<ArrayBuffer>;
  /** How many bytes, if the recipe has them. */
  bytes?: Float64Array<ArrayBuffer>;
  /** With `locality-aware`: how many of the bytes (without bytes: of the samples) are stored on the rank's own node. */
  local?: Float64Array<ArrayBuffer>;
}

/** Between which bounds loads lie. */
export interface LoadSummary {
  /** The lightest load. */
  least: number;
  /** The heaviest load. */
  most: number;
  /** All of them together. */
  total: number;
  /** How many ranks or workers there are. */
  members: number;
  /** The heaviest load divided by the mean, with six decimal places: 1 where all are equal, or nothing is to be read. */
  imbalance: number;
}

/** Between which bounds the ranks' numbers of steps lie. */
export interface Steps {
  /** The fewest steps of a rank. */
  least: number;
  /** The most. */
  most: number;
  /** Whether all ranks end at the same step; else they wait for one another at the end of the epoch, or for ever. */
  equal: boolean;
}

/** Shards that are read twice, and shards that are not read. */
export interface Verification {
  /** Whether there are none of either. */
  ok: boolean;
  /** A shard, the first reader that has it, and another one that has it (or the same one, if that has the shard twice). */
  overlaps: { shard: number; firstReader: number; otherReader: number }[];
  /** Runs of neighbouring shards that no reader has, ascending. */
  gaps: { firstShard: number; numShards: number }[];
}

/** Which chunks a reader of a stream takes. */
export interface ChunkStreamOptions extends ChunkOptions {
  /** One of `orders()`, for the chunks of a cycle. Default `feistel`; if the number of chunks is not known, it is `sequential`. */
  order?: OrderName;
  /** The epoch of the first cycle; each further cycle is the next one. Default 0. */
  epoch?: Integer;
}

/** Options that the recipe of a stream does not have. */
export interface ChunkStreamRecipeOptions {
  /** Which reader this is: 0 to the readers of the recipe - 1. Default 0. */
  reader?: Integer;
  /** The epoch of the first cycle. Default 0. */
  epoch?: Integer;
}
