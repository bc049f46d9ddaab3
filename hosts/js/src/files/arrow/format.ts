// Arrow IPC files (Feather version 2) and streams, as Hugging Face saves them. A part is a record batch.
import type { FileHandle, RecordBatch, Schema } from 'apache-arrow';
import { concat } from '../bytes.js';
import type { DataFile, FileBytes, Format } from '../format.js';
import { atATime } from '../pool.js';
import { checkCodec, type Library, library } from './library.js';
import { choose } from './saved.js';
import { getterOf, typeTextOf } from './values.js';

const MAGIC = 'ARROW1';
/** The first bytes of files that cannot be read from the middle. */
const PACKED: readonly (readonly [magic: string, kind: string])[] = [
  ['\x1f\x8b', 'gzip'],
  ['\x28\xb5', 'zstd'],
  ['FE', 'Feather version 1'],
];
/** How many heads of record batches are read at a time. */
const HEADS = 16;

/** The record batches of a file. */
interface Index {
  readonly rows: readonly number[];
  /** Where each record batch of a stream begins, and where the last one ends. A file with a footer has none of them. */
  readonly places: readonly number[];
}

/**
 * Arrow files and streams, and Feather files of version 2. A directory that `Dataset.save_to_disk` of Hugging Face wrote
 * stands for the files that its state.json names.
 */
export const arrow: Format = {
  name: 'Arrow',
  suffixes: ['.arrow', '.feather', '.ipc'],
  async open(bytes, index) {
    const start = await textAt(bytes, 0);
    const packed = PACKED.find(([magic]) => start.startsWith(magic));
    if (packed) throw new Error(`${packed[1]}, which cannot be read from the middle: write it as an Arrow file`);
    const known = index as Index | undefined;
    return start === MAGIC ? openFile(await library(), bytes, known) : openStream(await library(), bytes, known);
  },
  choose,
};

async function openFile(library: Library, bytes: FileBytes, known: Index | undefined): Promise<DataFile> {
  const { byteLength: size } = bytes;
  const end = size - MAGIC.length;
  if ((await textAt(bytes, Math.max(0, end))) !== MAGIC) throw new Error('it has no mark of its end');
  const [footer] = new Int32Array(await bytes.slice(Math.max(0, end - 4), end));
  if (!(footer && footer > 0 && footer <= end - 4)) throw new Error('it has no footer');
  // The library reads what it needs: here the footer and the dictionaries, and later single record batches.
  const handle = {
    fd: 0,
    stat: async () => ({ size }),
    async read(buffer: Uint8Array, offset: number, length: number, position: number) {
      buffer.set(new Uint8Array(await bytes.slice(position, position + length)), offset);
      return { bytesRead: length, buffer };
    },
    close: async () => {},
  };
  const reader = await library.RecordBatchReader.from(handle as unknown as FileHandle);
  await reader.open();
  if (!reader.isFile() || reader.isSync()) throw new Error('it has no footer');
  const blocks = Array.from(reader.footer?.recordBatches() ?? []);
  const rows = known ? [...known.rows] : new Array<number>(blocks.length);
  if (!known) {
    // The footer has the places of the record batches, and not their numbers of rows.
    await atATime(blocks.length, HEADS, async (i) => {
      const { offset, metaDataLength, bodyLength } = blocks[i] as (typeof blocks)[number];
      if (offset + metaDataLength + bodyLength > size) throw new Error(`record batch ${i} is cut off`);
      const head = await headAt(library, bytes, offset);
      if (!head.message?.isRecordBatch()) throw new Error(`record batch ${i} is elsewhere than the footer says`);
      rows[i] = countOf(library, head.message.header());
    });
  }
  let last: Promise<unknown> = Promise.resolve();
  return dataFile(library, size, reader.schema, { rows, places: [] }, (part) => {
    // The reader has one place in the file, so record batches are read one after the other.
    const next = last.then(() => reader.readRecordBatch(part));
    last = next.catch(() => {});
    return next;
  });
}

async function openStream(library: Library, bytes: FileBytes, known: Index | undefined): Promise<DataFile> {
  const first = await headAt(library, bytes, 0);
  if (!first.message?.isSchema()) throw new Error('it does not begin with a schema');
  const schema = first.message.header() as Schema;
  const index = known ?? (await scanned(library, bytes, first.body));
  return dataFile(library, bytes.byteLength, schema, index, async (part) => {
    const [from, to] = index.places.slice(part, part + 2) as [number, number];
    const parts = await Promise.all([bytes.slice(0, first.body), bytes.slice(from, to)]);
    const reader = library.RecordBatchReader.from(concat(parts.map((part) => new Uint8Array(part))));
    return reader.next().value;
  });
}

/** The places of all record batches of a stream, whose schema ends at byte `at`. */
async function scanned(library: Library, bytes: FileBytes, at: number): Promise<Index> {
  const [rows, places]: [number[], number[]] = [[], [at]];
  for (;;) {
    const { message, body } = await headAt(library, bytes, places.at(-1) as number);
    if (message === undefined) return { rows, places };
    if (message.isDictionaryBatch()) {
      throw new Error('a stream with dictionaries, which cannot be read from the middle: write it as an Arrow file');
    }
    const end = body + message.bodyLength;
    if (!message.isRecordBatch() || end > bytes.byteLength) throw new Error(`record batch ${rows.length} is cut off`);
    rows.push(countOf(library, message.header()));
    places.push(end);
  }
}

/** The head of the message at byte `at`, and where its body begins. No message is the mark of the end. */
async function headAt(library: Library, bytes: FileBytes, at: number) {
  const prefix = new DataView(await bytes.slice(at, Math.min(at + 8, bytes.byteLength)));
  // A stream may have been cut off between two record batches.
  if (prefix.byteLength < 8) throw new Error('it has no mark of its end');
  // Before version 0.15 of Arrow, there was no mark before the length.
  const isMarked = prefix.getInt32(0) === -1;
  const start = at + (isMarked ? 8 : 4);
  const length = prefix.getInt32(isMarked ? 4 : 0, true);
  if (length === 0) return { message: undefined, body: start };
  if (!(length > 0 && start + length <= bytes.byteLength)) throw new Error('it ends within the head of a record batch');
  const message = library.Message.decode(new Uint8Array(await bytes.slice(start, start + length)));
  return { message, body: start + length };
}

/** The number of rows of a record batch. Errors: it is compressed, and there is no decompressor. */
function countOf(library: Library, { length, compression }: Head): number {
  if (compression) checkCodec(library, compression.type);
  return length;
}

interface Head {
  readonly length: number;
  readonly compression: { readonly type: number } | null;
}

function dataFile(
  library: Library,
  size: number,
  schema: Schema,
  index: Index,
  read: (part: number) => Promise<RecordBatch | null>,
): DataFile {
  const { rows } = index;
  const columns = new Map(schema.fields.map(({ name, type }) => [name, typeTextOf(type)]));
  if (columns.size < schema.fields.length) throw new Error('it has a column twice');
  const all = BigInt(
    Math.max(
      1,
      rows.reduce((sum, count) => sum + count, 0),
    ),
  );
  return {
    footer: {
      columns,
      rows,
      // Plans follow from these numbers, so they are the same in every language.
      bytes: rows.map((count) => Number((BigInt(size) * BigInt(count)) / all)),
      index,
    },
    async part(number, names) {
      const batch = await read(number);
      if (batch === null || batch.numRows !== rows[number]) {
        const now = `${batch?.numRows ?? 'no'} rows`;
        throw new Error(`record batch ${number} has ${now} now, and had ${rows[number]} at the start`);
      }
      const getters = names.map((name) => {
        const [data] = batch.getChild(name)?.data ?? [];
        if (data?.length !== batch.numRows) throw new Error(`column ${name} is shorter than its record batch`);
        try {
          return getterOf(library, data);
        } catch (error) {
          throw new Error(`column ${name}: ${(error as Error).message}`, { cause: error });
        }
      });
      return (first, end) => getters.map((get) => Array.from({ length: end - first }, (_, i) => get(first + i)));
    },
  };
}

async function textAt(bytes: FileBytes, at: number): Promise<string> {
  const found = await bytes.slice(at, Math.min(at + MAGIC.length, bytes.byteLength));
  return String.fromCharCode(...new Uint8Array(found));
}
