// Files of a format that reads part by part, such as record batches.

import { concat, type Typed } from './bytes.js';
import type {
  DataFile,
  FileCursor,
  Format,
  FormatReader,
  Largest,
  OpenFile,
  PartRows,
  Piece,
  Values,
} from './format.js';
import { Shared } from './users.js';

/** The reader of a format. */
export function readerOf(format: Format): FormatReader {
  return {
    name: format.name,
    suffixes: format.suffixes,
    part: 'part',
    open: async (bytes, index) => new PartsFile(await format.open(bytes, index)),
    ...(format.choose && { choose: (names, read) => format.choose?.(names, read) ?? [] }),
    ...(format.unite && { unite: (one, other) => format.unite?.(one, other) }),
  };
}

/** A part of a file: the numbers of its first row within the file, and of the row after its last one. */
interface Part {
  readonly number: number;
  readonly start: number;
  readonly end: number;
}

class PartsFile implements OpenFile {
  readonly rows: number;
  readonly columns: ReadonlyMap<string, string>;
  readonly index: unknown;
  readonly #file: DataFile;
  /** The parts that have rows. */
  readonly #parts: Part[] = [];
  /** Parts while they are in use. Lanes that are near each other share them. */
  readonly #loaded = new Shared<number, PartRows>();

  constructor(file: DataFile) {
    const { columns, rows, index } = file.footer;
    this.#file = file;
    this.columns = columns;
    this.index = index;
    let start = 0;
    for (let number = 0; number < rows.length; number++) {
      const end = start + (rows[number] as number);
      if (!(Number.isSafeInteger(end) && end >= start)) throw new Error(`part ${number} has no number of rows`);
      if (end > start) this.#parts.push({ number, start, end });
      start = end;
    }
    this.rows = start;
  }

  bytes(): number {
    return Array.from(this.#file.footer.bytes).reduce((sum, bytes) => sum + bytes, 0);
  }

  largest(): Largest {
    const { bytes } = this.#file.footer;
    const bytesOf = ({ number }: Part) => bytes[number] as number;
    const largest = this.#parts.reduce<Part | undefined>(
      (best, part) => (best && bytesOf(best) >= bytesOf(part) ? best : part),
      undefined,
    );
    if (!largest) return { start: 0, rows: 0, width: 0 };
    const rows = largest.end - largest.start;
    return { start: largest.start, rows, width: bytesOf(largest) / rows };
  }

  async pieces(): Promise<Piece[]> {
    return [this.largest()];
  }

  cursor(names: readonly string[]): FileCursor {
    let held: { part: Part; rows: Promise<PartRows> } | undefined;
    const leave = () => {
      if (held) this.#loaded.release(held.part.number);
      held = undefined;
    };
    const read = async (first: number, count: number) => {
      const runs: (readonly Values[])[] = [];
      for (let at = first; at < first + count; ) {
        if (!held || at < held.part.start || at >= held.part.end) {
          const part = search(this.#parts, at);
          const { number } = part;
          const rows = this.#loaded.acquire(number, async () => this.#file.part(number, names));
          leave();
          held = { part, rows };
        }
        const { part, rows } = held;
        const to = Math.min(part.end, first + count);
        runs.push(checked((await told(part, rows))(at - part.start, to - part.start), names, to - at));
        at = to;
      }
      return names.map((_, i) => joined(runs.map((run) => run[i] as Values)));
    };
    return { read, leave };
  }
}

/** A part; its errors say which rows it has. */
async function told(part: Part, rows: Promise<PartRows>): Promise<PartRows> {
  try {
    return await rows;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new Error(`rows ${part.start} to ${part.end - 1}: ${error.message}`, { cause: error });
  }
}

/** The values, if they are as many as were asked for. */
function checked(values: readonly Values[], names: readonly string[], rows: number): readonly Values[] {
  for (const [i, name] of names.entries()) {
    const found = values[i]?.length;
    if (found !== rows) throw new Error(`column ${name} holds ${found} rows where ${rows} are promised`);
  }
  return values;
}

/** The values of all parts; in a typed array if all parts are typed arrays of one type. */
export function joined(parts: readonly Values[]): Values {
  const [first] = parts;
  if (first && parts.length === 1) return first;
  if (!ArrayBuffer.isView(first) || parts.some((part) => part.constructor !== first.constructor)) {
    return parts.flatMap((part) => Array.from(part));
  }
  return concat(parts as readonly (Values & Typed)[]);
}

/** The run that contains a row. The runs follow one another without gaps. */
export function search<T extends { start: number; end: number }>(runs: readonly T[], row: number): T {
  let [low, high] = [0, runs.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((runs[middle] as T).end > row) high = middle;
    else low = middle + 1;
  }
  const found = runs[low];
  if (!found || row < found.start || row >= found.end) throw new Error(`it has no row ${row}`);
  return found;
}
