import { fail, integer, options, U64, u32, u53 } from '../checks.js';
import { besideOf, Document, fromJson, parted, section } from '../document.js';
import { using } from '../engine/resources.js';
import type { LightBindings, RawSampler } from '../engine/types.js';
import { BEFORE_OTHERS, type Recipe } from '../engine.js';
import { DEAL, LANES } from '../generated/options.js';
import { required } from '../lists.js';
import { orderMemory } from '../memory.js';
import { OrderValue } from '../order/value.js';
import { recipeOfState } from '../state.js';
import type { RecipeOptions, SamplerJson, SamplerOptions, ShardedOptions, StateOptions } from '../types.js';

const PLACE = ['rank', 'epoch', 'consumed'] as const;
const OPTIONS = [...PLACE, 'seed', ...DEAL, 'order'] as const;
const SHARDED_OPTIONS = [...PLACE, 'seed', ...DEAL, ...LANES] as const;
const ORDER_OPTIONS = [...PLACE, ...DEAL] as const;
const RECIPE_OPTIONS = [...PLACE, 'sizes', 'lists'] as const;
const STATE_OPTIONS = ['rank', ...DEAL, 'sizes', 'lists'] as const;

/** The parameter and the value in the error if there is no memory for an order. */
export function causeOf(document: Document): readonly [string, unknown] {
  const { name, samples } = document.said.order ?? {};
  return samples === undefined && name !== undefined ? ['order', name] : ['samples', samples];
}

/** The description of samples or an order, in errors. */
export const SAMPLES = 'the number of samples, or an order that `order`, `blend` and others made';

/** Options, with the options of the deal collected in the section `deal`. */
function dealt<T extends SamplerOptions>(given: T | undefined, known: readonly (keyof T & string)[]) {
  const [deal, others] = parted(options<T>(given, known), DEAL);
  return { ...others, deal };
}

/** The definition of a sampler: a recipe, the rank, and the place in an epoch. */
export class SamplerRecipe implements Recipe<LightBindings, RawSampler> {
  readonly document: Document;
  readonly rank: number;
  readonly epoch: bigint;
  readonly consumed: bigint;
  readonly size: number;
  readonly isMadeFirst: boolean;

  constructor(document: Document, place: Omit<RecipeOptions, 'sizes' | 'lists'>) {
    const { rank = 0, epoch = 0, consumed = 0 } = place;
    // `rank: undefined` is refused. It may come from an environment variable that is not set: with the default 0, every
    // process would read the samples of rank 0.
    if (place.rank === undefined && Object.hasOwn(place, 'rank'))
      fail('wrong-type', 'rank', place.rank, 'a whole number, or no option `rank` at all');
    this.document = document;
    this.rank = u32('rank', rank);
    this.epoch = integer('epoch', epoch, U64);
    this.consumed = u53('consumed', consumed);
    const { all, table } = orderMemory(document.said.order);
    this.size = document.size + all;
    this.isMadeFirst = table > BEFORE_OTHERS;
  }

  get cause(): readonly [string, unknown] {
    return causeOf(this.document);
  }

  /** This recipe at another place of an epoch, or for another rank. */
  at(place: { rank: number; epoch: bigint; consumed: bigint }): SamplerRecipe {
    return new SamplerRecipe(this.document, place);
  }

  make(bindings: LightBindings): RawSampler {
    const { document, epoch, rank, consumed } = this;
    const whole = bindings.sampler(document.text, document.lists, epoch, rank);
    if (consumed === 0n) return whole;
    return using(whole, (raw) => raw.rest(consumed) as RawSampler, bindings.release);
  }

  source(most: number): string {
    const { document, rank, epoch, consumed } = this;
    return document.source('Sampler', { epoch, rank, consumed }, most);
  }

  /** Makes the definition from the options of a constructor. */
  static of(samples: unknown, given: SamplerOptions | undefined): SamplerRecipe {
    if (samples instanceof OrderValue) return SamplerRecipe.ofOrder(samples, given);
    // The error of the component would show the beginning of the list, so the list is refused here.
    if (typeof samples === 'object') fail('wrong-type', 'samples', samples, SAMPLES);
    const { deal, order: name, seed, ...place } = dealt(given, OPTIONS);
    return new SamplerRecipe(new Document({ order: { name, samples, seed }, deal }), place);
  }

  /** Makes the definition from an order, which has its own name and seed. */
  static ofOrder(made: OrderValue, given: SamplerOptions | undefined): SamplerRecipe {
    const { deal, ...place } = dealt(given, ORDER_OPTIONS);
    return new SamplerRecipe(new Document({ order: made.section, deal }, {}, made.beside), place);
  }

  /** Makes the definition from the options of `Sampler.sharded`. */
  static ofShards(sizes: unknown, given: ShardedOptions | undefined): SamplerRecipe {
    const { deal, lanes, shuffleWindow, seed, ...place } = dealt(given, SHARDED_OPTIONS);
    const order = section({ name: 'sharded', seed, lanes, shuffleWindow });
    return new SamplerRecipe(new Document({ order, deal }, { sizes: required('sizes', sizes) }), place);
  }

  /** Makes the definition from a recipe, and from options that a recipe does not have. */
  static read(recipe: unknown, given: RecipeOptions | undefined): SamplerRecipe {
    const { sizes, lists, ...place } = options(given, RECIPE_OPTIONS);
    return new SamplerRecipe(new Document(recipe, { sizes }, besideOf(lists)), place);
  }

  /** Makes the definition from the recipe of a state, and from options that say how the rest of its epoch is dealt. */
  static ofState(state: unknown, given: StateOptions | undefined): SamplerRecipe {
    const { deal, ...place } = dealt(given, STATE_OPTIONS);
    return SamplerRecipe.read(recipeOfState(state, { deal }), place);
  }

  static ofJson(json: SamplerJson | string): SamplerRecipe {
    const { recipe, given } = fromJson<RecipeOptions>(json, RECIPE_OPTIONS);
    return SamplerRecipe.read(recipe, given);
  }
}
