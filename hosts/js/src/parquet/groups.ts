// Row groups: how much of them a reader has decoded at a time.

type ColumnMetaData = import('hyparquet').ColumnMetaData;
type RowGroup = import('hyparquet').RowGroup;

/** If a reader holds more bytes of decoded values, it gives a warning: programs have little more memory by default. */
export const MUCH_BYTES = 2 ** 30;
/** The most values of a column that are decoded at once: more are refused. */
const MOST_VALUES = 2 ** 27;

/** A row group, from its footer. */
export interface Group {
  /** Number of its first row within the file. */
  start: number;
  rows: number;
  /** Bytes that a row takes where it is decoded, about. */
  width: number;
}

/** The row group that takes most memory where all of it is decoded, of the columns to read. */
export function largestOf(groups: readonly RowGroup[], names: readonly string[]): Group {
  const own = new Set(names);
  let [start, largest] = [0, { start: 0, rows: 0, width: 0 }];
  for (const group of groups) {
    const [rows, width] = [Number(group.num_rows), widthIn(group, own)];
    if (rows * width > largest.rows * largest.width) largest = { start, rows, width };
    start += rows;
  }
  return largest;
}

/** Bytes that a row of these columns takes where it is decoded, about. */
export function widthIn({ num_rows, columns }: RowGroup, names: ReadonlySet<string>): number {
  let bytes = 0;
  for (const { meta_data: meta } of columns) {
    if (meta && names.has(meta.path_in_schema[0] ?? '')) bytes += widthOf(meta) * Number(meta.num_values);
  }
  return bytes / Math.max(1, Number(num_rows));
}

/** Bytes that a value of a column takes, about: its place in an array, and what is there. */
function widthOf(meta: ColumnMetaData): number {
  const { type, num_values: count, total_uncompressed_size: size, path_in_schema: path } = meta;
  const stored = Number(size) / Math.max(1, Number(count));
  // Less than the length of a text takes is the number of one in a dictionary, where it is once.
  const text = stored > 4 ? 16 + stored : 0;
  const isText = type === 'BYTE_ARRAY' || type === 'FIXED_LEN_BYTE_ARRAY';
  const value = type === 'INT64' || type === 'INT96' ? 24 : isText ? text : 0;
  // A list or an object in each row.
  return 8 + value + (path.length > 1 ? 40 : 0);
}

/** Refuses what would fill the memory, although a file is small. */
export function checkValues(column: string, values: number): void {
  if (values <= MOST_VALUES) return;
  const told = `${values} values of column ${column} would be decoded at once`;
  throw new Error(
    `${told}: refused, as more than ${MOST_VALUES} do not fit; write shorter row groups, or a page index`,
  );
}

/** Part of a column of a row group that is decoded at once. */
export interface Part {
  rows: number;
  /** Bytes of a row, about. */
  width: number;
}

/**
 * The bytes that a reader with `own` lanes holds, where all row groups are like one of so many rows. Lanes are of equal length. Each holds
 * one of `parts`, of every column; lanes that are near each other hold the same.
 */
export function heldBytes(own: number, rows: number, samples: number, parts: readonly Part[]): number {
  const groups = Math.min(own, samples / rows);
  const lanes = own / groups;
  return groups * parts.reduce((sum, part) => sum + part.width * Math.min(rows, lanes * part.rows), 0);
}

/** The most lanes, below `own`, with which a reader does not hold much; 0 if there are none. */
export function lanesThatFit(own: number, rows: number, samples: number, parts: readonly Part[]): number {
  let [fit, above] = [0, own];
  while (above - fit > 1) {
    const middle = (fit + above) >> 1;
    if (heldBytes(middle, rows, samples, parts) < MUCH_BYTES) fit = middle;
    else above = middle;
  }
  return fit;
}
