import type { ColumnMetaData, FileMetaData, RowGroup, SchemaTree } from 'hyparquet';
import { concat } from '../bytes.js';
import type { FileBytes, FileCursor, FormatReader, Largest, OpenFile, Piece } from '../format.js';
import { search } from '../parts.js';
import { Shared } from '../users.js';
import { ColumnCursor, type Unit, type Values } from './cursor.js';
import { checkValues, largestOf, widthIn } from './groups.js';
import { type Block, blocksOf, Held } from './held.js';
import { type Library, library } from './library.js';
import { indexedPages, type Page, pagesOf, type Read, runsOf } from './pages.js';

/** How many bytes at the end of a file are read first. A longer footer costs a second read. */
const FOOTER = 1 << 16;

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

/** A cache of the bytes of all Parquet files that are open. */
const HELD = new Held();

/** Parquet files. A part is a row group. */
export const parquet: FormatReader = {
  name: 'Parquet',
  suffixes: ['.parquet'],
  part: 'row group',
  open: async (bytes, _, names) => ParquetFile.open(await library(), bytes, names),
};

/** An open Parquet file. */
class ParquetFile implements OpenFile {
  readonly rows: number;
  readonly #library: Library;
  readonly #bytes: FileBytes;
  readonly #metadata: FileMetaData;
  readonly #groups: Group[] = [];
  readonly #columns: Map<string, SchemaTree>;
  /** Decoded values while they are in use. Lanes that are near each other share them. */
  readonly decoded = new Shared<string, Values>();

  private constructor(library: Library, bytes: FileBytes, metadata: FileMetaData, names: readonly string[]) {
    this.#library = library;
    this.#bytes = bytes;
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

  /** Reads the footer of a file. */
  static async open(library: Library, bytes: FileBytes, names: readonly string[]): Promise<ParquetFile> {
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
    return new ParquetFile(library, bytes, metadata, names);
  }

  get columns(): Map<string, string> {
    return new Map([...this.#columns].map(([name, tree]) => [name, JSON.stringify(shape(tree))]));
  }

  /** The compressed bytes of columns. */
  bytes(names: readonly string[]): number {
    const own = new Set(names);
    let sum = 0;
    for (const { raw } of this.#groups) {
      for (const { meta_data } of raw.columns) {
        if (own.has(meta_data?.path_in_schema[0] ?? '')) sum += Number(meta_data?.total_compressed_size ?? 0);
      }
    }
    return sum;
  }

  /** The row group whose values of these columns take most memory. */
  largest(names: readonly string[]): Largest {
    return largestOf(this.#metadata.row_groups, names);
  }

  /**
   * For each column, the piece that is decoded at once, in the row group that takes most memory: for a flat column, its
   * first page.
   */
  async pieces(names: readonly string[]): Promise<Piece[]> {
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

  cursor(names: readonly string[]): FileCursor {
    const columns = names.map((name) => new ColumnCursor(this, name));
    return {
      async read(first, count) {
        // Waits for all columns, even after a failure, so that nothing reads any more when the file is closed.
        const read = await Promise.allSettled(columns.map((column) => column.read(first, count)));
        return read.map((outcome) => {
          if (outcome.status === 'rejected') throw outcome.reason;
          return outcome.value;
        });
      },
      leave() {
        for (const column of columns) column.leave();
      },
    };
  }

  /** Drops the bytes that are cached. */
  leave(): void {
    for (const { blocks } of this.#groups) for (const block of blocks) HELD.drop(block);
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
    if (block) await HELD.read(this.#bytes, block);
    const { byteLength } = this.#bytes;
    const read = (from: number, to = byteLength) => HELD.slice(this.#bytes, block, from, to);
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
    const { buffer: bytes } = concat(parts.filter((part) => part !== undefined).map((part) => new Uint8Array(part)));
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
 * Refuses names of columns, and of their parts, that are not UTF-8. The decoder puts U+FFFD in place of wrong bytes, so
 * such names are compared with the bytes of the footer.
 */
async function checkNames(file: FileBytes, { schema }: FileMetaData): Promise<void> {
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

function shape({ element, children }: SchemaTree): unknown {
  const { field_id: _, ...decisive } = element;
  return [decisive, children.map(shape)];
}
