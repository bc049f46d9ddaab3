// The functions that make orders. They check types and the names of options, and write the members of a recipe. The
// engine checks the values when a sampler is made.
import { boolean, fail, options, placed, record, string, u53, weightOf } from '../checks.js';
import { DRAWS, EPISODES, LANES, SOURCES } from '../generated/options.js';
import { LONGEST, list, words } from '../lists.js';
import type { Integer, Integers, OrderName } from '../types.js';
import {
  type BlendSources,
  countOf,
  entriesOf,
  growthOf,
  made,
  Order,
  objectsOf,
  optionsOf,
  seedOf,
  weightsOf,
} from './order.js';
import type {
  BalanceOptions,
  BlendOptions,
  BlendStage,
  Growth,
  PlainOptions,
  SeedOptions,
  ShardsOptions,
  WeightedOptions,
  WindowsOptions,
} from './types.js';

/**
 * The order of this name, one of `plainOrders()`, for a dataset of `samples` samples. Use it for a part of another order, or where orders are passed
 * around; `new Sampler(samples, { order, seed })` is shorter for an order alone. Errors: `order`, `options`, `samples`, `seed`.
 *
 * @example
 * const sampler = new Sampler(order('feistel', { samples: 1000, seed: 7 }), { worldSize: 4 });
 */
export function order(name: OrderName, given: PlainOptions): Order {
  const { samples, seed } = options(given, ['samples', 'seed']);
  return made(string('order', name), { samples: u53('samples', samples), seed: seedOf(seed) });
}

/**
 * The order `sharded`, for a dataset that is stored in shards; `sizes` has the number of samples of each: see
 * `Sampler.sharded`. Use it for a part of another order. Errors: `sizes`, `options`, `lanes`, `shuffleWindow`, `seed`.
 *
 * @example
 * const stored = sharded([40, 25, 35], { lanes: 4, shuffleWindow: 8, seed: 7 });
 */
export function sharded(sizes: Integers, given?: ShardsOptions): Order {
  const { seed, ...others } = options(given, [...LANES, 'seed']);
  const members = { seed: seedOf(seed), ...optionsOf(others) };
  return made('sharded', members, { sizes: words('sizes', sizes) });
}

const BLEND_OPTIONS = [...SOURCES, 'seed', 'samples', 'exact', 'stages'] as const;

/**
 * Several sources in proportion to weights, as `{ name: [samples or order, weight] }`. Each source is read in whole passes, every pass in
 * another order, and each count is near to exact proportion at every position (`sourceBounds` of a sampler). Use it to mix datasets. With the
 * exhaustion `repeat`, passes go on over the ends of epochs, and `stage` adds other weights from a position on.
 *
 * Limits: at most 2^16 sources; weights together at most 2^53 - 1, and with `exact` at most 2^20 after a division by
 * their greatest common divisor; no source has an order with a table. Samples of a source come after those of the
 * sources before it (`sourceOf`), unless `indexSpace` is `shared`. Errors: `sources`, `source`, `samples`, `weight`,
 * `options`, and the options; `weights`, `from`.
 *
 * @example
 * const mixed = blend({ web: [1_000_000, 3], code: [200_000, 1] }, { seed: 7 });
 */
export function blend(sources: BlendSources, given?: BlendOptions): Order {
  const { exact = false, stages, seed, samples, ...others } = options(given, BLEND_OPTIONS);
  const name = boolean('exact', exact) ? 'blend-exact' : 'blend';
  const parts: Record<string, Order> = {};
  const allowed = 'an object with [samples or order, weight] by the names of sources';
  const members = entriesOf('sources', sources, allowed).map(([source, value]) => {
    if (!Array.isArray(value) || value.length < 1 || value.length > 2)
      placed(`of source ${source}`, () => fail('wrong-type', 'sources', value, '[samples or order, weight]'));
    const [of, weight] = value as [unknown, unknown];
    if (of instanceof Order) parts[`sources/${source}`] = of;
    return placed(`of source ${source}`, () => ({
      name: source,
      weight: weight === undefined ? undefined : weightOf('weight', weight),
      ...(of instanceof Order ? { order: of.section } : { samples: u53('samples', of) }),
    }));
  });
  const names = members.map(({ name }) => name);
  const all = {
    samples: countOf('samples', samples),
    seed: seedOf(seed),
    ...optionsOf(others),
    sources: members,
    stages: stages === undefined ? undefined : stagesOf(stages, names),
  };
  return made(name, all, {}, parts);
}

function stagesOf(stages: unknown, names: readonly string[]) {
  const members = ['from', 'weights'] as const;
  return objectsOf<BlendStage, object>('stages', stages, members, (stage) => {
    record('stages', stage, 'a plain object with from, weights');
    const { from, weights } = options(stage, members);
    return { from: u53('from', from), weights: weightsOf(weights, names) };
  });
}

/**
 * The order of a dataset that began with `samples` samples and was extended. Each extension is
 * `{ epoch, consumed, samples }`: in this epoch, after `consumed` of its positions, the dataset had `samples` samples.
 * Use it when data is added during training: positions before an extension stay as they were, every sample is seen
 * exactly once in its epoch, and an epoch without an extension is that of `feistel`. The method `grow` adds another
 * extension. Errors: `samples`, `growth`, `epoch`, `consumed`, `options`, `seed`.
 *
 * @example
 * const more = grown(1000, [{ epoch: 2, consumed: 300, samples: 1200 }], { seed: 7 });
 */
export function grown(samples: Integer, growth: readonly Growth[], given?: SeedOptions): Order {
  const { seed } = options(given, ['seed']);
  return made('grown', { samples: u53('samples', samples), seed: seedOf(seed), growth: growthOf(growth) });
}

/**
 * The windows of `length` neighbouring samples in episodes, in random order. Each window is given by its first sample;
 * `sizes` has the number of samples of each episode. The windows of an episode begin `stride` samples apart. Use it for
 * recordings, time series and long documents. An episode that is shorter than a window has none. Errors: `sizes`,
 * `length`, `options`, `stride`, `seed`.
 *
 * @example
 * const clips = windows([300, 500, 80], 16, { stride: 8, seed: 7 });
 */
export function windows(sizes: Integers, length: Integer, given?: WindowsOptions): Order {
  const { seed, ...others } = options(given, [...EPISODES, 'seed']);
  const members = { seed: seedOf(seed), length: u53('length', length), ...optionsOf(others) };
  return made('windows', members, { sizes: words('sizes', sizes) });
}

/**
 * An order that repeats samples by class. `classes` has the class of each sample; `factors` has, for each class, how
 * often its samples are seen in an epoch: numbers of at most six decimals, such as 2.5. Use it for classes of very
 * different size. In each epoch, the factor is rounded up or down for a sample; over epochs, it is met exactly. With
 * `samples`, every epoch has `samples` positions, and factors are whole numbers of which only the proportions count.
 * Limits: at most 2^25 samples and 2^16 classes. Errors: `classes`, `factors` (no number; more than six decimals),
 * `options`, `samples`, `seed`.
 *
 * @example
 * const even = balance([0, 0, 0, 1], [1, 3], { seed: 7 });
 */
export function balance(
  classes: Integers,
  factors: readonly number[] | Float64Array | Integers,
  given?: BalanceOptions,
): Order {
  const { samples, seed } = options(given, ['samples', 'seed']);
  const lists = {
    classes: words('classes', classes),
    factors:
      samples === undefined
        ? words('factors', Array.from(list('factors', factors, LONGEST, 'numbers'), millionths))
        : words('factors', factors as Integers),
  };
  return made('balance', { samples: countOf('samples', samples), seed: seedOf(seed) }, lists);
}

/**
 * An order with each sample in proportion to its weight. `weights` has the weight of each sample: whole numbers; for
 * others, see `wholeWeights`. In an epoch of n samples, a sample whose weight is the share s of all weights comes n * s
 * times, rounded up or down. There may be as many different weights as samples. Errors: `weights`, `options`, `samples`, `seed`, `replacement`.
 *
 * @example
 * const often = weighted([1, 1, 1, 3], { samples: 12, seed: 7 });
 */
export function weighted(weights: Integers, given?: WeightedOptions): Order {
  const { samples, seed, ...others } = options(given, [...DRAWS, 'samples', 'seed']);
  const members = { samples: countOf('samples', samples), seed: seedOf(seed), ...optionsOf(others) };
  return made('weighted', members, { weights: words('weights', weights) });
}

/** A factor in millionths, as recipes have it. */
function millionths(factor: unknown, place: number): number {
  const allowed =
    'a number of at most six decimals, from 0 to 4294.967295. For smaller ones, and for any proportions, pass whole numbers and the option samples, the length of an epoch';
  return placed(`factors[${place}]`, () => {
    if (typeof factor !== 'number') return fail('wrong-type', 'factors', factor, allowed);
    const count = Math.round(factor * 1e6);
    if (!(count >= 0 && count <= 0xffff_ffff) || count / 1e6 !== factor)
      fail('out-of-range', 'factors', factor, allowed);
    return count;
  });
}
