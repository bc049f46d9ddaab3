import { differences, Sampler } from 'samedeal/web';
import { PageError } from '../../engine/answer.ts';
import { besides, samplerOf } from '../../engine/samplers.ts';
import { edited, isObject, parsed, shown } from '../../parts/json.ts';
import { entriesOf } from './entries.ts';

export interface DifferQuestion {
  entries: string;
  /** A recipe whose fingerprints are compared with those in the entries. */
  recipe: string;
}

/** Entries that are equal. */
export interface Group {
  labels: string[];
  /** The values of the fields, in the order of the document; a fingerprint has one. */
  fields: Record<string, string>;
  /** The recipe or configuration that has the fingerprint; empty if none was found. */
  found: string;
}

export interface DifferAnswer {
  entries: number;
  groups: Group[];
  /** All fields, in the order of the documents, and whether they differ. */
  fields: { name: string; differs: boolean }[];
  /** The first field that differs. */
  first: string | null;
}

/**
 * Compares the entries that ranks printed. The core adds all defaults to the documents, so that only real differences
 * remain.
 */
export function differ({ entries: text, recipe }: DifferQuestion): DifferAnswer {
  const entries = entriesOf(text);
  if (entries.length === 0) throw new PageError('entries', 'There is no recipe, state or fingerprint in this text');
  const groups = new Map<string, Group>();
  for (const { label, text: entry } of entries) {
    const fields = entry.startsWith('{') ? membersOf(label, entry) : { fingerprint: entry };
    const key = JSON.stringify(fields);
    const group = groups.get(key) ?? { labels: [], fields, found: '' };
    group.labels.push(label);
    groups.set(key, group);
  }
  const all = [...groups.values()];
  const names = [...new Set(all.flatMap(({ fields }) => Object.keys(fields)))];
  const fields = names.map((name) => ({ name, differs: new Set(all.map(({ fields: own }) => own[name])).size > 1 }));
  const hashes = all.filter(({ fields: own }) => own.fingerprint);
  if (hashes.length > 0) {
    const documents = entries.filter(({ text: entry }) => entry.startsWith('{')).map(({ text: entry }) => entry);
    const known = knownFingerprints(documents[0] ?? recipe);
    for (const group of hashes) group.found = known.get(group.fields.fingerprint ?? '') ?? '';
  }
  return { entries: entries.length, groups: all, fields, first: fields.find(({ differs }) => differs)?.name ?? null };
}

/** The members of a recipe, of a state, or of an object that `toJSON` wrote, by their paths. */
function membersOf(label: string, entry: string): Record<string, string> {
  const document = parsed(entry);
  // The text that `toJSON` wrote has the recipe as a string.
  const isText = isObject(document) && typeof document.recipe === 'string';
  const text = isText ? JSON.stringify({ ...document, recipe: parsed(document.recipe as string) }) : entry;
  try {
    // The prefix is removed, so that a recipe can be compared with the recipe within a state.
    const members = differences(text, '{}').map(({ path, one = '' }) => [
      path.replace(/^recipe\./, ''),
      shown(parsed(one)),
    ]);
    return Object.fromEntries(members);
  } catch (error) {
    throw new PageError('entries', `${label}: ${(error as Error).message}`);
  }
}

const EPOCHS = 100;
const WORLDS = 128;

/**
 * The fingerprints of a recipe at the first epochs, and of the variants that one rank may have by mistake: the seed 0,
 * another world size, another remainder.
 */
function knownFingerprints(text: string): Map<string, string> {
  const known = new Map<string, string>();
  const add = (fingerprint: string, name: string) => {
    if (!known.has(fingerprint)) known.set(fingerprint, name);
  };
  const attempt = (recipe: string, name: string, epochs: number) => {
    try {
      add(samplerOf(recipe).recipeFingerprint(), `the recipe${name}`);
    } catch {
      // This order cannot have the variant.
    }
    for (let epoch = 0; epoch < epochs; epoch++) {
      try {
        const sampler = Sampler.fromRecipe(recipe, { epoch, ...besides(recipe) });
        add(sampler.configFingerprint(), `the configuration at epoch ${epoch}${name}`);
        sampler.dispose();
      } catch {
        return;
      }
    }
  };
  const document = parsed(text);
  const recipe = isObject(document) && document.recipe ? JSON.stringify(document.recipe) : text;
  attempt(recipe, '', EPOCHS);
  attempt(edited(recipe, 'order.seed', '0'), ' with seed 0', 4);
  for (const remainder of ['pad', 'drop', 'uneven'])
    attempt(edited(recipe, 'deal.remainder', remainder), ` with remainder ${remainder}`, 2);
  for (let world = 1; world <= WORLDS; world++)
    attempt(edited(recipe, 'deal.world_size', String(world)), ` with world size ${world}`, 1);
  return known;
}
