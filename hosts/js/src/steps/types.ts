import type { Integer, Layout, RecipeOptions, SamplerJson, SamplerOptions } from '../types.js';

/**
 * The global batch size: how many samples all ranks together take at a step. Or the batch sizes by stages, as pairs: from which step on, and
 * the size. Steps ascend, and the first one is 0. Each size is a multiple of `unit`, and the last one of `worldSize` * `unit`. Those before
 * need not be: they may be of a past with other ranks.
 */
export type BatchSizes = Integer | readonly (readonly [from: Integer, batchSize: Integer])[];

/** Everything that decides a schedule but the samples and the batch sizes. With an order in place of samples, `seed` and `order` are no options. */
export interface ScheduleOptions extends Pick<SamplerOptions, 'seed' | 'order' | 'rank' | 'worldSize' | 'unit'> {
  /** Which samples of a step belong to a rank. Default `strided`; `rotated` for orders that can have a sample twice in an epoch. */
  layout?: Layout;
  /**
   * How many epochs the steps take, 1 or more: the last step ends before or with the last of them, so that no sample is seen more often than so
   * many epochs have it. By default the steps go on, epoch after epoch.
   */
  epochs?: Integer;
}

/** What the recipe of a schedule does not say. */
export type ScheduleRecipeOptions = Pick<RecipeOptions, 'sizes' | 'lists' | 'rank'>;

/** What a state does not say: how its steps are dealt, and lists of which it has the hash. */
export type ScheduleStateOptions = ScheduleRecipeOptions & Pick<ScheduleOptions, 'worldSize' | 'layout' | 'unit'>;

/** A schedule in JSON: its recipe, and what that does not say. */
export type ScheduleJson = Pick<SamplerJson, 'recipe' | 'sizes' | 'lists' | 'rank'>;

/** A position of an epoch. */
export interface EpochPosition {
  /** Number of the epoch; a `bigint` where it is beyond 2^53 - 1. */
  epoch: Integer;
  /** 0-based position in this epoch. */
  position: number;
}

/** When and where a sample is seen. */
export interface StepPlace extends EpochPosition {
  /** How many samples all ranks together took before it, since the beginning of the training. */
  draw: number;
  /** The global step. */
  step: number;
  /** The rank that has it. */
  rank: number;
  /** 0-based place among the samples of this rank at this step. */
  indexInBatch: number;
}
