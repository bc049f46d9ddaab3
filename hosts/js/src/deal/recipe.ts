import type { RawSampler, SamplerBindings } from '../bindings/types.js';
import { FROM_ONE, integer, natural, natural32, oneOf, options, S64, string, U32, U64 } from '../checks.js';
import type { Recipe } from '../engine.js';
import type { Config, Sharding } from '../jco/interfaces/samedeal-deal-sampling.js';
import { sum, words } from '../lists.js';
import { type Checks, checked, fromJson, type Given, namesIn, toJson } from '../options.js';
import type { ConfigJson, Layout, Remainder, SamplerOptions, ShardedOptions } from '../types.js';

/** The names in the order of `wit/types.wit`. */
export const REMAINDERS: readonly Remainder[] = ['drop', 'pad', 'uneven'];
export const LAYOUTS: readonly Layout[] = ['strided', 'contiguous'];

/** The options of a sampler of so many samples. */
const checks = (samples: bigint): Checks<Omit<Config, 'samples'>> => ({
  seed: (value) => integer('seed', value, S64),
  epoch: (value) => integer('epoch', value, U64),
  order: (value) => string('order', value),
  rank: (value) => natural32('rank', value, U32),
  world: (value) => natural32('world', value, FROM_ONE),
  remainder: (value) => oneOf('remainder', value, REMAINDERS),
  layout: (value) => oneOf('layout', value, LAYOUTS),
  consumed: (value) => natural('consumed', value, () => Number(samples) + 1),
});
const USUAL = {
  seed: 0,
  epoch: 0,
  order: 'feistel',
  rank: 0,
  world: 1,
  remainder: 'pad',
  layout: 'strided',
  consumed: 0,
} as const;
export const OPTIONS = namesIn(checks(0n));

const SHARDING = ['sizes', 'lanes', 'window'] as const;
const SHARDED_OPTIONS = (['lanes', 'window', ...OPTIONS] as const).filter((name) => name !== 'order');

/** The orders whose memory does not grow with the samples. */
const WITHOUT_TABLE: readonly string[] = ['feistel', 'sequential', 'sharded'];

/** What the table of an order takes, in bytes. */
export function tableSize(order: string, samples: bigint): number {
  return WITHOUT_TABLE.includes(order) ? 0 : 4 * Number(samples);
}

/** What decides a sampler, checked as far as it has to be to cross. */
export class SamplerRecipe implements Recipe<SamplerBindings, RawSampler> {
  readonly config: Config;
  readonly sharding: Sharding | undefined;
  readonly size: number;

  constructor(config: Config, sharding?: Sharding) {
    this.config = config;
    this.sharding = sharding;
    // For shards, their order and its places; what their sizes take on the way in; and the spans of a round.
    const shards = sharding ? 104 * sharding.sizes.length + 1200 * sharding.lanes : 0;
    this.size = 1024 + tableSize(config.order, config.samples) + shards;
  }

  get cause(): readonly [string, bigint] {
    return ['samples', this.config.samples];
  }

  /** The same at another place of an epoch, or for another rank. */
  with(moved: Pick<Config, 'epoch' | 'consumed'> | Pick<Config, 'rank'>): SamplerRecipe {
    return new SamplerRecipe({ ...this.config, ...moved }, this.sharding);
  }

  /** The same in an epoch: in another one, of which nothing is consumed. */
  inEpoch(epoch: bigint): SamplerRecipe {
    return this.with({ epoch, consumed: epoch === this.config.epoch ? this.config.consumed : 0n });
  }

  make(bindings: SamplerBindings): RawSampler {
    return bindings.create(this.config, this.sharding);
  }

  /** Of the options of a constructor. */
  static of(samples: unknown, given: Given<SamplerOptions> | undefined): SamplerRecipe {
    const named = options(given, OPTIONS);
    const count = natural('samples', samples);
    return new SamplerRecipe({ samples: count, ...checked(checks(count), named, USUAL) });
  }

  /** Of the options of `Sampler.sharded`. */
  static ofShards(sizes: unknown, given: Given<ShardedOptions> | undefined): SamplerRecipe {
    const { lanes = 64, window = 256, ...others } = options(given, SHARDED_OPTIONS);
    const counts = words('sizes', sizes);
    return SamplerRecipe.of(sum(counts), { ...others, order: 'sharded' }).cut(counts, lanes, window);
  }

  /** Of a configuration in JSON. */
  static ofJson(json: ConfigJson): SamplerRecipe {
    const { samples, sharding, ...others } = fromJson(json, ['samples', ...OPTIONS, 'sharding']);
    const recipe = SamplerRecipe.of(samples, others);
    if (sharding === undefined) return recipe;
    const { sizes, lanes, window } = fromJson(sharding as NonNullable<ConfigJson['sharding']>, SHARDING);
    return recipe.cut(words('sizes', sizes), lanes, window);
  }

  toJson(config: Config): ConfigJson {
    const sharding = this.sharding && { sharding: toJson(this.sharding) };
    return { ...toJson(config), ...sharding } as unknown as ConfigJson;
  }

  private cut(sizes: BigUint64Array, lanes: unknown, window: unknown): SamplerRecipe {
    const [many, near] = [natural32('lanes', lanes, U32), natural32('window', window, U32)];
    return new SamplerRecipe(this.config, { sizes, lanes: many, window: near });
  }
}
