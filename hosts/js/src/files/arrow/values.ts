// The values of Arrow columns, in the types in which the reader of Parquet has them.
import { isUtf8 } from 'node:buffer';
import type { Data, DataType, Field, Vector } from 'apache-arrow';
import type { Library } from './library.js';

/** The text of a type. Types with the same values have the same text, whatever the width of their offsets. */
export const typeTextOf = (type: DataType): string => String(type).replaceAll(/Large(?=Utf8|Binary|List)|View\b/g, '');

type Get = (row: number) => unknown;

/**
 * The values of a column of a record batch, by the row. Errors: values are missing, or lie outside of their buffers; the
 * type is none that a row can have.
 */
export function getterOf(library: Library, data: Data): Get {
  const own = ownGetterOf(library, data);
  return data.nullCount > 0 ? (row) => (data.getValid(row) ? own(row) : null) : own;
}

function ownGetterOf(library: Library, data: Data): Get {
  const { Type, Vector } = library;
  const { length } = data;
  // The class of the type has members that the base class lacks.
  const type = data.type as DataType & { readonly scale: number; readonly listSize: number };
  const get = () => {
    const vector = new Vector([data]) as Vector;
    return (row: number): unknown => vector.get(row);
  };
  switch (type.typeId) {
    case Type.Null:
      return () => null;
    case Type.Bool:
      enough(data.values, length / 8);
      return get();
    case Type.Int:
    case Type.Float:
    case Type.Time:
    case Type.Duration:
      enough(data.values, length * data.stride);
      return get();
    case Type.Date:
    case Type.Timestamp: {
      enough(data.values, length * data.stride);
      const milliseconds = get();
      return (row) => new Date(milliseconds(row) as number);
    }
    case Type.Decimal: {
      enough(data.values, length * data.stride);
      const factor = 10 ** -type.scale;
      return (row) => Number(wholeIn(data.values.subarray(row * data.stride, (row + 1) * data.stride))) * factor;
    }
    case Type.Utf8:
    case Type.LargeUtf8:
      checkOffsets(data, data.values.length);
      checkTexts(data);
      return get();
    case Type.Utf8View:
      enough(data.values, length * 16);
      return get();
    case Type.Binary:
    case Type.LargeBinary:
      checkOffsets(data, data.values.length);
      return copied(get());
    case Type.BinaryView:
      enough(data.values, length * 16);
      return copied(get());
    case Type.FixedSizeBinary:
      enough(data.values, length * data.stride);
      return copied(get());
    case Type.Dictionary:
      return dictionaryGetter(library, data);
    case Type.List:
    case Type.LargeList:
    case Type.Map: {
      const [child] = data.children as [Data];
      checkOffsets(data, child.length);
      const [item, offsets] = [getterOf(library, child), data.valueOffsets];
      const list = (row: number) => run(item, Number(offsets[row]), Number(offsets[row + 1]));
      if (type.typeId !== Type.Map) return list;
      const [key, value] = child.type.children.map(({ name }: { name: string }) => name) as [string, string];
      return (row) =>
        Object.fromEntries((list(row) as Record<string, unknown>[]).map((pair) => [pair[key], pair[value]]));
    }
    case Type.FixedSizeList: {
      const [child] = data.children as [Data];
      const { listSize } = type;
      if (child.length < length * listSize) throw new Error(SHORT);
      const item = getterOf(library, child);
      return (row) => run(item, row * listSize, (row + 1) * listSize);
    }
    case Type.Struct: {
      const members = (data.children as Data[]).map((child, i) => {
        if (child.length < length) throw new Error(SHORT);
        return [(type.children as Field[])[i]?.name ?? '', getterOf(library, child)] as const;
      });
      return (row) => Object.fromEntries(members.map(([name, member]) => [name, member(row)]));
    }
    default:
      throw new Error(`values of the type ${type} are not read: leave this column out`);
  }
}

const SHORT = 'it has fewer values than rows';

function enough(values: ArrayLike<unknown> | undefined, count: number): void {
  if (values === undefined || values.length < count) throw new Error(SHORT);
}

/** Checks that the offsets of texts, bytes or lists ascend, and end at `most` or before. */
function checkOffsets({ length, valueOffsets }: Data, most: number): void {
  if (length === 0) return;
  enough(valueOffsets, length + 1);
  let last = Number(valueOffsets[0]);
  if (last < 0) throw new Error('an offset is below 0');
  for (let row = 1; row <= length; row++) {
    const offset = Number(valueOffsets[row]);
    if (offset < last || offset > most) throw new Error(`the value of row ${row - 1} lies outside of its buffer`);
    last = offset;
  }
}

/** Checks that texts are UTF-8: all at once, and one by one only if there may be a wrong one in the place of a null. */
function checkTexts(data: Data): void {
  const { length, valueOffsets, values } = data;
  const at = (row: number) => Number(valueOffsets[row]);
  if (length === 0 || isUtf8(values.subarray(at(0), at(length)))) return;
  for (let row = 0; row < length; row++) {
    if (data.getValid(row) && !isUtf8(values.subarray(at(row), at(row + 1)))) {
      throw new Error(`the text of row ${row} is not UTF-8`);
    }
  }
}

/** Bytes as copies, since views would keep the whole record batch in memory. */
const copied =
  (get: Get): Get =>
  (row) =>
    (get(row) as Uint8Array).slice();

const run = (get: Get, from: number, to: number) => Array.from({ length: to - from }, (_, i) => get(from + i));

function dictionaryGetter(library: Library, { dictionary, values, length }: Data): Get {
  enough(values, length);
  const chunks = ((dictionary as Vector | undefined)?.data ?? []).map((data) => ({
    data,
    get: getterOf(library, data),
  }));
  return (row) => {
    let at = Number(values[row]);
    for (const { data, get } of chunks) {
      if (at >= 0 && at < data.length) return get(at);
      at -= data.length;
    }
    throw new Error(`entry ${values[row]} is not in the dictionary`);
  };
}

/** A whole number from its words of 32 bits, the lowest first; the highest one has the sign. */
function wholeIn(words: Uint32Array): bigint {
  const bits = words.length * 32;
  const number = words.reduceRight((sum, word) => (sum << 32n) | BigInt(word), 0n);
  return BigInt.asIntN(bits, number);
}
