import { edited, isObject, type Members, parsed } from '../../parts/json.ts';

/** The four strategies with about the same room in memory, so that they can be compared. */
export const STRATEGIES = ['pad-to-max', 'bucket', 'budget', 'pack'] as const;
export type Strategy = (typeof STRATEGIES)[number];

const batchOf = (recipe: string): Members => {
  const document = parsed(recipe);
  return isObject(document) && isObject(document.batch) ? document.batch : {};
};

export const strategyOf = (recipe: string): string => String(batchOf(recipe).strategy ?? 'budget');

/** How many tokens of a batch, padding included, a recipe has room for. */
export function roomOf(recipe: string, longest: number): number {
  const { max_tokens, max_cost, max_batch_size, capacity, max_length } = batchOf(recipe);
  const number = (value: unknown, missing: number) => (typeof value === 'number' && value > 0 ? value : missing);
  if (max_tokens ?? max_cost) return number(max_tokens ?? max_cost, longest);
  if (strategyOf(recipe) === 'pack') return number(max_batch_size, 1) * number(capacity ?? max_length, longest);
  return number(max_batch_size, 32) * number(max_length, longest);
}

/** A recipe with a strategy and room for so many tokens. What the strategy does not use is taken away. */
export function withRoom(recipe: string, strategy: string, room: number, longest: number): string {
  const same = strategyOf(recipe) === strategy;
  const { too_long, tail, batch_window, batch_size_multiple, counting } = batchOf(recipe);
  const rows = String(Math.max(1, Math.floor(room / Math.max(1, longest))));
  const sizes: Record<string, unknown> =
    strategy === 'pack'
      ? { capacity: longest, max_batch_size: Number(rows) }
      : strategy === 'pad-to-max'
        ? { max_batch_size: Number(rows) }
        : { max_tokens: Math.max(longest, room) };
  const kept = {
    ...(too_long ? { too_long } : {}),
    ...(tail ? { tail } : {}),
    ...(same && batch_window ? { batch_window } : {}),
  };
  const own =
    same && strategy === 'budget'
      ? {
          ...(counting && counting !== 'weighted' ? { counting } : {}),
          ...(batch_size_multiple ? { batch_size_multiple } : {}),
        }
      : {};
  const document = parsed(recipe);
  return JSON.stringify({ ...(isObject(document) ? document : {}), batch: { strategy, ...sizes, ...kept, ...own } });
}

export const withWorld = (recipe: string, text: string): string => edited(recipe, 'deal.world_size', text);
