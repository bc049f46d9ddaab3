// Lengths of samples as callers give them: one list, or a list for each source of a blend.
import { release } from '../bindings/resources.js';
import type { ComponentBindings } from '../bindings/types.js';
import { fail, isRecord, knownFacts, placed, U32 } from '../checks.js';
import type { NamedList } from '../components/interfaces/samedeal-deal-types.js';
import { type Said, written } from '../document.js';
import { isFailure } from '../errors.js';
import { LONGEST, words32 } from '../lists.js';
import { entriesOf } from '../order/order.js';

type Members = Record<string, unknown>;
const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null;

/** More views of a blend in one another than a recipe has. */
const DEEPEST = 24;

/** The lengths of a source of a blend, and a recipe of batches in the order of this source, with its long lists. */
export interface SourceLengths {
  readonly name: string;
  readonly recipe: string;
  readonly lists: NamedList[];
  readonly lengths: Uint32Array<ArrayBuffer>;
}

/** The length of every sample, as one list, and by sources if they are given so. */
export interface Lengths {
  readonly all: Uint32Array<ArrayBuffer>;
  readonly sources: readonly SourceLengths[];
}

/** Whether lengths are given by the names of sources. */
const isByName = (given: unknown): boolean => given instanceof Map || isRecord(given);

/** Lengths as a caller gives them, for a recipe with these lists. `told` returns the members of the recipe, or undefined if it is no JSON object. */
export function lengthsOf(given: unknown, told: () => Said | undefined, lists: readonly NamedList[]): Lengths {
  if (!isByName(given)) return { all: words32('lengths', given, U32), sources: [] };
  const allowed = 'a list of whole numbers, or an object with one for each source of a blend';
  const byName = new Map(entriesOf('lengths', given, allowed));
  const said = told();
  // The component refuses such a recipe, whatever the lengths are.
  if (said === undefined) return { all: new Uint32Array(0), sources: [] };
  const blend = blendOf(said.order);
  if (!blend) {
    const needed = 'a list, or a blend as the order, with the index space joined: only its sources have names';
    fail('contradiction', 'lengths', given, needed);
  }
  const names = blend.sources.map(({ name }) => String(name));
  for (const name of byName.keys()) {
    if (!names.includes(name))
      fail('unknown-name', 'lengths', name, names.join(', ') || 'no name, there are no sources', knownFacts(names));
  }
  const sources = blend.sources.map((source, i) => {
    const name = names[i] as string;
    if (!byName.has(name)) fail('missing', 'lengths', '', `the lengths of each source, those of ${name} too`);
    const path = `${blend.path}sources/${name}/`;
    return {
      name,
      recipe: `{"order":${written('order', source.order ?? { samples: source.samples }, 1)},"batch":{"strategy":"pad-to-max"}}`,
      lists: lists
        .filter((each) => each.name.startsWith(path))
        .map((each) => ({ ...each, name: each.name.slice(path.length) })),
      lengths: placed(`of source ${name}`, () => words32('lengths', byName.get(name), U32)),
    };
  });
  const count = sources.reduce((sum, { lengths }) => sum + lengths.length, 0);
  if (count > LONGEST) fail('out-of-memory', 'lengths', `${count} elements`, `up to ${LONGEST} of them`);
  const all = new Uint32Array(count);
  let at = 0;
  for (const { lengths } of sources) {
    all.set(lengths, at);
    at += lengths.length;
  }
  return { all, sources };
}

/** The sources of a blend of different datasets, also of a view of one, which has the same samples; and the path to them. */
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

/** Holds the lengths of each source to its samples. The component knows how many an order has. */
export function checkSources({ batches }: ComponentBindings, sources: readonly SourceLengths[]): void {
  for (const { name, recipe, lists, lengths } of sources) {
    try {
      release(new batches.BatchRecipe(recipe, lengths, lists));
    } catch (error) {
      if (!isFailure(error)) throw error;
      // All other mistakes are found when the whole recipe is read.
      if (error.field !== 'samples' || error.kind !== 'contradiction') continue;
      const value = `${lengths.length} of them (of source ${name})`;
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
