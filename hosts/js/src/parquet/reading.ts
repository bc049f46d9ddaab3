// What one reader reads: rows in the order of its deal.
import type { Reading } from '#samedeal';
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

/** The samples of a reader of a reading, in its order: a round in a block, or a part of one where rows come as they are stored. */
export async function* readingBlocks(
  shards: Shards,
  reading: Reading,
  rank: number,
  worker: number,
): AsyncGenerator<Block, void> {
  const bases = basesOf(shards);
  const cursors = new Map<number, Cursor>();
  const cursorOf = (stream: number) => {
    const cursor = cursors.get(stream) ?? new Cursor(shards);
    cursors.set(stream, cursor);
    return cursor;
  };
  try {
    // Where whole shards come row by row as they are stored, all rows of the span are the reader's.
    const { shuffle_rows: shuffles } = JSON.parse(reading.recipe) as { shuffle_rows?: boolean };
    const isStored = shuffles === false;
    const dealt = reading.numSamples(rank, worker) - reading.numPadding(rank, worker);
    for (const { start, count, spans } of reading.rounds(rank, worker)) {
      const real = Math.max(0, Math.min(count, dealt - start));
      const length = spans.length / 4;
      const windows = length - (count - real);
      if (isStored && length === 1) {
        yield* storedBlocks(cursorOf, spanAt(spans, 0), (from, to) =>
          reading.indices(rank, worker, start + from, start + to),
        );
        continue;
      }
      const samples = reading.indices(rank, worker, start, start + count);
      const runs: Run[] = [];
      const first = new Float64Array(length);
      for (let i = 0; i < length; i++) {
        const [stream, shard, offset, many] = spanAt(spans, i);
        // Padding is from anywhere, and no stream goes on there.
        runs.push(await cursorOf(i < windows ? stream : -1).read(shard, offset, many));
        first[i] = (bases[shard] as number) + offset;
      }
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

/** Rows of a shard as they are stored, so that some thousands are at hand and not all of a shard. */
async function* storedBlocks(
  cursorOf: (stream: number) => Cursor,
  [stream, shard, offset, many]: Span,
  indices: (from: number, to: number) => ArrayLike<number>,
): AsyncGenerator<Block, void> {
  for (let first = 0; first < many; first += ROWS) {
    const count = Math.min(ROWS, many - first);
    const run = await cursorOf(stream).read(shard, offset + first, count);
    const samples = indices(first, first + count);
    yield { count, real: count, place: (i) => [run, i, samples[i] as number] };
  }
}

type Span = [stream: number, shard: number, first: number, count: number];

function spanAt(spans: Float64Array, i: number): Span {
  return spans.subarray(4 * i, 4 * i + 4) as unknown as Span;
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
