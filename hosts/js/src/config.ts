import { FROM_ONE, integer, natural, natural32, oneOf, options, S64, string, U32, U64 } from './checks.js';
import type { Recipe } from './engine.js';
import { sum, words } from './lists.js';
import { LAYOUTS, type RawConfig, type RawSampler, type RawSharding, REMAINDERS, type SamplerBindings } from './raw.js';
import type { ConfigJson, Integer, SamplerOptions, ShardedOptions } from './types.js';

export const OPTIONS = ['seed', 'epoch', 'order', 'rank', 'world', 'remainder', 'layout', 'consumed'] as const;
const JSON_FIELDS = ['samples', ...OPTIONS, 'sharding'] as const;
const SHARDING = ['sizes', 'lanes', 'window'] as const;
const SHARDED_OPTIONS = ['lanes', 'window', ...OPTIONS.filter((name) => name !== 'order')] as const;

/** The orders whose memory does not grow with the samples. */
const WITHOUT_TABLE: readonly string[] = ['feistel', 'sequential', 'sharded'];

/** What the table of an order takes, in bytes. */
export function tableSize(order: string, samples: bigint): number {
  return WITHOUT_TABLE.includes(order) ? 0 : 4 * Number(samples);
}

/** What decides a sampler, checked as far as it has to be to cross. */
export class SamplerRecipe implements Recipe<SamplerBindings, RawSampler> {
  readonly config: RawConfig;
  readonly sharding: RawSharding | undefined;
  readonly size: number;

  constructor(config: RawConfig, sharding?: RawSharding) {
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
  with(moved: Pick<RawConfig, 'epoch' | 'consumed'> | Pick<RawConfig, 'rank'>): SamplerRecipe {
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
  static of(samples: Integer, given: SamplerOptions | undefined): SamplerRecipe {
    // Defaults stand in for what is missing, and not for null.
    const {
      seed = 0,
      epoch = 0,
      order = 'feistel',
      rank = 0,
      world = 1,
      remainder = 'pad',
      layout = 'strided',
      consumed = 0,
    } = options(given, OPTIONS);
    const count = natural('samples', samples);
    return new SamplerRecipe({
      samples: count,
      seed: integer('seed', seed, S64),
      epoch: integer('epoch', epoch, U64),
      order: string('order', order),
      rank: natural32('rank', rank, U32),
      world: natural32('world', world, FROM_ONE),
      remainder: oneOf('remainder', remainder, REMAINDERS),
      layout: oneOf('layout', layout, LAYOUTS),
      consumed: natural('consumed', consumed, () => Number(count) + 1),
    });
  }

  /** Of the options of `Sampler.sharded`. */
  static ofShards(sizes: unknown, given: ShardedOptions | undefined): SamplerRecipe {
    const { lanes = 64, window = 256, ...others } = options(given, SHARDED_OPTIONS);
    const checked = words('sizes', sizes);
    const { config } = SamplerRecipe.of(sum(checked), { ...others, order: 'sharded' });
    return new SamplerRecipe(config, {
      sizes: checked,
      lanes: natural32('lanes', lanes, U32),
      window: natural32('window', window, U32),
    });
  }

  /** Of a configuration in JSON. */
  static ofJson(json: ConfigJson): SamplerRecipe {
    const { samples, seed, epoch, consumed, sharding, ...others } = options(json, JSON_FIELDS);
    const wide = { seed: decimal(seed), epoch: decimal(epoch), consumed: decimal(consumed) };
    const { config } = SamplerRecipe.of(decimal(samples), { ...others, ...wide });
    if (sharding === undefined) return new SamplerRecipe(config);
    const { sizes, lanes, window } = options(sharding, SHARDING);
    return new SamplerRecipe(config, {
      sizes: words('sizes', Array.isArray(sizes) ? sizes.map(decimal) : sizes),
      lanes: natural32('lanes', lanes, U32),
      window: natural32('window', window, U32),
    });
  }

  toJson(): ConfigJson {
    const { config, sharding } = this;
    const { samples, seed, epoch, consumed } = config;
    const wide = { samples: String(samples), seed: String(seed), epoch: String(epoch), consumed: String(consumed) };
    const json = { ...config, ...wide };
    if (!sharding) return json;
    return { ...json, sharding: { ...sharding, sizes: Array.from(sharding.sizes, String) } };
  }
}

export function plain(value: bigint): Integer {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** A whole number as it is written in a program. */
export function source(value: bigint): string {
  return typeof plain(value) === 'bigint' ? `${value}n` : String(value);
}

/** A decimal string as a `bigint`; anything else as it is, for the constructor to refuse. */
export function decimal(text: unknown): Integer {
  return typeof text === 'string' && /^-?\d{1,20}$/.test(text) ? BigInt(text) : (text as Integer);
}
