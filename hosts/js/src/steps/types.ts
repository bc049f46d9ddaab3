import type { EpochOptions, ScheduleDealOptions } from '../generated/options.js';
import type { Integer, RecipeOptions, SamplerJson, SamplerOptions } from '../types.js';

/**
 * The global batch size; or the batch sizes by stages, as pairs of the first step and the size from this step on. Steps
 * ascend, and the first one is 0. Each size is a multiple of `unit`, and the last one of `worldSize` * `unit`. Earlier
 * sizes need not be multiples of `worldSize` * `unit`, since their steps may have been made with another number of
 * ranks.
 */
export type GlobalBatchSizes = Integer | readonly (readonly [from: Integer, globalBatchSize: Integer])[];

/**
 * The options that decide a schedule, together with the samples and the batch sizes. With an order in place of samples,
 * the options `seed` and `order` are errors. With `epochs`, the schedule ends with the last step that lies within this
 * number of epochs.
 */
export interface ScheduleOptions
  extends ScheduleDealOptions,
    EpochOptions,
    Pick<SamplerOptions, 'seed' | 'order' | 'rank'> {}

/** Options that the recipe of a schedule does not have. */
export type ScheduleRecipeOptions = Pick<RecipeOptions, 'sizes' | 'lists' | 'rank'>;

/** Options that a state does not have: how its steps are dealt, and lists of which the state has only the hash. */
export type ScheduleStateOptions = ScheduleRecipeOptions & ScheduleDealOptions;

/** A schedule in JSON: its recipe, and the options that a recipe does not have. */
export type ScheduleJson = Pick<SamplerJson, 'recipe' | 'sizes' | 'lists' | 'rank'>;
