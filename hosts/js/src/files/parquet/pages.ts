// The places of the pages of a column. A file need not have an index of pages, but every page begins with its own
// length.
type PageLocation = import('hyparquet').OffsetIndex['page_locations'][number];

/** A page: a run of values of a column that can be read by itself, and its bytes within the file. */
export interface Page {
  /** The number of its first row within the row group. */
  row: number;
  rows: number;
  start: number;
  end: number;
  /** The bytes of the dictionary, if the values of the page are numbers of its entries. */
  dictionary: readonly [start: number, end: number] | undefined;
}

/** Reads the bytes `start` to `end` - 1 of a file, all of them. */
export type Read = (start: number, end: number) => Promise<ArrayBuffer>;

/** How many bytes are read to find a header, and how long a header may be at most. */
const READ = 1 << 14;
const LONGEST = 1 << 22;
const [DATA, DICTIONARY, DATA_V2] = [0, 2, 3] as const;

/**
 * The pages of a flat column within a row group. The search goes from header to header, from byte `start` on, until the
 * pages have `rows` rows. `size` is the size of the file. According to the footer, the column ends at byte `last`; some
 * writers count this number wrong, so a page may go beyond byte `last`.
 */
export async function* pagesOf(
  read: Read,
  size: number,
  start: number,
  rows: number,
  last = size,
): AsyncGenerator<Page, void> {
  let found: Page['dictionary'];
  let block = new DataView(new ArrayBuffer(0));
  let [blockStart, at, row] = [0, start, 0];
  /** The header at byte `at`, with as few reads as possible. */
  const header = async () => {
    for (let many = READ; ; many *= 4) {
      const inBlock = at - blockStart;
      try {
        if (inBlock >= 0 && inBlock < block.byteLength) return new Thrift(block, inBlock).header();
      } catch (error) {
        if (!(error instanceof RangeError) || many > LONGEST || blockStart + block.byteLength >= size) throw error;
      }
      if (at >= size) throw new Error('it ends within a column');
      blockStart = at;
      const end = at < last && many === READ ? last : size;
      block = new DataView(await read(at, Math.min(at + many, end)));
    }
  };
  while (row < rows) {
    const { type, length, bytes, values, needsDictionary } = await header();
    const end = at + length + bytes;
    if (end > size) throw new Error('it ends within a page');
    if (type === DICTIONARY) {
      found = [at, end];
    } else if (type === DATA || type === DATA_V2) {
      if (row + values > rows) throw new Error('a column has more values than its row group has rows');
      // If a dictionary becomes too large, writers stop using it. The later pages do not need it, so it is not
      // decompressed for them.
      const dictionary = needsDictionary ? found : undefined;
      if (values > 0) yield { row, rows: values, start: at, end, dictionary };
      row += values;
    }
    at = end;
  }
}

/**
 * The pages of a column within a row group, from an index. The column begins at byte `start`; `size` is the size of the
 * file.
 */
export function indexedPages(index: readonly PageLocation[], start: number, rows: number, size: number): Page[] {
  const first = Number(index[0]?.offset);
  // An index leaves out the dictionary, which lies before the first page.
  const dictionary = start < first ? ([start, first] as const) : undefined;
  let next = 0;
  const pages = index.map(({ offset, compressed_page_size: length, first_row_index }, i) => {
    const [row, from] = [Number(first_row_index), Number(offset)];
    const [after, end] = [Number(index[i + 1]?.first_row_index ?? rows), from + Number(length)];
    const isRight = row === next && after >= row && after <= rows && from >= first && end > from && end <= size;
    if (!isRight) throw new Error(`page ${i} is elsewhere than the index of pages says`);
    next = after;
    return { row, rows: after - row, start: from, end, dictionary };
  });
  if (pages.length === 0) throw new Error('an index of pages has none');
  return pages.filter((page) => page.rows > 0);
}

/**
 * Cuts the rows of a row group into runs, so that no page of the columns is in more than two runs. Without columns, all
 * rows are one run.
 */
export function* runsOf(
  columns: readonly (readonly Page[])[],
  rows: number,
): Generator<readonly [start: number, end: number], void> {
  const at = columns.map(() => 0);
  for (let [from, to] = [0, 0]; from < rows; from = to) {
    for (const [i, pages] of columns.entries()) {
      // The page that has row `from`.
      while (endOf(pages[at[i] as number] as Page) <= from) at[i] = (at[i] as number) + 1;
      to = Math.max(to, endOf(pages[at[i] as number] as Page));
    }
    if (columns.length === 0) to = rows;
    yield [from, to];
  }
}

const endOf = ({ row, rows }: Page) => row + rows;

/** The encodings whose values are in a dictionary: PLAIN_DICTIONARY, RLE_DICTIONARY. */
const DICTIONARIES: readonly unknown[] = [2, 8];

/**
 * For each kind of page: the field of a page header that describes the page, and the fields within it that have to be
 * numbers.
 */
const PARTS: ReadonlyMap<number, readonly [field: number, sizes: readonly number[]]> = new Map([
  [DATA, [5, [1, 2, 3, 4]]],
  [DICTIONARY, [7, [1, 2]]],
  [DATA_V2, [8, [1, 2, 3, 4, 5, 6]]],
]);
const isSize = (value: unknown): value is number => typeof value === 'number' && value >= 0;

/** A reader of Thrift's compact protocol, in which the headers of pages are written: the part of it that is needed. */
class Thrift {
  readonly #view: DataView;
  readonly #start: number;
  #at: number;

  constructor(view: DataView, at: number) {
    this.#view = view;
    this.#start = at;
    this.#at = at;
  }

  /**
   * The header of a page: the kind of the page, the bytes of the header and those after it, and the number of values
   * (rows, as the column is flat).
   */
  header(): { type: number; length: number; bytes: number; values: number; needsDictionary: boolean } {
    const fields = this.#struct();
    const [type, uncompressed, bytes] = [1, 2, 3].map((field) => fields.get(field));
    if (!isSize(type) || !isSize(uncompressed) || !isSize(bytes)) throw new Error('a page has no header');
    const [field, sizes] = PARTS.get(type) ?? [];
    const part = field && fields.get(field);
    // If one of these numbers is missing, the decoder would never end.
    if (sizes && !(part instanceof Map && sizes.every((size) => isSize(part.get(size))))) {
      throw new Error('the header of a page is not whole');
    }
    const values = part instanceof Map ? part.get(1) : 0;
    const needsDictionary = part instanceof Map && DICTIONARIES.includes(part.get(type === DATA_V2 ? 4 : 2));
    return { type, length: this.#at - this.#start, bytes, values, needsDictionary };
  }

  /** The numbers and structures by the number of their field. All other values are passed over. */
  #struct(depth = 0): Map<number, unknown> {
    if (depth > 16) throw new Error('a header is nested too deeply');
    const fields = new Map<number, unknown>();
    for (let field = 0; ; ) {
      const byte = this.#byte();
      if (byte === 0) return fields;
      field = byte >> 4 ? field + (byte >> 4) : this.#integer();
      fields.set(field, this.#value(byte & 15, depth));
    }
  }

  #value(type: number, depth: number): unknown {
    switch (type) {
      case 1:
      case 2:
        return undefined;
      case 3:
        return this.#byte();
      case 4:
      case 5:
      case 6:
        return this.#integer();
      case 7:
        return this.#skip(8);
      case 8:
        return this.#skip(this.#varint());
      case 9:
      case 10: {
        const head = this.#byte();
        const count = head >> 4 === 15 ? this.#varint() : head >> 4;
        // In a list, a boolean takes a byte; elsewhere it is part of the type.
        const element = head & 15;
        for (let i = 0; i < count; i++) this.#value(element <= 2 ? 3 : element, depth + 1);
        return undefined;
      }
      case 12:
        return this.#struct(depth + 1);
      default:
        throw new Error('a page has no header');
    }
  }

  #byte(): number {
    return this.#view.getUint8(this.#at++);
  }

  #skip(bytes: number): undefined {
    this.#at += bytes;
    if (this.#at > this.#view.byteLength) throw new RangeError('the header goes on');
  }

  #varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      if (scale > 2 ** 56) throw new Error('a page has no header');
    }
  }

  /** Zigzag: the sign is the lowest bit. */
  #integer(): number {
    const value = this.#varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
}
