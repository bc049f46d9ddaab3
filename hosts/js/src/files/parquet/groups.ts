// Row groups: estimates of how much memory their decoded values take.
import type { Largest } from '../format.js';

type ColumnMetaData = import('hyparquet').ColumnMetaData;
type RowGroup = import('hyparquet').RowGroup;

/** The most values of a column that are decoded in one piece. More are refused. */
const MOST_VALUES = 2 ** 27;

/** The row group whose values of the columns `names` take most memory, if all of it is decoded. */
export function largestOf(groups: readonly RowGroup[], names: readonly string[]): Largest {
  const own = new Set(names);
  let [start, largest] = [0, { start: 0, rows: 0, width: 0 }];
  for (const group of groups) {
    const [rows, width] = [Number(group.num_rows), widthIn(group, own)];
    if (rows * width > largest.rows * largest.width) largest = { start, rows, width };
    start += rows;
  }
  return largest;
}

/** The approximate bytes of a decoded row of these columns. */
export function widthIn({ num_rows, columns }: RowGroup, names: ReadonlySet<string>): number {
  let bytes = 0;
  for (const { meta_data: meta } of columns) {
    if (meta && names.has(meta.path_in_schema[0] ?? '')) bytes += widthOf(meta) * Number(meta.num_values);
  }
  return bytes / Math.max(1, Number(num_rows));
}

/** The approximate bytes of a decoded value of a column: its place in an array, and its own memory. */
function widthOf(meta: ColumnMetaData): number {
  const { type, num_values: count, total_uncompressed_size: size, path_in_schema: path } = meta;
  const stored = Number(size) / Math.max(1, Number(count));
  // A text is stored with a length of 4 bytes. A shorter value is the number of an entry in a dictionary, whose text
  // is in memory only once.
  const text = stored > 4 ? 16 + stored : 0;
  const isText = type === 'BYTE_ARRAY' || type === 'FIXED_LEN_BYTE_ARRAY';
  const value = type === 'INT64' || type === 'INT96' ? 24 : isText ? text : 0;
  // A column with a longer path has a list or an object in each row.
  return 8 + value + (path.length > 1 ? 40 : 0);
}

/** Refuses to decode more values than fit into memory. A small file can have so many. */
export function checkValues(column: string, values: number): void {
  if (values <= MOST_VALUES) return;
  const told = `${values} values of column ${column} would be decoded at once`;
  throw new Error(
    `${told}: refused, as more than ${MOST_VALUES} do not fit; write shorter row groups, or a page index`,
  );
}
