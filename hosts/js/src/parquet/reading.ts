// What one reader reads: rows in the order of its deal.
import type { Sampler, ShardPlan } from '#samedeal';
import { Cursor, type Run } from './cursor.js';
import type { Shards } from './shards.js';

/** Rows that are at hand together. */
export interface Block {
  count: number;
  /** How many of them are no padding, the first ones. */
  real: number;
  /** Where row number `i` is: in which run, at which place of it, and the index of the sample. */
  place(i: number): readonly [run: Run, at: number, sample: number];
}

/** How many rows of a shard are at hand at a time where they come as they are stored. */
const ROWS = 4096;

/** The samples of a sampler with the order `sharded`, in its order: a window of each of its lanes in a block. */
export async function* sampleBlocks(shards: Shards, sampler: Sampler): AsyncGenerator<Block, void> {
  const bases = basesOf(shards);
  const cursors = new Map<number, Cursor>();
  const cursorOf = (lane: number) => {
    const cursor = cursors.get(lane) ?? new Cursor(shards);
    cursors.set(lane, cursor);
    return cursor;
  };
  const dealt = sampler.length - sampler.numPadding;
  try {
    for (let number = 0; number < sampler.numRounds; number++) {
      const { start, count, spans } = sampler.round(number);
      if (count === 0) continue;
      const real = Math.max(0, Math.min(count, dealt - start));
      const length = spans.length / 4;
      const windows = length - (count - real);
      const runs: Run[] = [];
      const first = new Float64Array(length);
      for (let i = 0; i < length; i++) {
        const [lane, shard, offset, many] = spans.subarray(4 * i, 4 * i + 4) as unknown as [
          number,
          number,
          number,
          number,
        ];
        // Padding is from anywhere, and no lane goes on there.
        runs.push(await cursorOf(i < windows ? lane : -1).read(shard, offset, many));
        first[i] = (bases[shard] as number) + offset;
      }
      const samples = sampler.indices(start, start + count);
      const spanOf = finder(first.subarray(0, windows));
      yield {
        count,
        real,
        place(i) {
          const sample = samples[i] as number;
          const span = i < real ? spanOf(sample) : windows + i - real;
          return [runs[span] as Run, sample - (first[span] as number), sample];
        },
      };
    }
  } finally {
    for (const cursor of cursors.values()) await cursor.close();
  }
}

/** The whole shards of a reader, one after the other; the rows of each as they are stored, or in the order of `plan.rows`. */
export async function* shardBlocks(
  shards: Shards,
  plan: ShardPlan,
  rank: number,
  worker: number,
  shuffleRows: boolean,
): AsyncGenerator<Block, void> {
  const bases = basesOf(shards);
  const cursor = new Cursor(shards);
  try {
    for (const shard of plan.shards(rank, worker)) {
      const [size, base] = [shards.sizes[shard] as number, bases[shard] as number];
      const many = shuffleRows ? size : ROWS;
      for (let first = 0; first < size; first += many) {
        const run = await cursor.read(shard, first, Math.min(many, size - first));
        const rows = shuffleRows ? plan.rows(shard) : undefined;
        yield {
          count: run.count,
          real: run.count,
          place(i) {
            const at = rows ? (rows[i] as number) : i;
            return [run, at, base + first + at];
          },
        };
      }
    }
  } finally {
    await cursor.close();
  }
}

/** The same items, each begun while the one before it is in use. */
export async function* ahead<T>(items: AsyncGenerator<T, void>): AsyncGenerator<T, void> {
  let next = items.next();
  try {
    for (;;) {
      const { value, done } = await next;
      if (done) return;
      next = items.next();
      // Told when it is asked for.
      next.catch(() => {});
      yield value;
    }
  } finally {
    await next.catch(() => {});
    await items.return();
  }
}

/** The index of the first sample of each shard. */
function basesOf(shards: Shards): Float64Array {
  let base = 0;
  return shards.sizes.map((size) => {
    base += size;
    return base - size;
  });
}

/** Finds the run that holds a sample, among runs that begin at `first` and do not overlap. */
function finder(first: Float64Array): (sample: number) => number {
  const order = Uint32Array.from(first.keys()).sort((a, b) => (first[a] as number) - (first[b] as number));
  return (sample) => {
    let [low, high] = [0, order.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((first[order[middle] as number] as number) <= sample) low = middle;
      else high = middle - 1;
    }
    return order[low] as number;
  };
}
