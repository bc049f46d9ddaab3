import type { Integers } from './lists.js';

/** A whole number: a `number` that is a safe integer, or a `bigint`. */
export type Integer = number | bigint;

/** Sample indices, in order: 32-bit numbers where there are at most 2^32 samples, else `number`s, all of them exact. */
export type Indices = Uint32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

/** What happens if `worldSize` does not divide the number of samples. */
export type Remainder = 'drop' | 'pad' | 'uneven';

/** Which positions belong to a rank: every `worldSize`-th one, or one run of neighbours. */
export type Layout = 'strided' | 'contiguous';

/** Everything that decides a deal but the number of samples. */
export interface SamplerOptions {
  /** Seed of the order: any 64-bit signed integer, as a `bigint` beyond 2^53 - 1. Default 0. */
  seed?: Integer;
  /** Number of the epoch: 0 to 2^64 - 1, as a `bigint` beyond 2^53 - 1. Default 0. */
  epoch?: Integer;
  /** Name of the order, one of `orders()`; `Sampler.sharded` makes the order `sharded`. Default `feistel`. */
  order?: string;
  /** Which of the data-parallel readers this is: 0 to `worldSize` - 1. Default 0. */
  rank?: Integer;
  /** How many data-parallel readers there are: 1 to 2^32 - 1. Default 1. */
  worldSize?: Integer;
  /** What happens if `worldSize` does not divide the number of samples. Default `pad`. */
  remainder?: Remainder;
  /** Which positions belong to a rank. Default `strided`. */
  layout?: Layout;
  /**
   * How many positions of this epoch, the first ones, were dealt before, maybe to another number of ranks: the others are dealt.
   * 0 to the number of samples; `resume` takes it from a state. Default 0.
   */
  consumed?: Integer;
}

/** Everything that decides a deal in the order `sharded`, but the sizes of the shards. */
export interface ShardedOptions extends Omit<SamplerOptions, 'order'> {
  /** How many streams the dataset is cut into: 1 to 4,096. A multiple of every world size to come. Default 64. */
  lanes?: Integer;
  /** How many neighbouring samples of a lane are shuffled together: 1 to 2^20. Default 256. */
  shuffleWindow?: Integer;
}

/** What a recipe does not say. */
export interface RecipeOptions {
  /** Samples in each shard, if the recipe has their hash, or does not have them. */
  sizes?: Integers;
  /** Which of the data-parallel readers this is. Default 0. */
  rank?: Integer;
  /** Number of the epoch. Default 0. */
  epoch?: Integer;
  /** How many positions of this epoch, the first ones, were dealt before. Default 0. */
  consumed?: Integer;
}

/** How batches are cut. */
export interface BatchOptions {
  /** Whether a last batch that is shorter than the others is left out. Default false. */
  dropLast?: boolean;
}

/** Which batches an iteration gives. */
export interface BatchesOptions extends BatchOptions {
  /** Number of the first of them, 0 to the number of batches: how many of an interrupted epoch were done. Default 0. */
  start?: Integer;
}

/** When and where a sample is seen in the epoch. */
export interface Place {
  /** The global position. */
  position: number;
  /** The rank that it is dealt to. */
  rank: number;
  /** 0-based number within that rank's samples of the epoch. */
  index: number;
  /** 0-based number of that rank's batch; a last batch that is shorter counts. */
  batch: number;
  /** 0-based place in that batch. */
  indexInBatch: number;
  /** How many times the sample is dealt again, as padding: the k-th time at `position` + k * samples. */
  copies: number;
}

/** What a rank reads before it hands out a run of its samples. */
export interface Round {
  /** Number of the first of these samples, among the rank's (`indices`). */
  start: number;
  /** How many there are; none where the round holds no position of the rank. */
  count: number;
  /**
   * The rows to read: whole windows, lane by lane, in the order in which they are stored. A lane goes on in the next round where it
   * ends in this one; when it enters a shard, it never returns to the one before. Padding comes last, in spans of one row.
   */
  spans: Spans;
}

/** Rows to read, as spans of neighbouring rows of one shard. Every list has one number for each span. */
export interface Spans {
  /** The lane that the span belongs to. The spans of a lane come in the order in which their rows are stored. */
  lane: Uint32Array<ArrayBuffer>;
  /** The shard. */
  shard: Uint32Array<ArrayBuffer>;
  /** The first row of the span. A row is the 0-based number of a sample within its shard. */
  firstRow: Float64Array<ArrayBuffer>;
  /** Number of rows in the span. */
  numRows: Float64Array<ArrayBuffer>;
}

/** Where a sample is stored. */
export interface ShardPlace {
  /** Number of the shard. */
  shard: number;
  /** Number of the sample within the shard. */
  offset: number;
}

/** A sampler in JSON: its recipe, and what that does not say. */
export interface SamplerJson {
  recipe: string;
  /** Samples in each shard, if they were not in the recipe. */
  sizes?: number[];
  /** Number of the epoch, as a decimal string, since it may have 64 bits. Default 0. */
  epoch?: string;
  /** Default 0. */
  rank?: number;
  /** Default 0. */
  consumed?: number;
}
