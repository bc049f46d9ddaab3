import { using } from '../bindings/resources.js';
import type { RawSampler, SamplerBindings } from '../bindings/types.js';
import { integer, natural, natural32, options, U32, U64 } from '../checks.js';
import { Document, fromJson, section } from '../document.js';
import { BEFORE_OTHERS, type Recipe } from '../engine.js';
import type { RecipeOptions, SamplerJson, SamplerOptions, ShardedOptions } from '../types.js';

const PLACE = ['rank', 'epoch', 'consumed'] as const;
const DEAL = ['seed', 'worldSize', 'remainder', 'layout'] as const;
const OPTIONS = [...PLACE, ...DEAL, 'order'] as const;
const SHARDED_OPTIONS = [...PLACE, ...DEAL, 'lanes', 'shuffleWindow'] as const;
const RECIPE_OPTIONS = [...PLACE, 'sizes'] as const;

/** The orders whose memory does not grow with the samples. */
const WITHOUT_TABLE: readonly unknown[] = ['feistel', 'sequential', 'sharded', undefined];

/** What the table of an order takes, in bytes, as far as a recipe is one. */
export function tableSize(order: unknown, samples: unknown): number {
  const count = Number(samples);
  return WITHOUT_TABLE.includes(order) || !(count > 0) ? 0 : 4 * count;
}

/** What decides a sampler: a recipe, the rank, and the place in an epoch. */
export class SamplerRecipe implements Recipe<SamplerBindings, RawSampler> {
  readonly document: Document;
  readonly rank: number;
  readonly epoch: bigint;
  readonly consumed: bigint;
  readonly size: number;
  readonly isMadeFirst: boolean;

  constructor(document: Document, { rank = 0, epoch = 0, consumed = 0 }: Omit<RecipeOptions, 'sizes'>) {
    this.document = document;
    this.rank = natural32('rank', rank, U32);
    this.epoch = integer('epoch', epoch, U64);
    this.consumed = natural('consumed', consumed);
    const { name, samples, lanes = 64 } = document.said.order ?? {};
    const table = tableSize(name, samples);
    const shards = document.count('sizes', 'order');
    // For shards, their order and its places, and the spans of a round.
    this.size = 1024 + document.size + table + (shards > 0 ? 88 * shards + 1200 * (Number(lanes) || 0) : 0);
    this.isMadeFirst = table > BEFORE_OTHERS;
  }

  get cause(): readonly [string, unknown] {
    return ['samples', this.document.said.order?.samples];
  }

  /** The same at another place of an epoch, or for another rank. */
  at(place: { rank: number; epoch: bigint; consumed: bigint }): SamplerRecipe {
    return new SamplerRecipe(this.document, place);
  }

  make(bindings: SamplerBindings): RawSampler {
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
    const { order: name, seed, worldSize, remainder, layout, ...place } = options(given, OPTIONS);
    const deal = section({ worldSize, remainder, layout });
    return new SamplerRecipe(new Document({ order: { name, samples, seed }, deal }), place);
  }

  /** Of the options of `Sampler.sharded`. */
  static ofShards(sizes: unknown, given: ShardedOptions | undefined): SamplerRecipe {
    const { lanes, shuffleWindow, seed, worldSize, remainder, layout, ...place } = options(given, SHARDED_OPTIONS);
    const order = section({ name: 'sharded', seed, lanes, shuffleWindow });
    const deal = section({ worldSize, remainder, layout });
    return new SamplerRecipe(new Document({ order, deal }, { sizes: sizes ?? null }), place);
  }

  /** Of a recipe, and what it does not say. */
  static read(recipe: unknown, given: RecipeOptions | undefined): SamplerRecipe {
    const { sizes, ...place } = options(given, RECIPE_OPTIONS);
    return new SamplerRecipe(new Document(recipe, { sizes }), place);
  }

  static ofJson(json: SamplerJson): SamplerRecipe {
    const { recipe, given } = fromJson<RecipeOptions>(json, RECIPE_OPTIONS);
    return SamplerRecipe.read(recipe, given);
  }
}
