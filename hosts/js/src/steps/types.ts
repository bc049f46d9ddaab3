import type { EpochOptions, ScheduleDealOptions } from '../generated/options.js';
import type { Integer, RecipeOptions, SamplerJson, SamplerOptions } from '../types.js';

/**
 * The global batch size. Or the batch sizes by stages, as pairs: from which step on, and
 * the size. Steps ascend, and the first one is 0. Each size is a multiple of `unit`, and the last one of `worldSize` * `unit`. Those before
 * need not be: they may be of a past with other ranks.
 */
export type BatchSizes = Integer | readonly (readonly [from: Integer, batchSize: Integer])[];

/** Everything that decides a schedule but the samples and the batch sizes. With an order in place of samples, `seed` and `order` are no options. The last step of `epochs` ends before or with the last of them. */
export interface ScheduleOptions
  extends ScheduleDealOptions,
    EpochOptions,
    Pick<SamplerOptions, 'seed' | 'order' | 'rank'> {}

/** Options that the recipe of a schedule does not have. */
export type ScheduleRecipeOptions = Pick<RecipeOptions, 'sizes' | 'lists' | 'rank'>;

/** Options that a state does not have: how its steps are dealt, and lists of which it has the hash. */
export type ScheduleStateOptions = ScheduleRecipeOptions & ScheduleDealOptions;

/** A schedule in JSON: its recipe, and what that does not say. */
export type ScheduleJson = Pick<SamplerJson, 'recipe' | 'sizes' | 'lists' | 'rank'>;
