// Orders as values. An order is the section `order` of a recipe, and its long lists beside it.
import {
  boolean,
  fail,
  integer,
  isFraction,
  options,
  placed,
  record,
  S64,
  string,
  u53,
  unknownName,
  weightOf,
} from '../checks.js';
import type { NamedList } from '../components/interfaces/samedeal-deal-types.js';
import { snaked, written } from '../document.js';
import { symbolInspect } from '../engine.js';
import { MAX_NUMBERS } from '../generated/limits.js';
import { FLAGS, NAMES } from '../generated/names.js';
import { list, words } from '../lists.js';
import type { Integer, Integers } from '../types.js';
import type { BlendWeights, Growth, OrderJson, SkippedRange } from './types.js';
import { OrderValue, type Section } from './value.js';

/** The longest recipe that `console.log` shows as a whole, in characters. */
const SHOWN = 256;

/**
 * An order: it says which sample has which position of an epoch. `order`, `sharded`, `blend`, `grown`, `windows`,
 * `balance` and `weighted` make orders, and the methods make others of them. `new Sampler(order, options)` deals one to
 * ranks. An order is a value: it never changes, and uses no memory of the engine. The engine checks it when a sampler
 * is made of it.
 */
export class Order extends OrderValue {
  /** Name of the order. */
  get name(): string {
    return this.section.name as string;
  }

  /**
   * The recipe of this order, which `Sampler.fromRecipe` takes together with `lists`: JSON in one line, with the members that were given.
   * `recipe` of a sampler has the defaults too.
   */
  get recipe(): string {
    return `{"order":${written('order', this.section, 1)}}`;
  }

  /** Lists of more than 256 numbers, which come beside the recipe, by the paths of their members: new copies. */
  get lists(): Record<string, Float64Array<ArrayBuffer>> {
    return Object.fromEntries(this.beside.map(({ name, numbers }) => [name, Float64Array.from(numbers, Number)]));
  }

  /**
   * This order without the samples `indices`, which ascend. The other samples keep their order; of the order `sharded`,
   * lanes and windows are cut anew from them, so that each reader still has its own lanes. Use it for samples that were
   * found to be bad, or are held out. Cost: the first sampler of an epoch looks up each of the indices, and sorts
   * their positions. Limits: the order has no sample twice in an epoch, so it is no blend, `copies`, `balance` or
   * `weighted`; exclude samples from the sources of a blend instead, or before `copies`. Errors: `indices`, `of` (see
   * the limits).
   *
   * @example
   * const clean = order('feistel', { samples: 1000 }).exclude([13, 99, 500]);
   */
  exclude(indices: Integers): Order {
    return made('exclude', {}, { indices: words('indices', indices) }, { of: this });
  }

  /**
   * This order with the samples `indices` alone, which ascend. For their order, costs and limits, see `exclude`.
   *
   * @example
   * const held = order('feistel', { samples: 1000 }).subset([1, 2, 3]);
   */
  subset(indices: Integers): Order {
    return made('subset', {}, { indices: words('indices', indices) }, { of: this });
  }

  /**
   * This order without the positions in `ranges`, which ascend, and do not overlap. Use it for batches whose loss went
   * wrong. If all ranges begin after a state of this order, a run continues from the state without them. Errors:
   * `ranges`, `epoch`, `start`, `count`.
   *
   * @example
   * const without = order('feistel', { samples: 1000 }).skip([{ epoch: 0, start: 64, count: 32 }]);
   */
  skip(ranges: readonly SkippedRange[]): Order {
    const names = ['epoch', 'start', 'count'] as const;
    const objects = objectsOf<SkippedRange, Section>('ranges', ranges, names, (range) =>
      counts('ranges', range, names),
    );
    return made('skip', { ranges: objects }, {}, { of: this });
  }

  /**
   * This order with every sample `copies` times in a row: for several answers to each prompt. Errors: `copies`.
   *
   * @example
   * const groups = order('feistel', { samples: 1000 }).copies(8);
   */
  copies(copies: Integer): Order {
    return made('copies', { copies: u53('copies', copies) }, {}, { of: this });
  }

  /**
   * This blend with other weights from position `from` on: a new stage. `from` is above the beginnings of the stages
   * that the blend has, and is counted over all epochs. If the new stage begins after a state, a run with this stage
   * can continue from the state. Errors: `order` (no blend), `from`, `weights`.
   *
   * @example
   * const mixed = blend({ web: [1000, 3], code: [200, 1] }, { samples: 5000 });
   * const later = mixed.stage(3000, { web: 1, code: 1 });
   */
  stage(from: Integer, weights: BlendWeights): Order;
  stage(from: Integer, weights: BlendWeights, ...others: unknown[]): Order {
    if (others.length > 0) {
      fail('wrong-type', 'options', others[0], 'no third argument; a new source is declared in `blend`, with weight 0');
    }
    const { sources, stages = [] } = this.section as { sources?: readonly { name: string }[]; stages?: Section[] };
    if (!sources) fail('contradiction', 'order', this.name, 'blend or blend-exact, for other weights');
    const names = sources.map(({ name }) => name);
    const added = { from: u53('from', from), weights: weightsOf(weights, names) };
    return new Order({ ...this.section, stages: [...stages, added] }, this.beside);
  }

  /**
   * This order, of a dataset that was extended: in epoch `epoch`, after `consumed` of its positions, the dataset had
   * `samples` samples. Positions before the extension stay as they were, and every sample is seen exactly once in that
   * epoch. A run can continue from a state that was taken before the extension. Errors: `epoch`, `consumed`, `samples`;
   * samplers of an order that is neither `feistel` nor `grown` throw one with `growth`.
   *
   * @example
   * const more = order('feistel', { samples: 1000 }).grow(2, 300, 1200);
   */
  grow(epoch: Integer, consumed: Integer, samples: Integer): Order {
    const { section, name } = this;
    const { growth = [] } = section as { growth?: Section[] };
    const added = counts('growth', { epoch, consumed, samples }, ['epoch', 'consumed', 'samples']);
    // The component refuses growth of other orders.
    const grown = name === 'feistel' ? 'grown' : name;
    return new Order({ ...section, name: grown, growth: [...growth, added] }, this.beside);
  }

  /** The recipe and the lists, for `JSON.stringify`. `Sampler.fromJSON` makes a sampler of it. */
  toJSON(): OrderJson {
    const lists = this.beside.map(({ name, numbers }) => [name, Array.from(numbers, Number)]);
    return { recipe: this.recipe, ...(lists.length > 0 && { lists: Object.fromEntries(lists) }) };
  }

  /** The recipe, without the lists beside it. */
  toString(): string {
    return this.recipe;
  }

  /** The text that `console.log` of Node, Deno and Bun shows: the beginning of the recipe, and how long the lists are. @internal */
  [symbolInspect](): string {
    const { recipe, beside } = this;
    const text = recipe.length > SHOWN ? `${recipe.slice(0, SHOWN)}...` : recipe;
    return ['Order', text, ...beside.map(({ name, numbers }) => `${name}: ${numbers.length} numbers`)].join(' ');
  }
}

/** An order; or a number of samples, which stands for the order `feistel` of a dataset with this number of samples. */
export type OrderOrSamples = Order | Integer;

/** A source of a blend: its order or its number of samples, and its weight, by default 1. */
export type BlendSource = readonly [of: OrderOrSamples, weight?: Integer];

/** The sources of a blend by their names. In an object, names that are whole numbers come first; a `Map` keeps its order. */
export type BlendSources = Readonly<Record<string, BlendSource>> | ReadonlyMap<string, BlendSource>;

/**
 * Makes an order from members that were checked. Long lists of `lists` stay beside the members. `parts` are the orders
 * that it is made of, by the paths of their members; the order at `of` becomes a member.
 */
export function made(
  name: string,
  members: object,
  lists: Record<string, BigUint64Array<ArrayBuffer>> = {},
  parts: Record<string, Order> = {},
): Order {
  const given = Object.entries(members).filter(([, value]) => value !== undefined);
  const section: Record<string, unknown> = { name, ...Object.fromEntries(given) };
  if (parts.of) section.of = parts.of.section;
  const beside: NamedList[] = [];
  for (const [name, numbers] of Object.entries(lists)) {
    if (numbers.length > MAX_NUMBERS) beside.push({ name, numbers });
    else section[name] = numbers;
  }
  for (const [path, { beside: below }] of Object.entries(parts)) {
    for (const { name, numbers } of below) beside.push({ name: `${path}/${name}`, numbers });
  }
  return new Order(section, beside);
}

/** The seed, if one is given. */
export const seedOf = (seed: unknown): bigint | undefined =>
  seed === undefined ? undefined : integer('seed', seed, S64);

/** A count, if one is given. */
export const countOf = (field: string, value: unknown): bigint | undefined =>
  value === undefined ? undefined : u53(field, value);

/** Options as members of an order: names, flags, and counts. */
export const optionsOf = (given: object): Section =>
  Object.fromEntries(
    Object.entries(given).map(([option, value]) => {
      const field = snaked(option);
      if (value === undefined) return [field, value];
      if (FLAGS.includes(option)) return [field, boolean(field, value)];
      return [field, NAMES.includes(option) ? string(field, value) : u53(field, value)];
    }),
  );

/** An object of counts, all of which have to be there. */
export function counts<T extends object>(field: string, value: T, names: readonly (keyof T & string)[]): Section {
  record(field, value, `a plain object with ${names.join(', ')}`);
  const given = options<T>(value, names);
  return Object.fromEntries(names.map((name) => [name, u53(name, given[name])]));
}

/** Reads each item of an array of plain objects with `made`. `names` are the members of an item, for errors. */
export function objectsOf<T, U>(field: string, value: unknown, names: readonly string[], made: (item: T) => U): U[] {
  if (!Array.isArray(value)) fail('wrong-type', field, value, `an array of plain objects with ${names.join(', ')}`);
  return Array.from(list(field, value) as ArrayLike<T>, (item, i) => placed(`at index ${i}`, () => made(item)));
}

/** The member `growth` of a recipe: when a dataset was extended. */
export function growthOf(growth: readonly Growth[]): Section[] {
  const names = ['epoch', 'consumed', 'samples'] as const;
  return objectsOf<Growth, Section>('growth', growth, names, (one) => counts('growth', one, names));
}

/** The entries of an object or a map; `one` is the word for a name in errors. */
export function entriesOf(field: string, value: unknown, allowed: string, one = 'source'): [string, unknown][] {
  const entries: [unknown, unknown][] =
    value instanceof Map ? [...value] : Object.entries(record(field, value, allowed));
  for (const [name] of entries) if (typeof name !== 'string') fail('wrong-type', one, name, 'a name');
  return entries as [string, unknown][];
}

/** A weight for each source, by the number of the source. */
export function weightsOf(weights: unknown, names: readonly string[]): BigUint64Array | (number | bigint)[] {
  if (Array.isArray(weights) || ArrayBuffer.isView(weights)) {
    const given = list('weights', weights) as ArrayLike<unknown>;
    if (!Array.from(given).some(isFraction)) return words('weights', weights as Integers);
    return Array.from(given, (weight, i) => placed(`at index ${i}`, () => weightOf('weights', weight)));
  }
  const allowed = 'a list with a weight for each source, or an object with their names';
  const byName = new Map(entriesOf('weights', weights, allowed));
  for (const name of byName.keys()) {
    if (!names.includes(name)) unknownName('weights', name, names, 'no name, there are no sources');
  }
  return names.map((name) => {
    if (!byName.has(name)) fail('missing', 'weights', name, 'a weight for each source');
    return placed(`of source ${name}`, () => weightOf('weights', byName.get(name)));
  });
}
