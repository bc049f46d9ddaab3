// The rows of one reader, in the order of its deal.
import type { Reading, Spans } from '#samedeal';
import { Cursor, type Run } from './cursor.js';
import type { Shards } from './shards.js';

/** Rows that are read together. */
export interface Block {
  count: number;
  /** How many rows at the beginning of the block are no padding. */
  real: number;
  /** The place of row `i`: its run, its place in the run, and its sample index. Undefined until the row is read. */
  place(i: number): RowPlace | undefined;
  /** Waits until row number `i` is read. */
  read?(i: number): Promise<unknown>;
}

export type RowPlace = readonly [run: Run, at: number, sample: number];

/** How many runs are read at a time: a server can answer several requests in the time of one. */
const AT_A_TIME = 8;
/** How many rows of a shard are in memory at a time, if rows come as they are stored. */
const ROWS = 4096;

/**
 * The rows of one reader (a worker of a rank) of a `Reading`, in the order of this reader. A block is a round, or a
 * part of a round if rows come as they are stored.
 */
export async function* readingBlocks(
  shards: Shards,
  reading: Reading,
  rank: number,
  worker: number,
  signal?: AbortSignal,
): AsyncGenerator<Block, void> {
  const cursors = new Map<number, Cursor>();
  let round: Runs | undefined;
  const cursorOf = (lane: number) => {
    const cursor = cursors.get(lane) ?? new Cursor(shards);
    cursors.set(lane, cursor);
    return cursor;
  };
  try {
    // If whole shards come as they are stored, the reader gets all rows of a span in their order, so a part of the span
    // is enough to begin.
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
      const { rows, numPadding: padding } = reading.roundRows(rank, worker, reading.roundOf(rank, worker, start));
      // Padding samples come from any place, and no lane continues at them. So padding has a lane number of its own.
      const laneOf = (i: number) => (i < length - padding ? (spans.lane[i] as number) : -1);
      const where = runsOf(spans.numRows, rows);
      round = new Runs(inOrder(where.runs, laneOf), laneOf, (i) => {
        signal?.throwIfAborted();
        const [, shard, first, many] = spanAt(spans, i);
        return cursorOf(laneOf(i)).read(shard, first, many);
      });
      yield { count, real: count - padding, ...placer(where, round, samples) };
      await round.all();
    }
  } finally {
    await round?.stop();
    for (const cursor of cursors.values()) await cursor.close();
  }
}

/** The rows of a shard as they are stored, some thousands at a time, so that not the whole shard is in memory. */
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

/** The items of a generator. The next item is begun while the current one is in use. */
export async function* ahead<T>(items: AsyncGenerator<T, void>): AsyncGenerator<T, void> {
  let next = items.next();
  try {
    for (;;) {
      const { value, done } = await next;
      if (done) return;
      next = items.next();
      // A failure is thrown when the item is asked for, and not as an unhandled rejection.
      next.catch(() => {});
      yield value;
    }
  } finally {
    await next.catch(() => {});
    await items.return();
  }
}

/**
 * For each row of a round, in the order in which the reader returns them: the number of its run, and its place in this
 * run.
 */
interface Where {
  runs: Uint32Array;
  places: Float64Array;
}

function runsOf(counts: Float64Array, rows: Float64Array): Where {
  const starts = new Float64Array(counts.length);
  for (let i = 1; i < counts.length; i++) starts[i] = (starts[i - 1] as number) + (counts[i - 1] as number);
  const runOf = new Uint32Array(counts.reduce((sum, count) => sum + count, 0));
  for (const [i, count] of counts.entries()) runOf.fill(i, starts[i], (starts[i] as number) + count);
  const runs = Uint32Array.from(rows, (row) => runOf[row] as number);
  return { runs, places: rows.map((row, i) => row - (starts[runs[i] as number] as number)) };
}

/** The runs in the order in which their rows are needed; those of one lane stay in the lane's order. */
function inOrder(runs: Uint32Array, laneOf: (i: number) => number): number[] {
  const order = new Set<number>();
  for (const run of runs) {
    if (order.has(run)) continue;
    let first = run;
    while (first > 0 && laneOf(first - 1) === laneOf(run) && !order.has(first - 1)) first -= 1;
    for (let i = first; i <= run; i++) order.add(i);
  }
  return [...order];
}

/**
 * Reads the runs of a round, some at a time, in the order `order`. Runs of one lane are read one after the other, since
 * each run begins where the run before it ends.
 */
class Runs {
  readonly #done: Run[] = [];
  readonly #reading: Promise<Run>[] = [];
  /** The reason why no further run is begun. */
  #ended: { error: unknown } | undefined;

  constructor(order: readonly number[], laneOf: (i: number) => number, read: (i: number) => Promise<Run>) {
    const lanes = new Map<number, Promise<unknown>>();
    const places: Promise<unknown>[] = [];
    for (const [number, i] of order.entries()) {
      const reading = this.#read(() => read(i), [lanes.get(laneOf(i)), places[number % AT_A_TIME]]);
      // A failure is thrown where the rows of the run are asked for.
      const ended = reading.then(
        (run) => {
          this.#done[i] = run;
        },
        (error) => {
          this.#ended ??= { error };
        },
      );
      lanes.set(laneOf(i), ended);
      places[number % AT_A_TIME] = ended;
      this.#reading[i] = reading;
    }
  }

  async #read(read: () => Promise<Run>, before: readonly (Promise<unknown> | undefined)[]): Promise<Run> {
    for (const other of before) await other;
    if (this.#ended) throw this.#ended.error;
    return read();
  }

  /** A run; undefined until it is read. */
  at(i: number): Run | undefined {
    return this.#done[i];
  }

  /** A run; waits until it is read. */
  async read(i: number): Promise<Run> {
    const run = await (this.#reading[i] as Promise<Run>);
    this.#done[i] = run;
    return run;
  }

  /** Waits until all runs are read. */
  async all(): Promise<void> {
    await Promise.all(this.#reading);
  }

  /** Begins no further run, and waits until none is being read. */
  async stop(): Promise<void> {
    this.#ended ??= { error: new Error('nobody reads on') };
    await Promise.allSettled(this.#reading);
  }
}

function placer({ runs, places }: Where, round: Runs, samples: Float64Array): Pick<Block, 'place' | 'read'> {
  return {
    place: (i) => {
      const run = round.at(runs[i] as number);
      return run && [run, places[i] as number, samples[i] as number];
    },
    read: (i) => round.read(runs[i] as number),
  };
}
