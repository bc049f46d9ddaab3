import { isObject, type Members, parsed } from '../../parts/json.ts';

/** The four strategies at one budget of tokens, so that they can be compared. */
export const STRATEGIES = ['pad-to-max', 'bucket', 'budget', 'pack'] as const;
export const TOO_LONG = {
  error: 'There is no plan if a sample is too long.',
  drop: 'They are left out.',
  truncate: 'Their beginning is kept.',
  split: 'Each becomes several items.',
  single: 'Each is a batch of its own, over the budget.',
} as const;

const batchOf = (recipe: string): Members => {
  const document = parsed(recipe);
  return isObject(document) && isObject(document.batch) ? document.batch : {};
};
const positive = (value: unknown): number | undefined => (typeof value === 'number' && value > 0 ? value : undefined);

export const strategyOf = (recipe: string): string => String(batchOf(recipe).strategy ?? 'budget');

/**
 * The budget of a recipe: the tokens of a batch, including padding. A recipe with a number of rows cannot express every
 * budget. So if the recipe follows from the budget `asked`, which the user entered, this budget is returned.
 */
export function roomOf(recipe: string, longest: number, asked?: number): number {
  const { max_tokens, max_cost, max_batch_size, capacity, max_length } = batchOf(recipe);
  if (max_tokens ?? max_cost) return positive(max_tokens ?? max_cost) ?? longest;
  if (asked) {
    const same = batchOf(withSizes(recipe, strategyOf(recipe), asked, longest));
    if (same.max_batch_size === max_batch_size && same.capacity === capacity && same.max_length === max_length)
      return asked;
  }
  if (strategyOf(recipe) === 'pack')
    return (positive(max_batch_size) ?? 1) * (positive(capacity ?? max_length) ?? longest);
  return (positive(max_batch_size) ?? 32) * Math.min(longest, positive(max_length) ?? longest);
}

/**
 * The length in tokens above which a sample is too long. Undefined with weighted costs, because only the core knows it.
 */
export function limitOf(recipe: string): number | undefined {
  const { max_tokens, max_cost, capacity, max_length } = batchOf(recipe);
  if (max_cost) return undefined;
  return Math.min(
    ...[max_tokens, strategyOf(recipe) === 'pack' ? capacity : 0, max_length].map(
      (limit) => positive(limit) ?? Number.POSITIVE_INFINITY,
    ),
  );
}

/** A recipe with other members of `batch`. Members that are undefined are removed. */
export function withBatch(recipe: string, members: Members): string {
  const document = parsed(recipe);
  return JSON.stringify({ ...(isObject(document) ? document : {}), batch: { ...batchOf(recipe), ...members } });
}

/**
 * A recipe with a strategy and a budget of exactly `room` tokens. Members that the strategy does not use are removed.
 */
export function withRoom(recipe: string, strategy: string, room: number, longest: number, asked?: number): string {
  // A `max_length` that only followed from the old budget is removed, so that it follows from the new one.
  const { max_length } = batchOf(recipe);
  const own = (positive(max_length) ?? room) < roomOf(recipe, longest, asked) ? max_length : undefined;
  const next = withSizes(withBatch(recipe, { max_length: own }), strategy, room, longest);
  const { capacity } = batchOf(recipe);
  const chosen = positive(capacity);
  if (strategy !== 'pack' || strategyOf(recipe) !== 'pack' || chosen === undefined || chosen > room) return next;
  // A capacity that the user entered stays. It is one if it does not follow from the budget.
  const derived = batchOf(withSizes(recipe, strategy, roomOf(recipe, longest, asked), longest)).capacity;
  return derived === chosen ? next : withCapacity(next, chosen, room);
}

/** A recipe of packs with rows of `capacity` tokens, and as many rows as the budget `room` allows. */
export const withCapacity = (recipe: string, capacity: number, room: number): string =>
  withBatch(recipe, { capacity, max_batch_size: Math.max(1, Math.floor(room / capacity)) });

/** The members that every strategy has, besides sizes. */
const COMMON = ['max_length', 'too_long', 'tail'];

function withSizes(recipe: string, strategy: string, room: number, longest: number): string {
  const {
    strategy: _,
    max_tokens,
    max_cost,
    linear,
    quadratic,
    capacity,
    max_batch_size,
    lengths,
    ...rest
  } = batchOf(recipe);
  const limit = Math.max(1, Math.min(longest, room, positive(rest.max_length) ?? room));
  const rows = Math.floor(room / limit);
  const sizes: Members =
    strategy === 'pack'
      ? { capacity: Math.floor(room / rows), max_batch_size: rows }
      : strategy === 'pad-to-max'
        ? { max_batch_size: rows, ...(longest > room ? { max_length: limit } : {}) }
        : { max_tokens: room };
  // The new budget is one of tokens, so members that need weighted costs are removed.
  const costs = rest.counting === 'weighted' ? ['counting', ...(strategy === 'budget' ? ['packing'] : [])] : [];
  const isKept =
    strategyOf(recipe) === strategy ? (name: string) => !costs.includes(name) : (name: string) => COMMON.includes(name);
  const kept = Object.fromEntries(Object.entries(rest).filter(([name]) => isKept(name)));
  const document = parsed(recipe);
  return JSON.stringify({ ...(isObject(document) ? document : {}), batch: { strategy, ...kept, ...sizes } });
}
