import type { EpisodeOptions, LaneOptions, SourceOptions } from '../generated/options.js';
import type { Integer, Integers } from '../types.js';

/** A weight for each source: in the order of the sources, or by their names. */
export type BlendWeights = Integers | Readonly<Record<string, Integer>> | ReadonlyMap<string, Integer>;

/** From which position on a blend has other weights. Positions are counted over all epochs. */
export interface BlendStage {
  from: Integer;
  weights: BlendWeights;
}

/** When a dataset got more samples, and how many it had then. */
export interface Growth {
  /** Number of the epoch. */
  epoch: Integer;
  /** How many positions of that epoch, the first ones, were dealt before. */
  consumed: Integer;
  /** How many samples there are from then on. */
  samples: Integer;
}

/** Positions that are left out. */
export interface SkippedRange {
  /** Number of the epoch. */
  epoch: Integer;
  /** The first position. */
  start: Integer;
  /** How many there are. */
  count: Integer;
}

/** The options of `order`. */
export interface PlainOptions {
  /** Number of samples. */
  samples: Integer;
  /** Seed of the order. Default 0; for a source of a blend, one that comes from the seed and the name. */
  seed?: Integer;
}

/** The options of `sharded`. */
export interface ShardsOptions extends LaneOptions {
  /** Seed of the order: see `order`. */
  seed?: Integer;
}

/** The options of `blend`. With a `runLength`, bounds of sources are so many times as wide; not with `renormalise`. */
export interface BlendOptions extends SourceOptions {
  /** Seed of the order: see `order`. */
  seed?: Integer;
  /**
   * Number of positions in an epoch. Default: as many as one pass over each source with a weight above 0 has. With the exhaustion `fail` it has to be
   * there; with `stop` and `renormalise` it has to be what comes of the sources.
   */
  samples?: Integer;
  /** Whether counts are as near to exact proportion as they can be, by a table of one period of the weights. Default false. */
  exact?: boolean;
  /** Other weights from some positions on, in ascending order. */
  stages?: readonly BlendStage[];
}

/** The options of `windows`. */
export interface WindowsOptions extends EpisodeOptions {
  /** Seed of the order: see `order`. */
  seed?: Integer;
}

/** The options of `grown`. */
export interface SeedOptions {
  /** Seed of the order: see `order`. */
  seed?: Integer;
}

/** The options of `balance`. */
export interface BalanceOptions extends SeedOptions {
  /** Number of positions in every epoch. Default: as many as the factors add up to. */
  samples?: Integer;
}

/** An order in JSON: what `Sampler.fromJSON` and `Sampler.fromRecipe` take. */
export interface OrderJson {
  recipe: string;
  /** The long lists, by the paths of their members. */
  lists?: Record<string, number[]>;
}
