// What one reader reads: rows in the order of its deal.
import type { Reading } from '#samedeal';
import type { Spans } from '../types.js';
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
  const cursors = new Map<number, Cursor>();
  const cursorOf = (lane: number) => {
    const cursor = cursors.get(lane) ?? new Cursor(shards);
    cursors.set(lane, cursor);
    return cursor;
  };
  try {
    // Where whole shards come row by row as they are stored, all rows of the span are the reader's.
    const { shards: whole } = JSON.parse(reading.recipe) as { shards?: { shuffle_rows: boolean } };
    const isStored = whole?.shuffle_rows === false;
    for (const { start, count, spans } of reading.rounds(rank, worker)) {
      const { length } = spans.shard;
      if (isStored && length === 1) {
        yield* storedBlocks(cursorOf, spanAt(spans, 0), (from, to) =>
          reading.indices(rank, worker, start + from, start + to),
        );
        continue;
      }
      const samples = reading.indices(rank, worker, start, start + count);
      const { rows, padding } = reading.roundRows(rank, worker, reading.roundOf(rank, worker, start));
      const runs: Run[] = [];
      for (let i = 0; i < length; i++) {
        const [lane, shard, first, many] = spanAt(spans, i);
        // Padding is from anywhere, and no lane goes on there.
        runs.push(await cursorOf(i < length - padding ? lane : -1).read(shard, first, many));
      }
      yield { count, real: count - padding, place: placer(runs, rows, samples) };
    }
  } finally {
    for (const cursor of cursors.values()) await cursor.close();
  }
}

/** Rows of a shard as they are stored, so that some thousands are at hand and not all of a shard. */
async function* storedBlocks(
  cursorOf: (lane: number) => Cursor,
  [lane, shard, offset, many]: Span,
  indices: (from: number, to: number) => ArrayLike<number>,
): AsyncGenerator<Block, void> {
  for (let first = 0; first < many; first += ROWS) {
    const count = Math.min(ROWS, many - first);
    const run = await cursorOf(lane).read(shard, offset + first, count);
    const samples = indices(first, first + count);
    yield { count, real: count, place: (i) => [run, i, samples[i] as number] };
  }
}

type Span = [lane: number, shard: number, first: number, count: number];

function spanAt({ lane, shard, firstRow, numRows }: Spans, i: number): Span {
  return [lane[i], shard[i], firstRow[i], numRows[i]] as Span;
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

/** Where each sample is, by the number of its row among the rows of all runs, laid end to end. */
function placer(runs: readonly Run[], rows: Float64Array, samples: Float64Array): Block['place'] {
  const starts = new Float64Array(runs.length);
  for (let i = 1; i < runs.length; i++) starts[i] = (starts[i - 1] as number) + (runs[i - 1] as Run).count;
  const runOf = new Uint32Array(runs.reduce((sum, { count }) => sum + count, 0));
  for (const [i, { count }] of runs.entries()) runOf.fill(i, starts[i], (starts[i] as number) + count);
  return (i) => {
    const row = rows[i] as number;
    const run = runOf[row] as number;
    return [runs[run] as Run, row - (starts[run] as number), samples[i] as number];
  };
}
