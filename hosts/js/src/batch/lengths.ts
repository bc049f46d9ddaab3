// Sources of lengths: lists, readers and functions. Only the lengths that a plan asks for are read.

import { fail, isRecord, placed, U32, unknownName } from '../checks.js';
import type { NamedList } from '../components/interfaces/samedeal-deal-types.js';
import { type Said, written } from '../document.js';
import { release } from '../engine/resources.js';
import type { ComponentBindings } from '../engine/types.js';
import { isFailure } from '../errors.js';
import { list, narrowed, shown } from '../lists.js';
import { entriesOf } from '../order/order.js';
import type { Integers } from '../types.js';
import type { LengthsReader } from './types.js';

type Members = Record<string, unknown>;
const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null;

/** The depth at which the search for a blend in nested orders ends. No recipe reaches it. */
const DEEPEST = 24;
/** Lists of lengths have no limit of their size here, because they are not copied. */
const ANY = Number.MAX_SAFE_INTEGER;

/** The lengths of some samples, or a promise of them. */
type Answer = Uint32Array<ArrayBuffer> | Promise<Uint32Array<ArrayBuffer>>;

/** A source of the lengths of all samples. */
export interface Lengths {
  /** The value that the caller gave. */
  readonly given: unknown;
  /** The number of lengths. Undefined for a function: then the order says how many samples there are. */
  readonly count: number | undefined;
  /** Whether all lengths are in lists. Only lists can be read at any time, and written as JSON. */
  readonly isList: boolean;
  /** The lengths of these samples. */
  at(samples: Float64Array<ArrayBuffer>): Answer;
  /** All lengths for JSON, if they are lists; else undefined. */
  json(): unknown;
  /** The lengths as source text, with at most `most` numbers of each list. */
  source(most: number): string;
  /** Checks that each source of a blend has as many lengths as samples. */
  check(bindings: ComponentBindings): void;
}

const FORMS =
  'a list of whole numbers, an object with `length` and `take`, a function, or an object with one for each source of a blend';
const isReader = (given: unknown): given is LengthsReader =>
  isObject(given) && !Array.isArray(given) && !ArrayBuffer.isView(given) && typeof given.take === 'function';

/**
 * The source of lengths that a caller gave, for a recipe with these lists. `told` returns the members of the recipe, or
 * undefined if the recipe is no JSON object.
 */
export function lengthsOf(given: unknown, told: () => Said | undefined, lists: readonly NamedList[]): Lengths {
  if (!isReader(given) && (given instanceof Map || isRecord(given))) return bySource(given, told(), lists);
  return one(given);
}

/** The lengths of all samples in one list, one reader or one function. */
function one(given: unknown): Lengths {
  const check = () => {};
  if (typeof given === 'function') {
    const at = (samples: Float64Array<ArrayBuffer>) => answered(samples, given(samples));
    return { given, count: undefined, isList: false, at, check, json: () => undefined, source: () => 'lengths' };
  }
  if (isReader(given)) {
    const { length } = given;
    if (!Number.isSafeInteger(length) || length < 0) fail('wrong-type', 'lengths', given, FORMS);
    const at = (samples: Float64Array<ArrayBuffer>) => answered(samples, given.take(samples));
    return { given, count: length, isList: false, at, check, json: () => undefined, source: () => 'lengths' };
  }
  if (!Array.isArray(given) && !ArrayBuffer.isView(given)) fail('wrong-type', 'lengths', given, FORMS);
  const { length } = list('lengths', given, ANY);
  return {
    ...{ given, count: length, isList: true, check },
    at: (samples) => {
      // Checked at each call: since the last one, the caller may have transferred the memory of the list, or changed
      // its numbers.
      const values = list('lengths', given, ANY);
      const place = (i: number) => `at index ${samples[i]}`;
      return narrowed('lengths', samples.length, (i) => values[samples[i] as number], U32, place);
    },
    json: () => Array.from(given as ArrayLike<number>, Number),
    source: (most) => shown(given as ArrayLike<number>, most),
  };
}

const placeOf = (samples: Float64Array) => (i: number) => `sample ${samples[i]}`;

/** The checked lengths in the answer of a reader or a function, or a promise of them. */
function answered(samples: Float64Array<ArrayBuffer>, answer: unknown): Answer {
  if (isObject(answer) && typeof answer.then === 'function') {
    return Promise.resolve(answer as unknown as PromiseLike<Integers>).then((found) => checked(samples, found));
  }
  return checked(samples, answer);
}

/** An answer as numbers of 32 bits. The component refuses an answer of another length than `samples`. */
function checked(samples: Float64Array, answer: unknown): Uint32Array<ArrayBuffer> {
  const values = list('lengths', answer);
  if (values instanceof Uint32Array) return Uint32Array.from(values);
  return narrowed('lengths', values.length, (i) => values[i], U32, placeOf(samples));
}

/**
 * The lengths of a blend, given by the names of its sources. The samples of a source come after those of the sources
 * before it.
 */
function bySource(given: object, said: Said | undefined, lists: readonly NamedList[]): Lengths {
  const byName = new Map(entriesOf('lengths', given, FORMS));
  // The recipe is no JSON object, so the component refuses it, whatever the lengths are.
  if (said === undefined) return one([]);
  const blend = blendOf(said.order);
  if (!blend) {
    const needed = 'a list, or a blend as the order, with the index space joined: only its sources have names';
    fail('contradiction', 'lengths', [...byName.keys()].join(', ') || 'of no source', needed);
  }
  const names = blend.sources.map(({ name }) => String(name));
  for (const name of byName.keys()) {
    if (!names.includes(name)) unknownName('lengths', name, names, 'no name, there are no sources');
  }
  for (const name of names) {
    if (!byName.has(name)) fail('missing', 'lengths', '', `the lengths of each source, those of ${name} too`);
  }
  let count = 0;
  const sources = blend.sources.map((source, i) => {
    const name = names[i] as string;
    const lengths = placed(`of source ${name}`, () => one(byName.get(name)));
    if (lengths.count === undefined) fail('wrong-type', 'lengths', byName.get(name), `one with a length, for ${name}`);
    const path = `${blend.path}sources/${name}/`;
    const own = lists.filter((each) => each.name.startsWith(path));
    const start = count;
    count += lengths.count;
    return {
      ...{ name, start, end: count, lengths },
      recipe: `{"order":${written('order', source.order ?? { samples: source.samples }, 1)},"batch":{"strategy":"pad-to-max"}}`,
      lists: own.map((each) => ({ ...each, name: each.name.slice(path.length) })),
    };
  });
  /** Asks each source for its own samples. */
  const at = (samples: Float64Array<ArrayBuffer>): Answer => {
    const out = new Uint32Array(samples.length);
    const waiting: Promise<void>[] = [];
    for (const { name, start, end, lengths } of sources) {
      const places: number[] = [];
      for (let i = 0; i < samples.length; i++) {
        const sample = samples[i] as number;
        if (sample >= start && sample < end) places.push(i);
      }
      if (places.length === 0) continue;
      const own = Float64Array.from(places, (place) => (samples[place] as number) - start);
      const put = (found: Uint32Array) => {
        if (found.length !== own.length)
          fail('contradiction', 'lengths', `${found.length} of them (of source ${name})`, `only ${own.length}`);
        places.forEach((place, i) => {
          out[place] = found[i] as number;
        });
      };
      const found = placed(`of source ${name}`, () => lengths.at(own));
      if (found instanceof Promise) waiting.push(found.then(put));
      else put(found);
    }
    return waiting.length > 0 ? Promise.all(waiting).then(() => out) : out;
  };
  const isList = sources.every(({ lengths }) => lengths.isList);
  return {
    ...{ given, count, isList, at },
    check: (bindings) => checkSources(bindings, sources),
    json: () => (isList ? Object.fromEntries(sources.map(({ name, lengths }) => [name, lengths.json()])) : undefined),
    source: (most) =>
      `{ ${sources.map(({ name, lengths }) => `${JSON.stringify(name)}: ${lengths.source(most)}`).join(', ')} }`,
  };
}

/**
 * The sources of a blend of different datasets, and the path to the blend in the order. The blend may lie below orders
 * such as `skip`, which have the same samples.
 */
function blendOf(order: unknown): { sources: Members[]; path: string } | undefined {
  let path = '';
  let members = order;
  for (let depth = 0; isObject(members) && !members.sources && depth < DEEPEST; depth++) {
    members = members.of;
    path += 'of/';
  }
  if (!isObject(members) || !Array.isArray(members.sources)) return undefined;
  const { index_space: space = 'joined', sources } = members;
  return space === 'joined' && sources.every(isObject) ? { sources, path } : undefined;
}

/** The lengths of one source of a blend, and a recipe of batches in the order of this source, with its long lists. */
interface SourceLengths {
  readonly name: string;
  readonly recipe: string;
  readonly lists: NamedList[];
  readonly lengths: Lengths;
}

/**
 * Checks the number of lengths of each source. Only the component knows how many samples an order has, so it reads a
 * recipe for each source.
 */
function checkSources({ batches }: ComponentBindings, sources: readonly SourceLengths[]): void {
  for (const { name, recipe, lists, lengths } of sources) {
    try {
      release(new batches.BatchRecipe(recipe, BigInt(lengths.count ?? 0), lists));
    } catch (error) {
      if (!isFailure(error)) throw error;
      // All other mistakes are found when the whole recipe is read.
      if (error.field !== 'samples' || error.kind !== 'contradiction') continue;
      const value = `${lengths.count} of the source ${name}`;
      throw {
        ...error,
        field: 'lengths',
        value,
        allowed: `${error.value}, as many as the source has samples`,
        facts: [],
      };
    }
  }
}
