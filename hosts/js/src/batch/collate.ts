// Collation: sequences of different length become the arrays that a model takes. The engine says from which token each
// cell comes.

import { FROM_ONE, fail, integer, options, placed, type Range, S64, string, U32, U64, u32 } from '../checks.js';
import type { ComponentBindings } from '../engine/types.js';
import type { Engine } from '../engine.js';
import { MAX_CELLS } from '../generated/limits.js';
import { attached, list, numbers, words, words32 } from '../lists.js';
import type { CollateOptions, Packed, PackOptions, Padded, PadOptions, Tokens } from './types.js';

/** The number that the engine gives for a cell of padding, in place of the number of a token. */
const PADDING = 2 ** 32 - 1;

/** The range of the elements of each integer array, by the name of its type. Arrays of fractions have no entry. */
const ELEMENTS: Record<string, Range | undefined> = {
  Int8Array: [-(2n ** 7n), 2n ** 7n - 1n],
  Uint8Array: [0n, 2n ** 8n - 1n],
  Uint8ClampedArray: [0n, 2n ** 8n - 1n],
  Int16Array: [-(2n ** 15n), 2n ** 15n - 1n],
  Uint16Array: [0n, 2n ** 16n - 1n],
  Int32Array: [-(2n ** 31n), 2n ** 31n - 1n],
  Uint32Array: U32,
  BigInt64Array: S64,
  BigUint64Array: U64,
};

/** A typed array of any type, for code that does not depend on the type. */
interface Cells {
  readonly length: number;
  [index: number]: unknown;
  fill(value: unknown): unknown;
  set(values: Cells, offset: number): void;
}

/** `collatePad` over an engine. */
export function padWith<T extends Tokens>(
  engine: Engine<ComponentBindings>,
  sequences: readonly T[] | T,
  given: PadOptions | undefined,
): Padded<T> {
  const named = options(given, ['offsets', 'paddingValue', 'side', 'padToMultipleOf', 'width']);
  const { side = 'right', padToMultipleOf = 1, width } = named;
  const source = new Sequences(sequences, named);
  const { lengths } = source;
  const longest = lengths.reduce((most, length) => Math.max(most, length), 0);
  const wide = width === undefined ? undefined : u32('width', width);
  const every = u32('pad_to_multiple_of', padToMultipleOf, undefined, FROM_ONE);
  const where = string('side', side);
  const size = 4 * (lengths.length + Math.min(MAX_CELLS, lengths.length * (Math.max(wide ?? 0, longest) + every)));
  const cells = engine.once(source.cause, size, ({ collation }) => collation.pad(lengths, wide, every, where));
  const attentionMask = new Uint8Array(cells.tokenIndices.length);
  const values = source.gather(cells.tokenIndices, attentionMask);
  return { values, attentionMask, rows: lengths.length, width: cells.width };
}

/** `collatePack` over an engine. */
export function packWith<T extends Tokens>(
  engine: Engine<ComponentBindings>,
  sequences: readonly T[] | T,
  given: PackOptions | undefined,
): Packed<T> {
  const named = options(given, ['offsets', 'paddingValue', 'rowEnds', 'width']);
  const source = new Sequences(sequences, named);
  const { lengths } = source;
  const all = lengths.length === 0 ? [] : [lengths.length];
  const ends = words32('row_ends', named.rowEnds === undefined ? all : named.rowEnds, U32);
  const width = named.width === undefined ? fullest(lengths, ends) : u32('width', named.width);
  const size = 4 * (2 * lengths.length + ends.length + 3 * Math.min(MAX_CELLS, ends.length * width));
  const cells = engine.once(source.cause, size, ({ collation }) => collation.pack(lengths, ends, width));
  return {
    values: source.gather(cells.tokenIndices),
    positionIds: new Int32Array(cells.positionIds.buffer),
    segmentIds: new Int32Array(cells.segmentIds.buffer),
    cuSeqlens: new Int32Array(cells.cuSeqlens.buffer),
    maxSeqlen: cells.maxSeqlen,
    rows: ends.length,
    width,
  };
}

/** The number of tokens in the fullest row. Wrong row ends are not checked here; the engine refuses them. */
function fullest(lengths: Uint32Array, ends: Uint32Array): number {
  let [most, start] = [0, 0];
  for (const end of ends) {
    const tokens = lengths.subarray(start, end).reduce((sum, length) => sum + length, 0);
    most = Math.max(most, tokens);
    start = end;
  }
  return Math.min(most, Number(U32[1]));
}

/** Sequences of tokens of one type, and the padding value. */
class Sequences<T extends Tokens> {
  readonly lengths: Uint32Array<ArrayBuffer>;
  readonly #parts: readonly T[];
  readonly #type: string;
  readonly #filler: unknown;

  constructor(sequences: readonly T[] | T, { offsets, paddingValue = 0 }: CollateOptions) {
    if (offsets === undefined) {
      const allowed = 'an array of typed arrays';
      if (!Array.isArray(sequences)) fail('wrong-type', 'sequences', sequences, allowed);
      const types = Array.from(list('sequences', sequences), (part, i) => {
        return placed(`at index ${i}`, () => typeOf(part, allowed));
      });
      const [first = 'Int32Array'] = types;
      const other = types.find((type) => type !== first);
      if (other) fail('contradiction', 'sequences', `${first} and ${other}`, 'tokens of one type');
      this.#type = first;
      this.#parts = sequences;
      this.lengths = Uint32Array.from(sequences, ({ length }: T) => crossing('sequences', length));
    } else {
      this.#type = typeOf(sequences, 'a typed array, all tokens end to end');
      this.#parts = [sequences as T];
      this.lengths = lengthsOf(offsets, (sequences as T).length);
    }
    this.#filler = fillerOf(paddingValue, this.#type);
  }

  get cause(): readonly [string, string] {
    return ['lengths', `${this.lengths.length} sequences`];
  }

  /** The array of cells: token number `tokenIndices[i]` in cell i. Sets `mask` to 1 at each cell with a token. */
  gather(tokenIndices: Uint32Array, mask?: Uint8Array): T {
    const tokens = this.#endToEnd();
    const values = make(this.#type, tokenIndices.length);
    values.fill(this.#filler);
    for (let i = 0; i < tokenIndices.length; i++) {
      const source = tokenIndices[i] as number;
      if (source === PADDING) continue;
      values[i] = tokens[source];
      if (mask) mask[i] = 1;
    }
    return values as unknown as T;
  }

  #endToEnd(): Cells {
    const [first, second] = this.#parts;
    if (first && !second) return first as Cells;
    const all = make(
      this.#type,
      this.#parts.reduce((sum, { length }) => sum + length, 0),
    );
    let at = 0;
    for (const part of this.#parts) {
      all.set(part as Cells, at);
      at += part.length;
    }
    return all;
  }
}

/** The name of the type of a typed array; also of a subclass, and of an array from another realm. */
function typeOf(value: unknown, allowed: string): string {
  if (!ArrayBuffer.isView(value) || value instanceof DataView) fail('wrong-type', 'sequences', value, allowed);
  attached('sequences', value);
  return nameOf.call(value) as string;
}

const nameOf = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)
  ?.get as () => string;

function make(type: string, length: number): Cells {
  const Type = (globalThis as unknown as Record<string, new (length: number) => Cells>)[type];
  try {
    return new (Type as NonNullable<typeof Type>)(length);
  } catch {
    fail('out-of-memory', 'lengths', `${length} cells`, 'fewer or smaller cells');
  }
}

/** A length, checked to fit into the 32 bits that the engine takes. */
function crossing(field: string, length: number): number {
  if (length > U32[1]) fail('out-of-range', field, length, `sequences of up to ${U32[1]} tokens`);
  return length;
}

/** The number of tokens of each sequence, from the offsets between them. */
function lengthsOf(offsets: unknown, tokens: number): Uint32Array<ArrayBuffer> {
  const ends = numbers(words('offsets', offsets as number[]));
  const ascend = ends.every((end, i) => i === 0 || end >= (ends[i - 1] as number));
  if (ends[0] !== 0 || ends.at(-1) !== tokens || !ascend) {
    fail('contradiction', 'offsets', `${ends.length} numbers`, `0, ascending, and ${tokens} at last`);
  }
  return Uint32Array.from(ends.subarray(1), (end, i) => crossing('offsets', end - (ends[i] as number)));
}

/** The padding value as an element of the type. Fails if the type does not have this value. */
function fillerOf(value: unknown, type: string): unknown {
  const range = ELEMENTS[type];
  if (range) {
    const whole = integer('padding_value', value, range);
    return type.startsWith('Big') ? whole : Number(whole);
  }
  if (typeof value !== 'number') fail('wrong-type', 'padding_value', value, 'a number');
  const cell = make(type, 1);
  cell.fill(value);
  if (Number.isFinite(value) && !Number.isFinite(cell[0])) {
    fail('out-of-range', 'padding_value', value, `a value of ${type}`);
  }
  return value;
}
