import { using } from '../bindings/resources.js';
import type { LightBindings, RawSampler } from '../bindings/types.js';
import { fail, integer, options, U64, u32, u53 } from '../checks.js';
import { besideOf, Document, fromJson, numberIn, parted, section } from '../document.js';
import { BEFORE_OTHERS, type Recipe } from '../engine.js';
import { DEAL, LANES } from '../generated/options.js';
import { OrderValue } from '../order/value.js';
import { recipeOfState } from '../state.js';
import type { RecipeOptions, SamplerJson, SamplerOptions, ShardedOptions, StateOptions } from '../types.js';

const PLACE = ['rank', 'epoch', 'consumed'] as const;
const OPTIONS = [...PLACE, 'seed', ...DEAL, 'order'] as const;
const SHARDED_OPTIONS = [...PLACE, 'seed', ...DEAL, ...LANES] as const;
const ORDER_OPTIONS = [...PLACE, ...DEAL] as const;
const RECIPE_OPTIONS = [...PLACE, 'sizes', 'lists'] as const;

/** The orders whose memory does not grow with the samples. */
const WITHOUT_TABLE: readonly unknown[] = [
  ...['feistel', 'sequential', 'sharded', undefined],
  ...['blend', 'blend-exact', 'grown', 'exclude', 'subset', 'skip', 'copies', 'windows', 'balance'],
];
const STATE_OPTIONS = ['rank', ...DEAL, 'sizes', 'lists'] as const;
/** More orders in one another than a recipe has. */
const DEEPEST = 24;
/** The longest period of a `blend-exact`, and what each of its positions takes, in bytes. */
const PERIOD = 2 ** 20;
const OF_PERIOD = 16;
/** What each sample of a round takes, in bytes: where it is stored, its span, and its row. */
const OF_ROUND = 120;
/** What a source takes in each stage of a blend, and what it is read by. */
const OF_SOURCE = 512;
/** What a composed order makes of each number of its lists, in bytes: copies, and the places in two epochs. */
const OF_LISTS = 40;

/** Bytes that the table of an order needs; 0 if it needs none, or if the recipe is wrong. */
export function tableSize(order: unknown, samples: unknown): number {
  const count = numberIn(samples);
  return WITHOUT_TABLE.includes(order) || !(count > 0) ? 0 : 4 * count;
}

type Members = Record<string, unknown>;
const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null;
const objects = (value: unknown): Members[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** Bytes that an order and the orders within it need for their tables and their blends. What is wrong in a recipe counts 0. */
function madeOf(order: unknown, depth = 0): { table: number; blends: number } {
  if (!isObject(order) || depth > DEEPEST) return { table: 0, blends: 0 };
  const sources = objects(order.sources);
  const weights = sources.map(({ weight = 1 }) => numberIn(weight) || 0);
  // A source that leaves begins another stage.
  const leaving = order.exhaustion === 'renormalise' ? sources.length : 0;
  const stages = 1 + objects(order.stages).length + leaving;
  const sum = weights.reduce((sum, weight) => sum + weight, 0);
  const period = order.name === 'blend-exact' ? Math.min(sum, PERIOD) : 0;
  let table = tableSize(order.name, order.samples);
  let blends = stages * (OF_SOURCE * sources.length + OF_PERIOD * period);
  for (const part of [order.of, ...sources.map((source) => source.order)]) {
    const inner = madeOf(part, depth + 1);
    table += inner.table;
    blends += inner.blends;
  }
  return { table, blends };
}

/** Whether an order is made of others; false if the recipe is wrong. */
export function isComposed(order: unknown): boolean {
  return isObject(order) && (isObject(order.of) || Array.isArray(order.sources));
}

/** Bytes that readers of an order in shards hold: a window of each lane, and a round of samples. What is wrong in a recipe counts 0. */
export function heldSize(order: unknown, depth = 0): number {
  if (!isObject(order) || depth > DEEPEST) return 0;
  const parts = [order.of, ...objects(order.sources).map((source) => source.order)].filter(isObject);
  if (parts.length > 0) return parts.reduce((sum, part) => sum + heldSize(part, depth + 1), 0);
  const { lanes = 64, shuffle_window: window = 256 } = order;
  return numberIn(lanes) * (1200 + OF_ROUND * numberIn(window)) || 0;
}

/** Bytes that an order needs in the engine: `all` of it, and its `table` alone. What is wrong in a recipe counts 0. */
export function orderSize(document: Document): { all: number; table: number } {
  const { lanes = 64 } = document.said.order ?? {};
  const { table, blends } = madeOf(document.said.order);
  const shards = document.count('sizes', 'order');
  const listed = document.lists.reduce((sum, { numbers }) => sum + OF_LISTS * numbers.length, 0);
  // For shards, their order and its places, and the spans of a round.
  const sharded = shards > 0 ? 88 * shards + 1200 * (numberIn(lanes) || 0) : 0;
  return { all: table + blends + Math.max(listed, sharded), table };
}

/** What an error tells where there is no memory for an order. */
export function causeOf(document: Document): readonly [string, unknown] {
  const { name, samples } = document.said.order ?? {};
  return samples === undefined && name !== undefined ? ['order', name] : ['samples', samples];
}

/** What takes samples or an order, as an error tells it. */
export const SAMPLES = 'the number of samples, or an order that `order`, `blend` and others made';

/** Options, with those of a deal as that section. */
function dealt<T extends SamplerOptions>(given: T | undefined, known: readonly (keyof T & string)[]) {
  const [deal, others] = parted(options<T>(given, known), DEAL);
  return { ...others, deal };
}

/** What decides a sampler: a recipe, the rank, and the place in an epoch. */
export class SamplerRecipe implements Recipe<LightBindings, RawSampler> {
  readonly document: Document;
  readonly rank: number;
  readonly epoch: bigint;
  readonly consumed: bigint;
  readonly size: number;
  readonly isMadeFirst: boolean;

  constructor(document: Document, place: Omit<RecipeOptions, 'sizes' | 'lists'>) {
    const { rank = 0, epoch = 0, consumed = 0 } = place;
    // Such as that of a variable of the environment which is not set: all processes would read the samples of rank 0.
    if (place.rank === undefined && Object.hasOwn(place, 'rank'))
      fail('wrong-type', 'rank', place.rank, 'a whole number, or no option `rank` at all');
    this.document = document;
    this.rank = u32('rank', rank);
    this.epoch = integer('epoch', epoch, U64);
    this.consumed = u53('consumed', consumed);
    const { all, table } = orderSize(document);
    this.size = 1024 + document.size + all;
    this.isMadeFirst = table > BEFORE_OTHERS;
  }

  get cause(): readonly [string, unknown] {
    return causeOf(this.document);
  }

  /** The same at another place of an epoch, or for another rank. */
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

  /** Of the options of a constructor. */
  static of(samples: unknown, given: SamplerOptions | undefined): SamplerRecipe {
    if (samples instanceof OrderValue) return SamplerRecipe.ofOrder(samples, given);
    // The component would show a part of the list.
    if (typeof samples === 'object') fail('wrong-type', 'samples', samples, SAMPLES);
    const { deal, order: name, seed, ...place } = dealt(given, OPTIONS);
    return new SamplerRecipe(new Document({ order: { name, samples, seed }, deal }), place);
  }

  /** Of an order, which has its own name and seed. */
  static ofOrder(made: OrderValue, given: SamplerOptions | undefined): SamplerRecipe {
    const { deal, ...place } = dealt(given, ORDER_OPTIONS);
    return new SamplerRecipe(new Document({ order: made.section, deal }, {}, made.beside), place);
  }

  /** Of the options of `Sampler.sharded`. */
  static ofShards(sizes: unknown, given: ShardedOptions | undefined): SamplerRecipe {
    const { deal, lanes, shuffleWindow, seed, ...place } = dealt(given, SHARDED_OPTIONS);
    const order = section({ name: 'sharded', seed, lanes, shuffleWindow });
    return new SamplerRecipe(new Document({ order, deal }, { sizes: sizes ?? null }), place);
  }

  /** Of a recipe, and what it does not say. */
  static read(recipe: unknown, given: RecipeOptions | undefined): SamplerRecipe {
    const { sizes, lists, ...place } = options(given, RECIPE_OPTIONS);
    return new SamplerRecipe(new Document(recipe, { sizes }, besideOf(lists)), place);
  }

  /** Of the recipe of a state, and how the rest of its epoch is dealt. */
  static ofState(state: unknown, given: StateOptions | undefined): SamplerRecipe {
    const { deal, ...place } = dealt(given, STATE_OPTIONS);
    return SamplerRecipe.read(recipeOfState(state, { deal }), place);
  }

  static ofJson(json: SamplerJson | string): SamplerRecipe {
    const { recipe, given } = fromJson<RecipeOptions>(json, RECIPE_OPTIONS);
    return SamplerRecipe.read(recipe, given);
  }
}
