// Rows, and batches of them, of what was read.
import { fail } from '../checks.js';
import { ahead, type Block, type RowPlace } from './reading.js';
import type { Shards } from './shards.js';
import type { Host } from './sources.js';

/**
 * A row: a value for each column, as `hyparquet` gives it. Integers of 64 bits are `bigint`s, those of 32 bits and all
 * fractions `number`s; dates and timestamps are `Date`s, which hold milliseconds; a value that is missing is null.
 */
export type Row = Record<string, unknown>;

/** Columns to add to those of the files. */
export interface MarkOptions {
  /** The name of a column to add: the index of each row in the dataset. Default none. */
  sampleColumn?: string;
  /** The name of a column to add: whether the row is padding, which a metric has to leave out. Default none. */
  paddingColumn?: string;
}

/** The names of columns to add, by the field that an error tells. */
export interface Marks {
  sample_column: string | undefined;
  padding_column: string | undefined;
}

export function marksOf({ sampleColumn, paddingColumn }: MarkOptions): Marks {
  return {
    sample_column: sampleColumn === undefined ? sampleColumn : nameOf('sample_column', sampleColumn),
    padding_column: paddingColumn === undefined ? paddingColumn : nameOf('padding_column', paddingColumn),
  };
}

export function nameOf(field: string, given: unknown): string {
  if (typeof given !== 'string') fail('wrong-type', field, given, 'a name');
  return given;
}

/** How many rows come before everything else that waits in this process has its turn. */
const TURN = 256;

/** How rows come. */
export interface Coming {
  batchSize: number | undefined;
  dropLast: boolean;
  signal?: AbortSignal | undefined;
  /** Is called with the number of rows that were made, at each pause, and in the end. */
  made?: ((rows: number) => void) | undefined;
}

/** Makes the rows of blocks: one by one, or so many at a time. Errors: a name in `marks` that a column has. */
export async function* rowsOf(
  host: Host,
  shards: Shards,
  marks: Marks,
  { batchSize, dropLast, signal, made }: Coming,
  blocks: (shards: Shards) => AsyncGenerator<Block, void>,
): AsyncGenerator<Row | Row[], void, undefined> {
  const row = rowMaker(shards.columns, marks);
  let batch: Row[] = [];
  let turn = 0;
  for await (const block of ahead(blocks(shards))) {
    for (let i = 0; i < block.count; i++) {
      if (++turn % TURN === 0) {
        made?.(turn);
        await host.turn();
      }
      signal?.throwIfAborted();
      let place = block.place(i);
      if (!place) {
        await block.read?.(i);
        place = block.place(i) as RowPlace;
      }
      if (batchSize === undefined) {
        yield row(block, i, place);
      } else if (batch.push(row(block, i, place)) === batchSize) {
        const full = batch;
        batch = [];
        yield full;
      }
    }
  }
  if (turn % TURN !== 0) made?.(turn);
  if (batch.length > 0 && !dropLast) yield batch;
}

/** The function that makes the rows. Errors: a name in `marks` that a column has. */
export function rowMaker(
  columns: readonly string[],
  marks: Marks,
): (block: Pick<Block, 'real'>, i: number, place: RowPlace) => Row {
  const names = [...columns];
  for (const [field, name] of Object.entries(marks)) {
    if (name === undefined) continue;
    if (names.includes(name)) fail('contradiction', field, name, 'a name that no other column has');
    names.push(name);
  }
  const { sample_column: sampleColumn, padding_column: paddingColumn } = marks;
  const own = [...columns, sampleColumn, paddingColumn].includes('__proto__');
  return (block, i, [run, at, sample]) => {
    const row: Row = {};
    // An assignment to that name would be none.
    if (own) Object.defineProperty(row, '__proto__', { writable: true, enumerable: true, configurable: true });
    // A list that is null comes as undefined.
    for (let i = 0; i < columns.length; i++) row[columns[i] as string] = run.columns[i]?.[at] ?? null;
    if (sampleColumn !== undefined) row[sampleColumn] = sample;
    if (paddingColumn !== undefined) row[paddingColumn] = i >= block.real;
    return row;
  };
}
