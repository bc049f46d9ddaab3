import { findShards, readRows, readShards, type ShardFiles } from 'samedeal/web/parquet';
import { PageError } from './answer.ts';
import { LengthList, type Values } from './lengths.ts';

/** The Parquet files that the user dropped. They stay in the browser. */
let dropped: File[] = [];
let shards: ShardFiles | undefined;
/** The dropped files, opened again to read one column. */
let ofColumn: { column: string; shards: ShardFiles } | undefined;

/**
 * Number of times that files were opened. Answers are cached together with this number, so that none is used for other
 * files.
 */
export let opened = 0;

/** The facts about the opened files that the page shows. */
export interface Dataset {
  names: string[];
  sizes: Float64Array;
  samples: number;
  columns: string[];
}

export const sizesOfFiles = (): Float64Array | undefined => shards && Float64Array.from(shards.sizes, Number);

/** Reads the footers of Parquet files. The files are sorted by name, as the files of a directory are. */
export async function openFiles({ files }: { files: File[] }): Promise<Dataset> {
  const sorted = [...files].sort((a, b) => (a.name < b.name ? -1 : 1));
  shards = await findShards(sorted);
  dropped = sorted;
  opened += 1;
  ofColumn = undefined;
  const names = sorted.map(({ name }) => name);
  const sizes = Float64Array.from(shards.sizes, Number);
  return { names, sizes, samples: sizes.reduce((sum, size) => sum + size, 0), columns: [...shards.columns] };
}

/** A value of a row as the page shows it. */
export type Shown = { text: string } | { image: Uint8Array };

/** The first bytes of the image formats that browsers show. */
const IMAGES: readonly (readonly number[])[] = [
  [0x89, 0x50, 0x4e, 0x47],
  [0xff, 0xd8, 0xff],
  [0x47, 0x49, 0x46, 0x38],
  [0x52, 0x49, 0x46, 0x46],
];
/** The most characters of a text that the page shows. */
const LONGEST = 4000;

function shown(value: unknown): Shown {
  // Hugging Face's datasets hold an image as { bytes, path }.
  const bytes = (value as { bytes?: unknown } | null)?.bytes ?? value;
  if (bytes instanceof Uint8Array && IMAGES.some((start) => start.every((byte, at) => bytes[at] === byte)))
    return { image: bytes.slice() };
  const text =
    typeof value === 'string'
      ? value
      : JSON.stringify(value, (_key, inner) => (typeof inner === 'bigint' ? String(inner) : inner));
  const whole = text ?? '';
  return { text: whole.length > LONGEST ? `${whole.slice(0, LONGEST)} …` : whole };
}

/** The values of one column for some samples. */
export async function valuesOf({ samples, column }: { samples: number[]; column: string }): Promise<Shown[]> {
  if (dropped.length === 0) return [];
  if (ofColumn?.column !== column) ofColumn = { column, shards: await findShards(dropped, { columns: [column] }) };
  const rows = await readRows(ofColumn.shards, samples);
  return rows.map((row) => shown((row as Record<string, unknown>)[column]));
}

/** The length of a text in Unicode scalar values, as Python and the command count it. */
function characters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/**
 * The length of each row, from a column: a number is the length itself; a text has characters, and a list has items.
 */
export async function columnLengths(column: string): Promise<Values> {
  if (dropped.length === 0) throw new PageError('lengths', 'Drop the Parquet files again: a link does not hold them');
  const lengths = new LengthList();
  for await (const row of readShards(dropped, { columns: [column], shuffle: false })) {
    const value = (row as Record<string, unknown>)[column];
    lengths.push(
      typeof value === 'number' || typeof value === 'bigint'
        ? Number(value)
        : typeof value === 'string'
          ? characters(value)
          : ((value as ArrayLike<unknown> | null)?.length ?? 0),
    );
  }
  return lengths.values;
}
