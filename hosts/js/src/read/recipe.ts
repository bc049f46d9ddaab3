import { boolean, integer, oneOf, options, stateText, U64 } from '../checks.js';
import { besideOf, Document, fromJson, parted, section, shownText } from '../document.js';
import { using } from '../engine/resources.js';
import type { ComponentBindings, RawReading } from '../engine/types.js';
import type { Recipe } from '../engine.js';
import {
  LANES,
  READING_BATCH,
  READING_DEAL,
  type ReadingBatchOptions,
  type ReadingDealOptions,
} from '../generated/options.js';
import { required } from '../lists.js';
import { orderMemory, readersMemory, roundsMemory } from '../memory.js';
import { source } from '../options.js';
import { OrderValue } from '../order/value.js';
import { recipeOfState } from '../state.js';
import type { ReadDeal, ReadingJson, ReadingOptions, ReadingRecipeOptions, ReadingStateOptions } from './types.js';

const DEALS: readonly ReadDeal[] = ['samples', 'shards'];
const OF_SHARDS = ['shuffleRows', 'reshuffle', 'policy', 'workerPolicy', 'balanceBy'] as const;
const ORDER_OPTIONS = [...READING_DEAL, ...READING_BATCH] as const;
const OPTIONS = [...ORDER_OPTIONS, ...LANES, ...OF_SHARDS, 'deal', 'shuffle', 'seed', 'bytes'] as const;
const RECIPE_OPTIONS = ['sizes', 'bytes', 'lists'] as const;
const STATE_OPTIONS = [...ORDER_OPTIONS, ...RECIPE_OPTIONS] as const;

/** Options, with those of the deal and of the batches collected in sections. */
function dealt<T extends ReadingDealOptions & ReadingBatchOptions>(given: T) {
  const [batch] = parted(given, READING_BATCH);
  const [deal] = parted(given, READING_DEAL);
  const [, others] = parted(given, ORDER_OPTIONS);
  return [{ deal, batch }, others] as const;
}

/** The place at which a reading begins: the beginning of an epoch, or a state. */
export type Stand = { epoch: bigint } | { state: string };

/** The definition of a reading: a recipe, and the place at which it begins. */
export class ReadingRecipe implements Recipe<ComponentBindings, RawReading> {
  readonly document: Document;
  readonly stand: Stand;
  readonly size: number;

  constructor(document: Document, stand: Stand = { epoch: 0n }) {
    this.document = document;
    this.stand = stand;
    const { order, deal } = document.said;
    // After a state, a reading may have two orders: one for turns that were interrupted, and one for the rest.
    this.size = document.size + 2 * orderMemory(order).all + roundsMemory(order) + readersMemory(deal);
  }

  get cause(): readonly [string, string] {
    return ['sizes', `${this.document.count('sizes', 'order', 'shards')} shards`];
  }

  /** This recipe with another place to begin at. */
  at(stand: Stand): ReadingRecipe {
    return new ReadingRecipe(this.document, stand);
  }

  make({ readings }: ComponentBindings): RawReading {
    const { document, stand } = this;
    const whole = new readings.Reading(document.text, [...document.lists], 'epoch' in stand ? stand.epoch : 0n);
    return 'epoch' in stand ? whole : using(whole, () => whole.resume(stand.state));
  }

  /** Makes the definition from the options of a constructor. */
  static of(sizes: unknown, given: ReadingOptions | undefined): ReadingRecipe {
    if (sizes instanceof OrderValue) return ReadingRecipe.ofOrder(sizes, given);
    const [sections, others] = dealt(options(given, OPTIONS));
    const [ofOrder, { deal = 'samples', shuffle, seed, bytes, ...whole }] = parted(others, LANES);
    const ofShards = section(whole);
    // The section that `deal` chooses is always written, even without members, so that the component refuses options of
    // the other deal.
    const isOrder = oneOf('deal', deal, DEALS) === 'samples';
    const isShuffled = !isOrder || shuffle === undefined || boolean('shuffle', shuffle);
    const recipe = {
      order: isOrder ? { name: isShuffled ? 'sharded' : 'sequential', seed, ...ofOrder } : ofOrder,
      shards: isOrder ? ofShards : { shuffle, seed, ...ofShards },
      ...sections,
    };
    return new ReadingRecipe(new Document(recipe, { sizes: required('sizes', sizes), bytes }));
  }

  /** Makes the definition from an order, which has its own shards and seed. */
  static ofOrder(made: OrderValue, given: ReadingOptions | undefined): ReadingRecipe {
    const [sections] = dealt(options(given, ORDER_OPTIONS));
    return new ReadingRecipe(new Document({ order: made.section, ...sections }, {}, made.beside));
  }

  /** Makes the definition from a recipe, and from lists that it does not have. */
  static read(recipe: unknown, given: ReadingRecipeOptions | undefined): ReadingRecipe {
    const { lists, ...named } = options(given, RECIPE_OPTIONS);
    return new ReadingRecipe(new Document(recipe, { ...named }, besideOf(lists)));
  }

  /** Makes the definition from a state, and from options that say how the rest of its epoch is dealt. */
  static ofState(state: unknown, given: ReadingStateOptions | undefined): ReadingRecipe {
    const [sections, lists] = dealt(options(given, STATE_OPTIONS));
    const text = stateText(state);
    return ReadingRecipe.read(recipeOfState(text, sections), lists).at({ state: text });
  }

  static ofJson(json: ReadingJson | string): ReadingRecipe {
    type Given = ReadingRecipeOptions & { epoch?: string; state?: string };
    const { recipe, given } = fromJson<Given>(json, [...RECIPE_OPTIONS, 'epoch', 'state']);
    const { epoch, state, ...lists } = given;
    const whole = ReadingRecipe.read(recipe, lists);
    if (state !== undefined) return whole.at({ state: stateText(state) });
    return epoch === undefined ? whole : whole.at({ epoch: integer('epoch', epoch, U64) });
  }

  /** The source text of calls that make an equal reading. */
  source(most: number): string {
    const { document, stand } = this;
    const made = document.source('Reading', {}, most);
    if ('state' in stand) return `${made}.resume(${shownText(stand.state, most)})`;
    return stand.epoch === 0n ? made : `${made}.atEpoch(${source(stand.epoch)})`;
  }
}
