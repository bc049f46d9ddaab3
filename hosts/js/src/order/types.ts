import type { DrawOptions, EpisodeOptions, LaneOptions, SourceOptions } from '../generated/options.js';
import type { Integer, Integers } from '../types.js';

/** A weight for each source, such as 7 or 0.7: in the order of the sources, or by their names. */
export type BlendWeights = Integers | Readonly<Record<string, Integer>> | ReadonlyMap<string, Integer>;

/** A stage of a blend: other weights from position `from` on. Positions are counted over all epochs. */
export interface BlendStage {
  from: Integer;
  weights: BlendWeights;
}

/** An extension of a dataset: at which position it was made, and how many samples the dataset has from then on. */
export interface Growth {
  /** Number of the epoch. */
  epoch: Integer;
  /** How many positions of that epoch were dealt before the extension. */
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
  /** The number of positions. */
  count: Integer;
}

/** The options of `order`. */
export interface PlainOptions {
  /** Number of samples. */
  samples: Integer;
  /**
   * Seed of the order. Default 0; for a source of a blend, a seed that follows from the blend's seed and the source's
   * name.
   */
  seed?: Integer;
}

/** The options of `sharded`. */
export interface ShardsOptions extends LaneOptions {
  /** Seed of the order: see `order`. */
  seed?: Integer;
}

/**
 * The options of `blend`. With the batch size as `runLength` here and as the `unit` of a sampler, every batch of a rank
 * is of one source. Then `samples` and the beginnings of stages are multiples of `runLength`, and the bounds of the
 * counts (`sourceBounds`) are `runLength` times as wide; `renormalize` is not possible.
 */
export interface BlendOptions extends SourceOptions {
  /** Seed of the order: see `order`. */
  seed?: Integer;
  /**
   * Number of positions in an epoch. Default: one pass over each source with a weight above 0. With the exhaustion
   * `fail` it is required; with `stop` and `renormalize` it has to be the number that follows from the sources.
   */
  samples?: Integer;
  /**
   * Whether the counts of sources are as near to exact proportion as they can be, by a table of one period of the
   * weights. Default false.
   */
  exact?: boolean;
  /** Stages with other weights, in the order of their positions. */
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

/** The options of `weighted`. */
export interface WeightedOptions extends DrawOptions, SeedOptions {
  /** Number of positions in every epoch. Default: as many as there are weights. */
  samples?: Integer;
}

/** An order in JSON: what `Sampler.fromJSON` and `Sampler.fromRecipe` take. */
export interface OrderJson {
  recipe: string;
  /** The long lists, by the paths of their members. */
  lists?: Record<string, number[]>;
}
