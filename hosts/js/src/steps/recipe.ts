import { fail, options, placed, u32, u53 } from '../checks.js';
import { causeOf, SAMPLES } from '../deal/recipe.js';
import { besideOf, Document, fromJson, parted } from '../document.js';
import type { ComponentBindings, RawSchedule } from '../engine/types.js';
import type { Recipe } from '../engine.js';
import { EPOCHS, SCHEDULE_DEAL } from '../generated/options.js';
import { list } from '../lists.js';
import { orderMemory } from '../memory.js';
import { OrderValue } from '../order/value.js';
import { recipeOfState } from '../state.js';
import type { ScheduleJson, ScheduleOptions, ScheduleRecipeOptions, ScheduleStateOptions } from './types.js';

const OF_ORDER = ['rank', ...SCHEDULE_DEAL, ...EPOCHS] as const;
const OPTIONS = [...OF_ORDER, 'seed', 'order'] as const;
const RECIPE_OPTIONS = ['rank', 'sizes', 'lists'] as const;
const STATE_OPTIONS = [...RECIPE_OPTIONS, ...SCHEDULE_DEAL] as const;

/** The definition of a schedule: a recipe, and the rank. */
export class ScheduleRecipe implements Recipe<ComponentBindings, RawSchedule> {
  readonly document: Document;
  readonly rank: number;
  readonly size: number;

  constructor(document: Document, rank: unknown = 0) {
    this.document = document;
    this.rank = u32('rank', rank);
    // Two orders: the schedule keeps that of the epoch from which it read last, and `locate` makes one for the epoch in
    // which it searches. The order of each epoch may have a table.
    this.size = document.size + 2 * orderMemory(document.said.order).all;
  }

  get cause(): readonly [string, unknown] {
    return causeOf(this.document);
  }

  /** This recipe for another rank. */
  at(rank: number): ScheduleRecipe {
    return new ScheduleRecipe(this.document, rank);
  }

  make({ steps }: ComponentBindings): RawSchedule {
    return new steps.Schedule(this.document.text, [...this.document.lists], this.rank);
  }

  source(most: number): string {
    return this.document.source('Schedule', { rank: this.rank }, most);
  }

  /** Makes the definition from the options of a constructor. */
  static of(samples: unknown, globalBatchSizes: unknown, given: ScheduleOptions | undefined): ScheduleRecipe {
    const isOrder = samples instanceof OrderValue;
    const [deal, others] = parted(options(given, isOrder ? OF_ORDER : OPTIONS), SCHEDULE_DEAL);
    const [more, { rank, ...named }] = parted(others, EPOCHS);
    const steps = { ...stepsOf(globalBatchSizes), ...more };
    if (isOrder)
      return new ScheduleRecipe(new Document({ order: samples.section, deal, steps }, {}, samples.beside), rank);
    if (typeof samples === 'object') fail('wrong-type', 'samples', samples, SAMPLES);
    const order = { name: named.order, samples, seed: named.seed };
    return new ScheduleRecipe(new Document({ order, deal, steps }), rank);
  }

  /** Makes the definition from a recipe, and from options that a recipe does not have. */
  static read(recipe: unknown, given: ScheduleRecipeOptions | undefined): ScheduleRecipe {
    const { rank, sizes, lists } = options(given, RECIPE_OPTIONS);
    return new ScheduleRecipe(new Document(recipe, { sizes }, besideOf(lists)), rank);
  }

  /** Makes the definition from the recipe of a state, and from options that say how its steps are dealt. */
  static ofState(state: unknown, given: ScheduleStateOptions | undefined): ScheduleRecipe {
    const [deal, others] = parted(options(given, STATE_OPTIONS), SCHEDULE_DEAL);
    return ScheduleRecipe.read(recipeOfState(state, { deal }), others);
  }

  static ofJson(json: ScheduleJson | string): ScheduleRecipe {
    const { recipe, given } = fromJson<ScheduleRecipeOptions>(json, RECIPE_OPTIONS);
    return ScheduleRecipe.read(recipe, given);
  }
}

/** The section `steps` of a recipe, from one batch size, or from one for each stage. */
function stepsOf(given: unknown): Record<string, unknown> {
  const field = 'global_batch_size';
  if (!Array.isArray(given)) return { global_batch_size: u53(field, given) };
  const allowed = 'pairs of a step and the batch size from this step on';
  const stages = Array.from(list(field, given), (stage, i) =>
    placed(`at index ${i}`, () => {
      if (!Array.isArray(stage) || stage.length !== 2) fail('wrong-type', field, stage, allowed);
      return { from: u53('from', stage[0]), global_batch_size: u53(field, stage[1]) };
    }),
  );
  // If no stage begins with step 0, the component says what is missing.
  const first = stages[0]?.from === 0n ? stages.shift() : undefined;
  return { global_batch_size: first?.global_batch_size, ...(stages.length > 0 && { stages }) };
}
