// What one reader reads: rows in the order of its deal.
import type { Reading } from '#samedeal';
import type { Spans } from '../types.js';
import { Cursor, type Run } from './cursor.js';
import type { Shards } from './shards.js';

/** Rows that are read together. */
export interface Block {
  count: number;
  /** How many of them are no padding, the first ones. */
  real: number;
  /** Where row number `i` is, as far as that is read: in which run, at which place of it, and the index of the sample. */
  place(i: number): Place | undefined;
  /** Waits until row number `i` is read. */
  read?(i: number): Promise<unknown>;
}

export type Place = readonly [run: Run, at: number, sample: number];

/** How many runs are read at a time: a server answers several while one would wait. */
const AT_A_TIME = 8;
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
  let round: Runs | undefined;
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
      // Padding is from anywhere, and no lane goes on there.
      const laneOf = (i: number) => (i < length - padding ? (spans.lane[i] as number) : -1);
      round = new Runs(length, laneOf, (i) => {
        const [, shard, first, many] = spanAt(spans, i);
        return cursorOf(laneOf(i)).read(shard, first, many);
      });
      yield { count, real: count - padding, ...placer(spans.numRows, round, rows, samples) };
      await round.all();
    }
  } finally {
    await round?.stop();
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

/** The runs of a round, each read as soon as it can be. Those of one lane are read one after the other, as they follow one another. */
class Runs {
  readonly #done: (Run | undefined)[];
  readonly #reading: Promise<Run>[];
  /** Why no other is begun. */
  #ended: { error: unknown } | undefined;

  constructor(count: number, laneOf: (i: number) => number, read: (i: number) => Promise<Run>) {
    this.#done = new Array(count).fill(undefined);
    const lanes = new Map<number, Promise<unknown>>();
    const places: Promise<unknown>[] = new Array(AT_A_TIME).fill(Promise.resolve());
    this.#reading = Array.from({ length: count }, async (_, i) => {
      const lane = laneOf(i);
      const [before, place] = [lanes.get(lane), places[i % AT_A_TIME]];
      const own = (async () => {
        await before;
        await place;
        if (this.#ended) throw this.#ended.error;
        const run = await read(i);
        this.#done[i] = run;
        return run;
      })();
      const ended = own.catch((error) => {
        this.#ended ??= { error };
      });
      lanes.set(lane, ended);
      places[i % AT_A_TIME] = ended;
      return own;
    });
    // Told where their rows are asked for.
    for (const each of this.#reading) each.catch(() => {});
  }

  /** A run, as far as it is read. */
  at(i: number): Run | undefined {
    return this.#done[i];
  }

  /** A run, when it is read. */
  read(i: number): Promise<Run> {
    return this.#reading[i] as Promise<Run>;
  }

  /** Ends when all are read. */
  async all(): Promise<void> {
    for (const each of this.#reading) await each;
  }

  /** Begins no other, and ends when nothing is under way. */
  async stop(): Promise<void> {
    this.#ended ??= { error: new Error('nobody reads on') };
    await Promise.allSettled(this.#reading);
  }
}

/** Where each sample is, by the number of its row among the rows of all runs, laid end to end; `counts` are those of the runs. */
function placer(
  counts: Float64Array,
  runs: Runs,
  rows: Float64Array,
  samples: Float64Array,
): Pick<Block, 'place' | 'read'> {
  const starts = new Float64Array(counts.length);
  for (let i = 1; i < counts.length; i++) starts[i] = (starts[i - 1] as number) + (counts[i - 1] as number);
  const runOf = new Uint32Array(counts.reduce((sum, count) => sum + count, 0));
  for (const [i, count] of counts.entries()) runOf.fill(i, starts[i], (starts[i] as number) + count);
  const numberOf = (i: number) => runOf[rows[i] as number] as number;
  return {
    place: (i) => {
      const number = numberOf(i);
      const run = runs.at(number);
      return run && [run, (rows[i] as number) - (starts[number] as number), samples[i] as number];
    },
    read: (i) => runs.read(numberOf(i)),
  };
}
