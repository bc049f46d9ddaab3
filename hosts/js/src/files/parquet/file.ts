import type { ColumnMetaData, FileMetaData, RowGroup, SchemaTree } from 'hyparquet';
import type { Bytes } from './bytes.js';
import { checkValues, type Group as Largest, largestOf, type Part, widthIn } from './groups.js';
import { type Block, blocksOf, Held } from './held.js';
import type { Library } from './library.js';
import { indexedPages, type Page, pagesOf, type Read, runsOf } from './pages.js';
import { Shared } from './shared.js';
import type { Place } from './sources.js';

/** Values of a column, in the order of the rows. */
export type Values = ArrayLike<unknown> & { slice(start: number, end: number): Values };

/** How many bytes at the end of a file are read first. A longer footer costs a second read. */
const FOOTER = 1 << 16;

/** A run of rows of a column that is decoded in one piece. */
export interface Unit {
  readonly key: string;
  /** The number of its first row within the file, and of the row after its last one. */
  readonly start: number;
  readonly end: number;
  decode(): Promise<Values>;
  /** Is called when nobody uses the decoded values any more. */
  leave?(): Promise<void>;
}

/** A dictionary, decompressed once for all pages that are in use and need it. `pages` is their number. */
interface Dictionary {
  readonly range: readonly [start: number, end: number];
  pages: number;
  bytes?: Uint8Array | undefined;
}

/**
 * A column of a row group, cut into units. The cut goes only as far as the rows that were read, since finding a page
 * means reading the headers of the pages before it.
 */
class Cut {
  readonly #units: Unit[] = [];
  readonly #rest: AsyncGenerator<Unit, void>;
  #going: Promise<void> = Promise.resolve();

  constructor(units: AsyncGenerator<Unit, void>) {
    this.#rest = units;
  }

  /** The unit that contains a row. */
  async at(row: number): Promise<Unit> {
    if (!this.#has(row)) {
      this.#going = this.#going.then(() => this.#until(row));
      await this.#going;
    }
    return search(this.#units, row);
  }

  #has(row: number): boolean {
    const last = this.#units.at(-1);
    return last !== undefined && row < last.end;
  }

  async #until(row: number): Promise<void> {
    while (!this.#has(row)) {
      const { value } = await this.#rest.next();
      if (!value) return;
      this.#units.push(value);
    }
  }
}

/** A row group, and the numbers of its first row within the file and of the row after its last one. */
interface Group {
  start: number;
  end: number;
  raw: RowGroup;
  /** The columns that were cut, by their names. */
  columns: Map<string, Cut>;
  /** Small columns that lie near each other, as blocks that are read at once. */
  blocks: Block[];
}

/** The columns that will be read, and the cache of their bytes. */
export interface Use {
  readonly names: readonly string[];
  readonly held: Held;
}

const UNUSED: Use = { names: [], held: new Held() };

/** An open Parquet file. Errors of its methods do not name the file: see `naming`. */
export class ParquetFile {
  readonly rows: number;
  readonly #library: Library;
  readonly #bytes: Bytes;
  readonly #metadata: FileMetaData;
  readonly #groups: Group[] = [];
  readonly #columns: Map<string, SchemaTree>;
  readonly #held: Held;
  /** Decoded values while they are in use. Lanes that are near each other share them. */
  readonly decoded = new Shared<string, Values>();

  private constructor(library: Library, bytes: Bytes, metadata: FileMetaData, { names, held }: Use) {
    this.#library = library;
    this.#bytes = bytes;
    this.#held = held;
    this.#metadata = metadata;
    let start = 0;
    for (const raw of metadata.row_groups) {
      const end = start + Number(raw.num_rows);
      if (!(end >= start)) throw new Error('a row group has no number of rows');
      const own = raw.columns.filter(({ meta_data }) => names.includes(meta_data?.path_in_schema[0] ?? ''));
      const blocks = blocksOf(own.map(chunkOf), bytes.byteLength);
      if (end > start) this.#groups.push({ start, end, raw, columns: new Map(), blocks });
      start = end;
    }
    this.rows = Number(metadata.num_rows);
    if (start !== this.rows) throw new Error(`its row groups hold ${start} rows, and it promises ${this.rows}`);
    const columns = library.parquet.parquetSchema(metadata).children;
    this.#columns = new Map(columns.map((column) => [column.element.name, column]));
  }

  /** Opens a file and reads its footer. */
  static async open(library: Library, place: Place, signal?: AbortSignal, use: Use = UNUSED): Promise<ParquetFile> {
    const bytes = await place.open(library, signal);
    try {
      let failed: unknown;
      const slice = (start: number, end?: number) =>
        bytes.slice(start, end).catch((error) => {
          failed = error;
          throw error;
        });
      const footer = { byteLength: bytes.byteLength, slice };
      const metadata = await library.parquet
        .parquetMetadataAsync(footer, { initialFetchSize: FOOTER })
        .catch((error: Error) => {
          if (error === failed) throw error;
          throw new Error(`not a Parquet file, or cut off: ${error.message}`, { cause: error });
        });
      await checkNames(footer, metadata);
      return new ParquetFile(library, bytes, metadata, use);
    } catch (error) {
      await bytes.close();
      throw error;
    }
  }

  /** The columns by their names, each with a text of its type: two files agree on a column if these texts are equal. */
  get schema(): Map<string, string> {
    return new Map([...this.#columns].map(([name, tree]) => [name, JSON.stringify(shape(tree))]));
  }

  /** The compressed bytes of each column. */
  get bytes(): Map<string, number> {
    const sums = new Map<string, number>();
    for (const { raw } of this.#groups) {
      for (const { meta_data } of raw.columns) {
        const name = meta_data?.path_in_schema[0] ?? '';
        sums.set(name, (sums.get(name) ?? 0) + Number(meta_data?.total_compressed_size ?? 0));
      }
    }
    return sums;
  }

  /** The row group whose values of these columns take most memory. */
  largest(names: readonly string[]): Largest {
    return largestOf(this.#metadata.row_groups, names);
  }

  /**
   * For each column, the part that is decoded in one piece, in the row group that takes most memory: for a flat column,
   * its first page.
   */
  async parts(names: readonly string[]): Promise<Part[]> {
    const { start } = largestOf(this.#metadata.row_groups, names);
    return Promise.all(
      names.map(async (name) => {
        const unit = await this.unit(name, start);
        const { raw } = search(this.#groups, start);
        return { rows: unit.end - unit.start, width: widthIn(raw, new Set([name])) };
      }),
    );
  }

  /** The unit of a column that contains a row. */
  async unit(column: string, row: number): Promise<Unit> {
    const group = search(this.#groups, row);
    let cut = group.columns.get(column);
    if (!cut) {
      cut = new Cut(this.#cut(column, group));
      group.columns.set(column, cut);
    }
    return cut.at(row);
  }

  close(): Promise<void> {
    for (const { blocks } of this.#groups) for (const block of blocks) this.#held.drop(block);
    return this.#bytes.close();
  }

  /**
   * Cuts a column of a row group into units. A unit is decoded once for all lanes that use it at one time: `decoded`
   * stores the values until the last of these lanes has left the unit. A later lane decodes the unit again, such as a
   * lane that ends in the page in which the next lane began.
   *
   * - A column with one value in each row is cut into its pages, by their headers.
   * - A column of lists of one kind of values is cut into its pages, if an index has the rows of each page.
   * - In other columns, such as structures, the pages of several kinds of values begin at different rows. If there are indexes, these
   *   columns are cut into runs of rows, so long that a page is decoded for two runs at most. A dictionary is decoded for each run.
   * - Any other column is one unit.
   */
  async *#cut(column: string, group: Group): AsyncGenerator<Unit, void> {
    const tree = this.#columns.get(column) as SchemaTree;
    const chunks = group.raw.columns.filter(({ meta_data }) => meta_data?.path_in_schema[0] === column);
    const [chunk] = chunks;
    const meta = chunk?.meta_data;
    if (!meta) throw new Error(`column ${column} has no data in a row group`);
    if (chunks.some(({ file_path }) => file_path)) throw new Error(`column ${column} is stored in another file`);
    const rows = group.end - group.start;
    const key = `${group.start} ${column}`;
    const places = chunks.map(chunkOf);
    const [start, end] = [Math.min(...places.map(({ start }) => start)), Math.max(...places.map(({ end }) => end))];
    const block = group.blocks.find((block) => start >= block.start && end <= block.end);
    if (block) await this.#held.read(this.#bytes, block);
    const { byteLength } = this.#bytes;
    const read = (from: number, to = byteLength) => this.#held.slice(this.#bytes, block, from, to);
    const isFlat = tree.children.length === 0 && tree.element.repetition_type !== 'REPEATED';
    const isKnown = !isFlat && chunks.every(isIndexed);
    const indexes = isKnown ? await Promise.all(chunks.map((chunk) => this.#indexed(chunk, rows))) : [];
    const pages = isFlat ? pagesOf(read, byteLength, start, rows, end) : chunks.length === 1 ? indexes[0] : undefined;
    if (pages) {
      let shared: Dictionary | undefined;
      for await (const page of pages) {
        const { row, rows: count, start: from, end: to } = page;
        checkValues(column, isFlat ? count : (Number(meta.num_values) * count) / rows);
        if (page.dictionary) shared ??= { range: page.dictionary, pages: 0 };
        const dictionary = page.dictionary && shared;
        yield {
          key: `${key} ${row}`,
          start: group.start + row,
          end: group.start + row + count,
          decode: () => {
            if (dictionary) dictionary.pages += 1;
            return this.#page(read, column, group.raw, meta, dictionary, [from, to], count);
          },
          leave: async () => {
            if (dictionary && --dictionary.pages === 0) dictionary.bytes = undefined;
          },
        };
      }
      return;
    }
    for (const [from, to] of runsOf(indexes, rows)) {
      for (const { meta_data } of chunks) checkValues(column, (Number(meta_data?.num_values) * (to - from)) / rows);
      const metadata = { ...this.#metadata, row_groups: [group.raw] };
      const decode = () => this.#decode({ byteLength, slice: read }, metadata, column, from, to);
      yield { key: `${key} ${from}`, start: group.start + from, end: group.start + to, decode };
    }
  }

  /** The pages of a column chunk, from its index in the file. */
  async #indexed(chunk: RowGroup['columns'][number], rows: number): Promise<Page[]> {
    const at = Number(chunk.offset_index_offset);
    const bytes = await this.#bytes.slice(at, at + Number(chunk.offset_index_length));
    const index = this.#library.parquet.readOffsetIndex({ view: new DataView(bytes), offset: 0 });
    return indexedPages(index.page_locations, chunkOf(chunk).start, rows, this.#bytes.byteLength);
  }

  /**
   * Decodes a page of a column. For `hyparquet`, the dictionary and the page are put together as a file of their own.
   */
  async #page(
    read: Read,
    column: string,
    group: RowGroup,
    meta: ColumnMetaData,
    dictionary: Dictionary | undefined,
    page: readonly [start: number, end: number],
    rows: number,
  ): Promise<Values> {
    const parts = await Promise.all([dictionary?.range, page].map((range) => range && read(...range)));
    const bytes = concat(parts.filter((part) => part !== undefined));
    const { dictionary_page_offset: _, ...others } = meta;
    const meta_data = { ...others, data_page_offset: 0n, total_compressed_size: BigInt(bytes.byteLength) };
    const row_groups = [{ ...group, num_rows: BigInt(rows), columns: [{ file_offset: 0n, meta_data }] }];
    const metadata = { ...this.#metadata, num_rows: BigInt(rows), row_groups };
    const buffer = { byteLength: bytes.byteLength, slice: (start: number, end?: number) => bytes.slice(start, end) };
    const { compressors } = this.#library;
    return this.#decode(buffer, metadata, column, 0, rows, dictionary ? once(compressors, dictionary) : compressors);
  }

  async #decode(
    file: { byteLength: number; slice(start: number, end?: number): ArrayBuffer | Promise<ArrayBuffer> },
    metadata: FileMetaData,
    column: string,
    rowStart: number,
    rowEnd: number,
    compressors = this.#library.compressors,
  ): Promise<Values> {
    const { parquet } = this.#library;
    // Bytes without a logical type stay bytes.
    const options = { file, metadata, columns: [column], utf8: false, ...(compressors && { compressors }) };
    const scan = await parquet.parquetScan(options);
    const values = (await scan.readColumn({ column, rowStart, rowEnd }).catch((error: Error) => {
      const remedy = /unsupported compression/.test(error.message) && !compressors;
      throw remedy ? new Error(`${error.message}: npm install hyparquet-compressors`, { cause: error }) : error;
    })) as Values;
    if (values.length !== rowEnd - rowStart) {
      throw new Error(`column ${column} holds ${values.length} rows where ${rowEnd - rowStart} are promised`);
    }
    return values;
  }
}

/**
 * Compressors whose first call is for the dictionary, which is only decompressed if it was not yet decompressed for
 * another page.
 */
function once(compressors: Library['compressors'], dictionary: Dictionary): Library['compressors'] {
  let isFirst = true;
  const known = Object.entries(compressors ?? {}).map(([codec, decompress]) => [
    codec,
    (input: Uint8Array, length: number) => {
      if (!isFirst) return decompress(input, length);
      isFirst = false;
      dictionary.bytes ??= decompress(input, length);
      // A copy, since decoded values that are bytes are views of the dictionary, and a caller may write to them.
      return dictionary.bytes.slice();
    },
  ]);
  return compressors && Object.fromEntries(known);
}

/**
 * An error with the path in front of its message, and with its `code`; unchanged if it is an error of this package.
 * After an abort, the reason of the abort.
 */
export function naming(path: string, error: unknown, signal?: AbortSignal): unknown {
  if (signal?.aborted) return signal.reason;
  if (!(error instanceof Error) || error.name === 'SamedealError') return error;
  const code = codeOf(error);
  const told = typeof code === 'string' && !error.message.includes(code) ? ` (${code})` : '';
  const named = new Error(`${path}: ${error.message}${told}${hint(path, code)}`, { cause: error });
  return typeof code === 'string' ? Object.assign(named, { code }) : named;
}

/** The code of a system error. With `fetch`, it is in a `cause` of the error. */
function codeOf(error: unknown, depth = 0): unknown {
  if (typeof error !== 'object' || error === null || depth > 8) return undefined;
  const { code, cause } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : codeOf(cause, depth + 1);
}

/** Advice about an error with this code. */
function hint(path: string, code: unknown): string {
  if (code === 'EMFILE')
    return ' (a reader has a file open for each of its lanes: raise `ulimit -n`, or take fewer lanes)';
  const isPattern = code === 'ENOENT' && /[*?[{]/.test(path);
  return isPattern ? ' (patterns are not expanded: pass a directory, or a list of files)' : '';
}

/**
 * Refuses names of columns, and of their parts, that are not UTF-8. The decoder puts U+FFFD in place of wrong bytes, so
 * such names are compared with the bytes of the footer.
 */
async function checkNames(file: Pick<Bytes, 'byteLength' | 'slice'>, { schema }: FileMetaData): Promise<void> {
  const doubtful = schema.map(({ name }) => name).filter((name) => name.includes('\ufffd'));
  if (doubtful.length === 0) return;
  const [length] = new Uint32Array(await file.slice(file.byteLength - 8, file.byteLength - 4));
  const footer = latin1(
    new Uint8Array(await file.slice(file.byteLength - 8 - (length as number), file.byteLength - 8)),
  );
  // A name may contain U+FFFD itself: then the footer has its encoding.
  const wrong = doubtful.find((name) => !footer.includes(latin1(new TextEncoder().encode(name))));
  if (wrong !== undefined) throw new Error(`a column has a name that is not UTF-8: ${wrong.slice(0, 64)}`);
}

const latin1 = (bytes: Uint8Array) => Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');

/** The bytes of a column of a row group within the file, from its first page on. */
function chunkOf({ meta_data }: RowGroup['columns'][number]): Block {
  const offsets = [meta_data?.dictionary_page_offset, meta_data?.data_page_offset].filter(isOffset).map(Number);
  const start = Math.min(...offsets);
  return { start, end: start + Number(meta_data?.total_compressed_size ?? 0) };
}

const isOffset = (offset: bigint | undefined): offset is bigint => offset !== undefined && offset > 0n;
const isIndexed = (chunk: RowGroup['columns'][number]) => chunk.offset_index_offset && chunk.offset_index_length;

function concat(parts: ArrayBuffer[]): ArrayBuffer {
  const [only] = parts;
  if (only && parts.length === 1) return only;
  const out = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const part of parts) {
    out.set(new Uint8Array(part), at);
    at += part.byteLength;
  }
  return out.buffer;
}

/** The run that contains a row. The runs follow one another without gaps. */
function search<T extends { start: number; end: number }>(runs: readonly T[], row: number): T {
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

function shape({ element, children }: SchemaTree): unknown {
  const { field_id: _, ...decisive } = element;
  return [decisive, children.map(shape)];
}
