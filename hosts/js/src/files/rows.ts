// Rows, and batches of rows, made from the columns that were read.
import { fail } from '../checks.js';
import { ahead, type Block, type RowPlace } from './reading.js';
import type { Shards } from './shards.js';
import type { Host } from './sources.js';

/**
 * A row: a value for each column, of Arrow files in the types in which `hyparquet` returns it. Integers of 64 bits are
 * `bigint`s, those of 32 bits and all fractions `number`s; dates and timestamps are `Date`s, which have milliseconds; a
 * missing value is null. In JSON lines, integers are `number`s up to 2^53 - 1, and `bigint`s beyond.
 */
export type Row = Record<string, unknown>;

/** The options for columns that are added to those of the files. */
export interface MarkOptions {
  /** The name of a column to add: the index of each row in the dataset. Default none. */
  sampleColumn?: string;
  /** The name of a column to add: whether the row is padding, which a metric has to leave out. Default none. */
  paddingColumn?: string;
}

/** The names of columns to add, by the names of the options in errors. */
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

/** How many rows are made before other tasks of this process can run. */
const TURN = 256;

/** The options by which rows are returned. */
export interface Coming {
  batchSize: number | undefined;
  dropLast: boolean;
  signal?: AbortSignal | undefined;
  /** A function that is called with the number of rows that were made, at each pause, and in the end. */
  made?: ((rows: number) => void) | undefined;
}

/** Makes the rows of blocks: one by one, or `batchSize` at a time. Errors: a name in `marks` that a column has. */
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
    // A plain assignment to `__proto__` would add no property.
    if (own) Object.defineProperty(row, '__proto__', { writable: true, enumerable: true, configurable: true });
    // `hyparquet` returns undefined for a list that is null.
    for (let i = 0; i < columns.length; i++) row[columns[i] as string] = run.columns[i]?.[at] ?? null;
    if (sampleColumn !== undefined) row[sampleColumn] = sample;
    if (paddingColumn !== undefined) row[paddingColumn] = i >= block.real;
    return row;
  };
}
