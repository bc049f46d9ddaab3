import type { DealOptions, LaneOptions } from './generated/options.js';
import type { Integer, Integers, OrderName } from './values.js';

export type * from './values.js';

/**
 * The options that decide a deal, together with the number of samples. With an order in place of the number, the
 * options `seed` and `order` are errors.
 */
export interface SamplerOptions extends DealOptions {
  /**
   * Seed of the order: any 64-bit signed integer, as a `bigint` beyond 2^53 - 1. For a seed of PyTorch from 2^63 on,
   * pass `BigInt.asIntN(64, seed)`: it gives the same order `torch`. Default 0.
   */
  seed?: Integer;
  /** Number of the epoch: 0 to 2^64 - 1, as a `bigint` beyond 2^53 - 1. Default 0. */
  epoch?: Integer;
  /** Name of the order, one of `plainOrders()`; `Sampler.sharded` makes the order `sharded`. Default `feistel`. */
  order?: OrderName;
  /** The data-parallel rank: 0 to `worldSize` - 1. Default 0. */
  rank?: Integer;
  /**
   * How many positions at the beginning of this epoch were dealt before, maybe to another number of ranks: the rest is
   * dealt. 0 to the number of positions; if it is less than all positions, a multiple of `unit`. `resume` takes it from
   * a state. Default 0.
   */
  consumed?: Integer;
}

/**
 * The options that decide a deal in the order `sharded`, together with the sizes of the shards. Let `lanes` be a
 * multiple of every world size that the run may have.
 */
export interface ShardedOptions extends Omit<SamplerOptions, 'order'>, LaneOptions {}

/** Options that a recipe does not have. */
export interface RecipeOptions {
  /** Samples in each shard, if the recipe has only their hash, or leaves them out. */
  sizes?: Integers;
  /**
   * Lists of a composed order that the recipe leaves out, or of which it has only the hash, by the paths of their
   * members: `indices`, `of/sizes`, `sources/web/of/indices`.
   */
  lists?: Readonly<Record<string, Integers>>;
  /** The data-parallel rank. Default 0. */
  rank?: Integer;
  /** Number of the epoch. Default 0. */
  epoch?: Integer;
  /** How many positions at the beginning of this epoch were dealt before. Default 0. */
  consumed?: Integer;
}

/** How batches are cut. */
export interface BatchOptions {
  /** Whether a last batch that is shorter than the others is left out. Default false. */
  dropLast?: boolean;
}

/** The batches that an iteration returns. */
export interface BatchesOptions extends BatchOptions {
  /**
   * Number of the first batch, 0 to the number of batches: how many batches of an interrupted epoch were done. Default
   * 0.
   */
  start?: Integer;
}

/**
 * The draws from each source of a blend at a run of positions. A draw is one sample of the source. Every list has one
 * number for each source. A later component may return more lists.
 */
export interface SourceCounts {
  /** Number of the first draw of the run, counted over all epochs. */
  first: Float64Array<ArrayBuffer>;
  /** The number of draws. */
  count: Float64Array<ArrayBuffer>;
  /** The source's own epoch of the first draw. */
  fromPass: Float64Array<ArrayBuffer>;
  /** The position of the first draw in `fromPass`. */
  fromPosition: Float64Array<ArrayBuffer>;
  /** The source's own epoch of the draw after the last one. */
  toPass: Float64Array<ArrayBuffer>;
  /** The position of the draw after the last one in `toPass`. */
  toPosition: Float64Array<ArrayBuffer>;
}

/**
 * Options that a state does not have: how the rest of its epoch is dealt, and lists of which the state has only the
 * hash.
 */
export type StateOptions = DealOptions & Pick<RecipeOptions, 'rank' | 'sizes' | 'lists'>;

/** A sampler in JSON: its recipe, and the lists and options that the recipe does not have. */
export interface SamplerJson {
  recipe: string;
  /** Samples in each shard, if they were not in the recipe. */
  sizes?: number[];
  /** Lists of composed orders that were not in the recipe, by the paths of their members. */
  lists?: Record<string, number[]>;
  /** Number of the epoch, as a decimal string, since it may have 64 bits. Default 0. */
  epoch?: string;
  /** Default 0. */
  rank?: number;
  /** Default 0. */
  consumed?: number;
}
