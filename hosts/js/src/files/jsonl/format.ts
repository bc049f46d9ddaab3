// JSON lines: a file with a JSON object in each line. A part is about a megabyte of lines.
import { concat } from '../bytes.js';
import type { DataFile, FileBytes, Format } from '../format.js';
import { fitting, foundIn, type JsonType, schemaOf, type Type, textOf, uniteTexts } from './types.js';

/** About how many bytes of lines a part has. */
const PART = 1 << 20;
/** About how many bytes of memory a byte of JSON becomes: the same number in every language, since plans follow from it. */
const MEMORY = 2;
/** The first bytes of packed files. */
const PACKED: readonly (readonly [magic: readonly number[], kind: string])[] = [
  [[0x1f, 0x8b], 'gzip'],
  [[0x28, 0xb5, 0x2f, 0xfd], 'zstd'],
  [[0x42, 0x5a, 0x68], 'bzip2'],
];

/** The places of the parts. */
interface Index {
  readonly schema: ReadonlyMap<string, Type>;
  /** Where each part ends, in bytes. */
  readonly ends: Float64Array;
  /** The number of the lines of each part that are not empty. */
  readonly rows: Float64Array;
}

/**
 * JSON lines, with a schema of all files. By default, columns and types are those of the first megabyte of a file. A
 * column that is missing in an object is null. A column that the schema does not have, or a value of another type, is an
 * error. Errors: a `SamedealError` for `schema`.
 */
export function jsonLines(schema?: { readonly [column: string]: JsonType }): Format {
  const given = schema === undefined ? undefined : schemaOf(schema);
  return {
    name: 'JSON lines',
    suffixes: ['.jsonl', '.ndjson', '.jsonl.gz', '.jsonl.zst'],
    async open(bytes, index) {
      const start = new Uint8Array(await bytes.slice(0, Math.min(4, bytes.byteLength)));
      const packed = PACKED.find(([magic]) => magic.every((byte, i) => start[i] === byte));
      if (packed) throw new Error(`packed by ${packed[1]}, so that no row can be found: unpack it, or write Parquet`);
      return fileOf(bytes, (index as Index | undefined) ?? (await scanned(bytes, given)));
    },
    unite: uniteTexts,
  };
}

function fileOf(bytes: FileBytes, index: Index): DataFile {
  const { schema, ends, rows } = index;
  const fit = fitting(schema);
  const startOf = (part: number) => (part ? (ends[part - 1] as number) : 0);
  return {
    footer: {
      columns: new Map(Array.from(schema, ([name, type]) => [name, textOf(type)])),
      rows,
      bytes: ends.map((end, part) => MEMORY * (end - startOf(part))),
      index,
    },
    async part(number, columns) {
      const data = new Uint8Array(await bytes.slice(startOf(number), ends[number] as number));
      const lines = Array.from(linesOf(data));
      if (lines.length !== rows[number]) {
        const from = `from byte ${startOf(number)} on`;
        throw new Error(`has ${lines.length} lines ${from}, and had ${rows[number]} at the start`);
      }
      const before = rows.subarray(0, number).reduce((sum, count) => sum + count, 0);
      return (first, end) => {
        const objects = lines.slice(first, end).map(([from, to], i) => {
          try {
            return fit(text(data.subarray(from, to)));
          } catch (error) {
            const at = `row ${before + first + i}, at byte ${startOf(number) + from}`;
            throw new Error(`${at}: ${(error as Error).message}`, { cause: error });
          }
        });
        return columns.map((name) => objects.map((object) => object[name]));
      };
    },
  };
}

/** Finds the lines of a file, and the columns and types of its first part. */
async function scanned(bytes: FileBytes, given: ReadonlyMap<string, Type> | undefined): Promise<Index> {
  const [ends, rows]: [number[], number[]] = [[], []];
  let [schema, at] = [given, 0];
  for await (const part of partsOf(bytes)) {
    const lines = Array.from(linesOf(part));
    if (schema === undefined && lines.length > 0) {
      schema = foundIn(lines.length, (row) => text(part.subarray(...(lines[row] as Line))));
    }
    at += part.length;
    ends.push(at);
    rows.push(lines.length);
  }
  return { schema: schema ?? new Map(), ends: Float64Array.from(ends), rows: Float64Array.from(rows) };
}

/** The bytes of a file, about a megabyte of whole lines at a time. */
async function* partsOf(bytes: FileBytes): AsyncGenerator<Uint8Array, void> {
  let rest: Uint8Array<ArrayBuffer>[] = [];
  for (let at = 0; at < bytes.byteLength; at += PART) {
    const block = new Uint8Array(await bytes.slice(at, Math.min(at + PART, bytes.byteLength)));
    // The last line may have no end.
    const end = block.length < PART ? block.length : block.lastIndexOf(NEWLINE) + 1;
    if (end === 0) {
      rest.push(block);
      continue;
    }
    yield concat([...rest, block.subarray(0, end)]);
    rest = end < block.length ? [block.subarray(end)] : [];
  }
  if (rest.length > 0) yield concat(rest);
}

const NEWLINE = 0x0a;

type Line = readonly [from: number, to: number];

/** The lines that are not empty: where each begins and ends. */
function* linesOf(data: Uint8Array): Generator<Line, void> {
  for (let from = 0; from < data.length; ) {
    const found = data.indexOf(NEWLINE, from);
    const to = found < 0 ? data.length : found;
    if (hasText(data, from, to)) yield [from, to];
    from = to + 1;
  }
}

/** Whether bytes have more than white space: a space, or one of the characters from the tabulator to the carriage return. */
function hasText(data: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const byte = data[at] as number;
    if (byte !== 0x20 && !(byte >= 0x09 && byte <= 0x0d)) return true;
  }
  return false;
}

function text(line: Uint8Array): string {
  try {
    // Without the mark of the byte order, with which some programs begin a file.
    return new TextDecoder('utf-8', { fatal: true }).decode(line);
  } catch {
    throw new Error('it is not UTF-8');
  }
}
