import { isObject, parsed } from './json.ts';
import { counted } from './text.ts';

/** Explanations of the words of a recipe, for users who see them for the first time. */
export const REMAINDER =
  'What happens if the ranks do not divide the samples. pad: some samples are read again, so that every rank has as many; they are marked. drop: a few samples are left out. uneven: every sample is read once, and some ranks have one unit more.';
export const LAYOUT =
  'Which positions of the epoch belong to a rank, of W ranks. strided: every W-th unit, as in PyTorch. contiguous: one run of neighbours; a run cannot stop within it. rotated: one of each W units, each time another one, for orders with a pattern, such as blends.';
export const UNIT =
  'A unit is a number of neighbouring positions that stay on one rank. 1 is usual. 4 keeps four answers to one prompt together, for example.';

const ORDERS: Readonly<Record<string, string>> = {
  feistel:
    'feistel is a shuffle that is computed and not stored: keys from the seed and the epoch mix the digits of a position into the index of a sample (a Feistel network). So any place of 10¹² samples is known at once, forwards and backwards.',
  sequential: 'sequential is no shuffle: 0, 1, 2, and so on.',
  'fisher-yates': 'fisher-yates is the textbook shuffle of a list, which takes 4 bytes for each sample.',
  sharded:
    'sharded is a shuffle of files that can be read fast: the files are cut into lanes, and samples near each other in a lane are shuffled together.',
  blend: 'blend takes samples of several sources in the proportions of their weights, mixed evenly along the epoch.',
};
const SYSTEMS: Readonly<Record<string, string>> = { torch: 'PyTorch', python: 'Python', dotnet: '.NET' };

/**
 * A description of a recipe in a line, as far as it can be read. If the view has ranks of its own, those of the recipe
 * are left out.
 */
export function inWords(recipe: string, withRanks: boolean): string {
  const document = parsed(recipe);
  const member = (section: string, name: string): unknown => {
    const inner = isObject(document) ? document[section] : undefined;
    return isObject(inner) ? inner[name] : undefined;
  };
  const samples = Number(member('order', 'samples'));
  const ranks = Number(member('deal', 'world_size') ?? 1);
  const name = String(member('order', 'name') ?? (member('order', 'sizes') ? 'sharded' : 'feistel'));
  return [name, samples ? counted(samples, 'sample') : '', withRanks && ranks ? counted(ranks, 'rank') : '']
    .filter(Boolean)
    .join(', ');
}

/** An explanation of an order. */
export function aboutOrder(name: string): string {
  const system = SYSTEMS[name.split('-')[0] ?? ''];
  const own = system
    ? `${name} is exactly the shuffle of ${system}, which takes 4 bytes for each sample.`
    : (ORDERS[name] ?? `What ${name} is made of, the recipe as JSON says.`);
  return `The order says which sample is at which place of the epoch, for all ranks together. ${own}`;
}
