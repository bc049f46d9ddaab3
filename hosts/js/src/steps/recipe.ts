import type { ComponentBindings, RawSchedule } from '../bindings/types.js';
import { fail, natural, natural32, options, placed, U32 } from '../checks.js';
import { causeOf, orderSize, SAMPLES } from '../deal/recipe.js';
import { besideOf, Document, fromJson, section } from '../document.js';
import type { Recipe } from '../engine.js';
import { list } from '../lists.js';
import { OrderValue } from '../order/value.js';
import { recipeOfState } from '../state.js';
import type { ScheduleJson, ScheduleOptions, ScheduleRecipeOptions, ScheduleStateOptions } from './types.js';

const DEAL = ['rank', 'worldSize', 'layout', 'unit'] as const;
const OPTIONS = [...DEAL, 'epochs', 'seed', 'order'] as const;
const OF_ORDER = [...DEAL, 'epochs'] as const;
const RECIPE_OPTIONS = ['rank', 'sizes', 'lists'] as const;
const STATE_OPTIONS = [...RECIPE_OPTIONS, 'worldSize', 'layout', 'unit'] as const;
/** What a stage takes, in bytes. */
const OF_STAGE = 64;

/** What decides a schedule: a recipe, and the rank. */
export class ScheduleRecipe implements Recipe<ComponentBindings, RawSchedule> {
  readonly document: Document;
  readonly rank: number;
  readonly size: number;

  constructor(document: Document, rank: unknown = 0) {
    this.document = document;
    this.rank = natural32('rank', rank, U32);
    const stages = document.said.steps?.stages;
    const counted = Array.isArray(stages) ? OF_STAGE * stages.length : 0;
    // A step can be of two epochs, of which each has its table.
    this.size = 2048 + document.size + counted + 2 * orderSize(document).all;
  }

  get cause(): readonly [string, unknown] {
    return causeOf(this.document);
  }

  /** The same for another rank. */
  at(rank: number): ScheduleRecipe {
    return new ScheduleRecipe(this.document, rank);
  }

  make({ steps }: ComponentBindings): RawSchedule {
    return new steps.Schedule(this.document.text, [...this.document.lists], this.rank);
  }

  source(most: number): string {
    return this.document.source('Schedule', { rank: this.rank }, most);
  }

  /** Of the options of a constructor. */
  static of(samples: unknown, batchSizes: unknown, given: ScheduleOptions | undefined): ScheduleRecipe {
    const isOrder = samples instanceof OrderValue;
    const { rank, worldSize, layout, unit, epochs, ...named } = options(given, isOrder ? OF_ORDER : OPTIONS);
    const deal = section({ worldSize, layout, unit });
    const steps = { ...stepsOf(batchSizes), ...section({ epochs }) };
    if (isOrder)
      return new ScheduleRecipe(new Document({ order: samples.section, deal, steps }, {}, samples.beside), rank);
    if (typeof samples === 'object') fail('wrong-type', 'samples', samples, SAMPLES);
    const order = { name: named.order, samples, seed: named.seed };
    return new ScheduleRecipe(new Document({ order, deal, steps }), rank);
  }

  /** Of a recipe, and what it does not say. */
  static read(recipe: unknown, given: ScheduleRecipeOptions | undefined): ScheduleRecipe {
    const { rank, sizes, lists } = options(given, RECIPE_OPTIONS);
    return new ScheduleRecipe(new Document(recipe, { sizes }, besideOf(lists)), rank);
  }

  /** Of the recipe of a state, and how its steps are dealt. */
  static ofState(state: unknown, given: ScheduleStateOptions | undefined): ScheduleRecipe {
    const { worldSize, layout, unit, ...others } = options(given, STATE_OPTIONS);
    return ScheduleRecipe.read(recipeOfState(state, { deal: section({ worldSize, layout, unit }) }), others);
  }

  static ofJson(json: ScheduleJson | string): ScheduleRecipe {
    const { recipe, given } = fromJson<ScheduleRecipeOptions>(json, RECIPE_OPTIONS);
    return ScheduleRecipe.read(recipe, given);
  }
}

/** The section `steps` of a batch size, or of one for each stage. */
function stepsOf(given: unknown): Record<string, unknown> {
  const field = 'batch-size';
  if (!Array.isArray(given)) return { batch_size: natural(field, given) };
  const allowed = 'pairs of a step and the batch size from this step on';
  const stages = Array.from(list(field, given), (stage, i) =>
    placed(`at index ${i}`, () => {
      if (!Array.isArray(stage) || stage.length !== 2) fail('wrong-type', field, stage, allowed);
      return { from: natural('from', stage[0]), batch_size: natural(field, stage[1]) };
    }),
  );
  // If they do not begin with step 0, the component says what is missing.
  const first = stages[0]?.from === 0n ? stages.shift() : undefined;
  return { batch_size: first?.batch_size, ...(stages.length > 0 && { stages }) };
}
