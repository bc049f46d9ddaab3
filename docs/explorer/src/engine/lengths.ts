import { grouped } from '../parts/text.ts';
import { PageError } from './answer.ts';

/** The lengths of all samples, in numbers as narrow as in their file. */
export type Values = Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer>;

/** The largest length that a sample may have. */
const MOST = 0xffff_ffff;
/** Number of items of a file that are read at a time. */
const SLICE = 1 << 22;
const WHAT = 'whole numbers from 0 to 4,294,967,295';

const refused = (place: number, text: string): PageError =>
  new PageError('lengths', `Length ${grouped(place + 1)} is ${text}; allowed: ${WHAT}`);

/** A list of lengths that grows, since their number is not known in advance. */
export class LengthList {
  #values = new Uint32Array(1 << 12);
  #count = 0;

  push(length: number): void {
    if (!(length >= 0 && length <= MOST && Number.isInteger(length))) throw refused(this.#count, String(length));
    if (this.#count === this.#values.length) {
      const larger = new Uint32Array(2 * this.#count);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#count++] = length;
  }

  get count(): number {
    return this.#count;
  }

  get values(): Values {
    return this.#values.subarray(0, this.#count);
  }
}

const [ZERO, NINE, DOT] = [48, 57, 46];
/** The bytes that may be between numbers: white space, commas, semicolons, and the brackets of a list of JSON. */
const BETWEEN = new Set([9, 10, 11, 12, 13, 32, 44, 59, 91, 93]);

/** Reads the lengths in a text, some bytes at a time. A number may have a point and zeros after it. */
class LengthText {
  readonly list = new LengthList();
  /** The number that is being read; -1 between numbers. */
  #number = -1;
  #hasPoint = false;

  add(bytes: Uint8Array): void {
    let number = this.#number;
    let hasPoint = this.#hasPoint;
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at] as number;
      if (byte >= ZERO && byte <= NINE && !(hasPoint && byte !== ZERO)) {
        if (!hasPoint) number = 10 * Math.max(number, 0) + byte - ZERO;
      } else if (byte === DOT && number >= 0 && !hasPoint) {
        hasPoint = true;
      } else if (BETWEEN.has(byte)) {
        if (number >= 0) this.list.push(number);
        number = -1;
        hasPoint = false;
      } else {
        const [text = ''] = new TextDecoder().decode(bytes.subarray(at, at + 64)).split(/[\s,;[\]]/);
        const begun = number >= 0 ? `${number}${hasPoint ? '.' : ''}` : '';
        throw refused(this.list.count, `“${begun}${text.slice(0, 32)}”`);
      }
    }
    this.#number = number;
    this.#hasPoint = hasPoint;
  }

  end(): Values {
    if (this.#number >= 0) this.list.push(this.#number);
    this.#number = -1;
    return this.list.values;
  }
}

/** The lengths in a text that was typed or pasted. */
export function lengthsOfText(text: string): Values {
  const reader = new LengthText();
  reader.add(new TextEncoder().encode(text));
  return reader.end();
}

/** The first bytes of a file that NumPy wrote. */
const NPY = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];
const isNpy = (head: Uint8Array): boolean => NPY.every((byte, at) => head[at] === byte);

/**
 * The lengths in a file, which may be larger than any text: it is read piece by piece, and only its numbers stay in
 * memory.
 */
export async function lengthsOfFile(file: File): Promise<Values> {
  const head = new Uint8Array(await file.slice(0, 12).arrayBuffer());
  if (isNpy(head)) return lengthsOfNpy(file, head);
  const text = new LengthText();
  const reader = file.stream().getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return text.end();
    text.add(value);
  }
}

/** Reads a NumPy array: see numpy.lib.format. */
async function lengthsOfNpy(file: File, head: Uint8Array): Promise<Values> {
  const view = new DataView(head.buffer);
  const [start, size] = head[6] === 1 ? [10, view.getUint16(8, true)] : [12, view.getUint32(8, true)];
  const header = await file.slice(start, start + size).text();
  const [, type = ''] = /'descr':\s*'([^']*)'/.exec(header) ?? [];
  const [, shape = ''] = /'shape':\s*\(([^)]*)\)/.exec(header) ?? [];
  const [, sign, width] = /^[<|=]([iu])([1248])$/.exec(type) ?? [];
  if (!sign)
    throw new PageError(
      'lengths',
      `${file.name} has numbers of the type ${type || 'of a record'}; allowed: signed and unsigned whole numbers, little-endian`,
    );
  if (!/^\d+,?$/.test(shape.trim()))
    throw new PageError('lengths', `${file.name} has the shape (${shape}); allowed: one dimension`);
  const [count, bytes, first] = [Number.parseInt(shape, 10), Number(width), start + size];
  if (first + count * bytes > file.size)
    throw new PageError('lengths', `${file.name} ends before its ${grouped(count)} numbers do: it is not whole`);
  const values = bytes === 1 ? new Uint8Array(count) : bytes === 2 ? new Uint16Array(count) : new Uint32Array(count);
  for (let at = 0; at < count; at += SLICE) {
    const end = Math.min(count, at + SLICE);
    const buffer = await file.slice(first + at * bytes, first + end * bytes).arrayBuffer();
    copy(buffer, sign === 'i', bytes, values, at);
  }
  return values;
}

function copy(buffer: ArrayBuffer, isSigned: boolean, bytes: number, values: Values, from: number): void {
  if (bytes === 8) {
    const halves = new Uint32Array(buffer);
    for (let at = 0; 2 * at < halves.length; at++) {
      if (halves[2 * at + 1] !== 0) {
        const wide = isSigned ? new BigInt64Array(buffer) : new BigUint64Array(buffer);
        throw refused(from + at, String(wide[at]));
      }
      values[from + at] = halves[2 * at] as number;
    }
    return;
  }
  if (isSigned) {
    const signed = bytes === 1 ? new Int8Array(buffer) : bytes === 2 ? new Int16Array(buffer) : new Int32Array(buffer);
    for (let at = 0; at < signed.length; at++)
      if ((signed[at] as number) < 0) throw refused(from + at, String(signed[at]));
  }
  values.set(
    bytes === 1 ? new Uint8Array(buffer) : bytes === 2 ? new Uint16Array(buffer) : new Uint32Array(buffer),
    from,
  );
}

/**
 * The lengths of the file that was opened last. They stay in the Worker; the page has a name for them, such as
 * `@lengths:3`.
 */
let file: { name: string; values: Values } | undefined;
let files = 0;

export async function openLengths({ file: given }: { file: File }): Promise<string> {
  // Frees the lengths of the file before, so that both need not fit into memory.
  file = undefined;
  const values = await lengthsOfFile(given);
  files += 1;
  file = { name: `@lengths:${files}`, values };
  return file.name;
}

/** The lengths for a name such as `@lengths:3`; undefined if the text is no such name. */
export function openedLengths(name: string): Values | undefined {
  if (!name.startsWith('@lengths:')) return undefined;
  if (file?.name !== name) throw new PageError('lengths', 'Only the last file of lengths is kept: drop this one again');
  return file.values;
}
