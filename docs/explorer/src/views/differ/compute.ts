import { Batcher, Reading, Sampler, ShardPlan } from 'samedeal/web';
import { PageError } from '../../engine/answer.ts';
import { besides, samplerOf } from '../../engine/samplers.ts';
import { edited, isObject, type Members, parsed, shown } from '../../parts/json.ts';
import { entriesOf } from './entries.ts';

export interface DifferQuestion {
  entries: string;
  /** A recipe that may explain fingerprints. */
  recipe: string;
}

/** Entries that are equal. */
export interface Group {
  labels: string[];
  /** The values of the fields, in the order of the document; a fingerprint has one. */
  fields: Record<string, string>;
  /** What a fingerprint is of, if that was found. */
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

/** Compares what ranks printed: the documents as the core writes them, with all defaults, so that only real differences are left. */
export function differ({ entries: text, recipe }: DifferQuestion): DifferAnswer {
  const entries = entriesOf(text);
  if (entries.length === 0) throw new PageError('entries', 'There is no recipe, state or fingerprint in this text');
  const groups = new Map<string, Group>();
  for (const { label, text: entry } of entries) {
    const fields = entry.startsWith('{') ? documentOf(label, entry) : { fingerprint: entry };
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

/** The members of a recipe, of a state, or of what `toJSON` wrote, by their paths. */
function documentOf(label: string, text: string): Record<string, string> {
  const document = parsed(text);
  if (!isObject(document)) throw new PageError('entries', `What ${label} has is no JSON`);
  const inner = document.recipe;
  const beside: Record<string, string> = {};
  if (inner === undefined) return flat(parsed(canonical(label, text)) as Members);
  for (const name of ['kind', 'epoch', 'consumed', 'positions', 'history']) {
    if (document[name] !== undefined) beside[name] = shown(document[name]);
  }
  const recipe = typeof inner === 'string' ? inner : JSON.stringify(inner);
  return { ...flat(parsed(canonical(label, recipe)) as Members), ...beside };
}

/** The recipe of any kind as the core writes it. */
function canonical(label: string, recipe: string): string {
  const made: (() => { recipe: string; dispose(): void })[] = [
    () => Sampler.fromRecipe(recipe, besides(recipe)),
    () => Reading.fromRecipe(recipe, besides(recipe)),
    () => ShardPlan.fromRecipe(recipe, besides(recipe)),
    () => Batcher.fromRecipe(recipe, []),
  ];
  let problem: unknown;
  for (const make of made) {
    try {
      const object = make();
      const text = object.recipe;
      object.dispose();
      return text;
    } catch (error) {
      problem ??= error;
    }
  }
  // A recipe that has only the hash of a list is compared as it is.
  if (/"[0-9a-f]{64}"/.test(recipe)) return recipe;
  throw new PageError('entries', `${label}: ${(problem as Error).message}`);
}

function flat(value: unknown, path = ''): Record<string, string> {
  if (!isObject(value)) {
    if (!Array.isArray(value) || !value.some(isObject)) return { [path]: shown(value) };
    return Object.assign({}, ...value.map((inner, at) => flat(inner, `${path}[${at}]`)));
  }
  if ((JSON as unknown as { isRawJSON?: (value: unknown) => boolean }).isRawJSON?.(value))
    return { [path]: JSON.stringify(value) };
  return Object.assign(
    {},
    ...Object.entries(value).map(([name, inner]) => flat(inner, path ? `${path}.${name}` : name)),
  );
}

const EPOCHS = 100;
const WORLDS = 128;

/** The fingerprints of a recipe, at the first epochs, and with what is often wrong on one rank: the seed 0, another world size or remainder. */
function knownFingerprints(text: string): Map<string, string> {
  const known = new Map<string, string>();
  const add = (fingerprint: string, name: string) => {
    if (!known.has(fingerprint)) known.set(fingerprint, name);
  };
  const attempt = (recipe: string, name: string, epochs: number) => {
    try {
      add(samplerOf(recipe).recipeFingerprint(), `the recipe${name}`);
    } catch {
      // A variant that this order cannot have.
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
