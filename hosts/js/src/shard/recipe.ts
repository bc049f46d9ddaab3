import { integer, options, U32, U64 } from '../checks.js';
import { Document, fromJson, parted, section } from '../document.js';
import type { ComponentBindings, RawPlan } from '../engine/types.js';
import type { Recipe } from '../engine.js';
import { PLAN_DEAL, SHARDING } from '../generated/options.js';
import { required } from '../lists.js';
import { readersMemory } from '../memory.js';
import type { ShardPlanJson, ShardPlanOptions, ShardPlanRecipeOptions } from './types.js';
import { ragged } from './verify.js';

const OPTIONS = [...SHARDING, ...PLAN_DEAL, 'bytes', 'holders', 'rankNodes', 'epoch'] as const;
const RECIPE_OPTIONS = ['sizes', 'bytes', 'holders', 'holderOffsets', 'rankNodes', 'epoch'] as const;

/** The definition of a plan: a recipe, and the epoch. */
export class PlanRecipe implements Recipe<ComponentBindings, RawPlan> {
  readonly document: Document;
  readonly epoch: bigint;
  readonly size: number;

  constructor(document: Document, epoch: unknown = 0) {
    this.document = document;
    this.epoch = integer('epoch', epoch, U64);
    this.size = document.size + readersMemory(document.said.deal);
  }

  get cause(): readonly [string, string] {
    return ['sizes', `${this.document.count('sizes', 'shards')} shards`];
  }

  /** This recipe in another epoch. */
  at(epoch: bigint): PlanRecipe {
    return new PlanRecipe(this.document, epoch);
  }

  source(most: number): string {
    return this.document.source('ShardPlan', { epoch: this.epoch }, most);
  }

  make({ shards }: ComponentBindings): RawPlan {
    return new shards.Plan(this.document.text, [...this.document.lists], this.epoch);
  }

  /** Makes the definition from the options of a constructor. */
  static of(sizes: unknown, given: ShardPlanOptions | undefined): PlanRecipe {
    const [deal, { bytes, holders, rankNodes, epoch, ...others }] = parted(options(given, OPTIONS), PLAN_DEAL);
    const nodes = holders === undefined ? undefined : ragged('holders', holders, U32);
    const places = { holders: nodes?.values, holderOffsets: nodes?.offsets, rankNodes };
    const recipe = { shards: section(others) ?? {}, deal };
    return new PlanRecipe(new Document(recipe, { sizes: required('sizes', sizes), bytes, ...places }), epoch);
  }

  /** Makes the definition from a recipe, and from lists and options that a recipe does not have. */
  static read(recipe: unknown, given: ShardPlanRecipeOptions | undefined): PlanRecipe {
    const { epoch, ...lists } = options(given, RECIPE_OPTIONS);
    return new PlanRecipe(new Document(recipe, lists), epoch);
  }

  static ofJson(json: ShardPlanJson | string): PlanRecipe {
    const { recipe, given } = fromJson<ShardPlanRecipeOptions>(json, RECIPE_OPTIONS);
    return PlanRecipe.read(recipe, given);
  }
}
