import type { Integers } from '../lists.js';
import type { Integer } from '../types.js';

/** How shards are given to ranks: the i-th to rank i mod world, by equal weight, or by where they are stored. */
export type Policy = 'round-robin' | 'size-aware' | 'locality-aware';

/** How the shards of a rank are given to its workers: the i-th to worker i mod workers, or by equal weight. */
export type WorkerPolicy = 'round-robin' | 'size-aware';

/** What is to be equal. */
export type Weight = 'samples' | 'bytes';

/** A plan as this package writes it in JSON: numbers of 64 bits as decimal strings, so that no reader rounds them. */
export interface ShardPlanJson {
  sizes: string[];
  /** Where they were given. */
  bytes?: string[];
  world: number;
  workers: number;
  policy: Policy;
  workerPolicy: WorkerPolicy;
  weight: Weight;
  /** These three where they were given. */
  holders?: number[][];
  rankNodes?: number[];
  tolerance?: number;
  shuffle: boolean;
  reshuffle: boolean;
  seed: string;
  epoch: string;
}

/** A stream of chunks in JSON, in the same form. */
export interface ChunkStreamJson {
  reader: number;
  readers: number;
  /** Where it was given. */
  chunks?: string;
  order: string;
  seed: string;
  epoch: string;
}

/** Whose share is asked for: every rank's, or every worker's, those of rank 0 first. */
export type Tier = 'ranks' | 'workers';

/** Everything that decides which reader gets which shard, but the samples in each. */
export interface ShardPlanOptions {
  /** Bytes in each shard; needed where they are the weight. */
  bytes?: Integers;
  /** How many ranks there are: 1 to 2^22 / `workers`. Default 1. */
  world?: Integer;
  /** How many workers read in each rank: 1 to 2^22 / `world`. Default 1. */
  workers?: Integer;
  /** How shards are given to ranks. Default `round-robin`. */
  policy?: Policy;
  /** How the shards of a rank are given to its workers. Default `round-robin`. */
  workerPolicy?: WorkerPolicy;
  /** What is to be equal, for the policies that look at sizes. Default `samples`. */
  weight?: Weight;
  /** For `locality-aware`: the numbers of the nodes that hold each shard, at least one for each. */
  holders?: readonly Integers[];
  /** For `locality-aware`: the number of each rank's node. */
  rankNodes?: Integers;
  /**
   * For `locality-aware`: by how many thousandths of the mean a rank may exceed it for the sake of locality. Default 50.
   */
  tolerance?: Integer;
  /** Whether the shards are shuffled before they are given away. Default false. */
  shuffle?: boolean;
  /** Whether every reader shuffles its own shards once more. Default false. */
  reshuffle?: boolean;
  /** Seed of the shuffles: any 64-bit signed integer, as a `bigint` beyond 2^53 - 1. Default 0. */
  seed?: Integer;
  /** Epoch of the shuffles: 0 to 2^64 - 1, as a `bigint` beyond 2^53 - 1. Default 0. */
  epoch?: Integer;
}

/** What ranks or workers have to read, an element for each. */
export interface Loads {
  /** How many shards. */
  shards: Float64Array<ArrayBuffer>;
  /** How many samples. */
  samples: Float64Array<ArrayBuffer>;
  /** How many bytes; 0 where they were not given. */
  bytes: Float64Array<ArrayBuffer>;
  /** How many of the bytes (samples, where those were not given) are stored on the rank's own node. */
  local: Float64Array<ArrayBuffer>;
}

/** Between which bounds loads lie. */
export interface Balance {
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
  /** A shard, the reader that has it first, and another one that has it (or the same, again). */
  overlaps: { shard: number; first: number; other: number }[];
  /** Shards that no reader has, ascending. */
  gaps: Uint32Array;
}

/** Which chunks a reader of a stream takes. */
export interface ChunkStreamOptions {
  /** How many chunks there are, at least 1, to go through again and again. By default that is not known. */
  chunks?: Integer;
  /** The order of the chunks in each cycle, one of `orders()`; `sequential` where their number is not known. Default that. */
  order?: string;
  /** Seed of the order: any 64-bit signed integer, as a `bigint` beyond 2^53 - 1. Default 0. */
  seed?: Integer;
  /** The epoch of the first cycle; each further cycle is the next one. Default 0. */
  epoch?: Integer;
}
