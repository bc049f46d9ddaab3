// Decompression of raw DEFLATE (RFC 1951) in one call. The browser's `DecompressionStream` has to be awaited.
import { decoded } from './inline.js';

/** A compressed WebAssembly module: its text in base64, and its size in bytes once it is decompressed. */
interface Packed {
  readonly text: string;
  readonly size: number;
}

/** Decompresses and compiles a module. */
export const unpacked = ({ text, size }: Packed) => new WebAssembly.Module(inflate(decoded(text), size));

/** The order in which a block lists the code lengths of the code for code lengths (RFC 1951, section 3.2.7). */
const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/**
 * A Huffman code. The table has 2^`most` entries, where `most` is the length of the longest code word, in bits. The
 * index into the table is the next `most` bits of the input; the entry is 16 times the symbol, plus the length of its
 * code word.
 */
interface Code {
  readonly most: number;
  readonly table: Uint32Array;
}

function codeOf(lengths: Uint8Array): Code {
  const most = lengths.reduce((longest, length) => Math.max(longest, length), 1);
  const table = new Uint32Array(1 << most);
  let code = 0;
  for (let length = 1; length <= most; length++, code <<= 1) {
    for (let symbol = lengths.indexOf(length); symbol >= 0; symbol = lengths.indexOf(length, symbol + 1), code++) {
      // The input has the first bit of a code word as its lowest bit, so the bits are reversed.
      let word = 0;
      for (let bit = 0; bit < length; bit++) word |= ((code >> bit) & 1) << (length - 1 - bit);
      for (let at = word; at < table.length; at += 1 << length) table[at] = symbol * 16 + length;
    }
  }
  return { most, table };
}

/** For each symbol of a length or a distance: its smallest value, and how many further bits follow. */
function bases(count: number, start: number, bitsOf: (symbol: number) => number): [Uint16Array, Uint8Array] {
  const first = new Uint16Array(count);
  const bits = new Uint8Array(count);
  for (let i = 0, next = start; i < count; i++) {
    first[i] = next;
    bits[i] = bitsOf(i);
    next += 1 << bitsOf(i);
  }
  return [first, bits];
}

/** The decompressed bytes, `size` of them. The input comes from the package, so it is not checked. */
function inflate(input: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(size);
  const [lengths, lengthBits] = bases(29, 3, (i) => (i < 8 || i === 28 ? 0 : (i >> 2) - 1));
  lengths[28] = 258;
  const [distances, distanceBits] = bases(30, 1, (i) => (i < 4 ? 0 : (i >> 1) - 1));
  let [at, end, held, count] = [0, 0, 0, 0];
  const fill = (many: number) => {
    // Zeros are read after the end of the input. They only fill up an index into a table, and are part of no code word.
    for (; count < many; count += 8) held |= (input[at++] ?? 0) << count;
  };
  const bits = (many: number) => {
    fill(many);
    const value = held & ((1 << many) - 1);
    held >>>= many;
    count -= many;
    return value;
  };
  const symbol = ({ most, table }: Code) => {
    fill(most);
    const found = table[held & (table.length - 1)] as number;
    held >>>= found & 15;
    count -= found & 15;
    return found >> 4;
  };
  const codes = (): [Code, Code] => {
    const [literals, others, own] = [257 + bits(5), 1 + bits(5), 4 + bits(4)];
    const ofLengths = new Uint8Array(19);
    for (let i = 0; i < own; i++) ofLengths[ORDER[i] as number] = bits(3);
    const code = codeOf(ofLengths);
    const all = new Uint8Array(literals + others);
    for (let i = 0; i < all.length; ) {
      const found = symbol(code);
      if (found < 16) {
        all[i++] = found;
        continue;
      }
      const value = found === 16 ? (all[i - 1] as number) : 0;
      const many = found === 16 ? 3 + bits(2) : found === 17 ? 3 + bits(3) : 11 + bits(7);
      all.fill(value, i, i + many);
      i += many;
    }
    return [codeOf(all.subarray(0, literals)), codeOf(all.subarray(literals))];
  };
  const fixed = (): [Code, Code] => {
    const all = new Uint8Array(288).fill(8).fill(9, 144, 256).fill(7, 256, 280);
    return [codeOf(all), codeOf(new Uint8Array(30).fill(5))];
  };
  for (let isLast = false; !isLast; ) {
    isLast = bits(1) === 1;
    const kind = bits(2);
    if (kind === 0) {
      // A stored block begins at a whole byte. Bytes that `fill` has already read from the block are read again.
      at -= count >> 3;
      [held, count] = [0, 0];
      const stored = (input[at] as number) | ((input[at + 1] as number) << 8);
      out.set(input.subarray(at + 4, at + 4 + stored), end);
      at += 4 + stored;
      end += stored;
      continue;
    }
    const [literals, others] = kind === 1 ? fixed() : codes();
    for (let found = symbol(literals); found !== 256; found = symbol(literals)) {
      if (found < 256) {
        out[end++] = found;
        continue;
      }
      const many = (lengths[found - 257] as number) + bits(lengthBits[found - 257] as number);
      const which = symbol(others);
      const back = (distances[which] as number) + bits(distanceBits[which] as number);
      for (let i = 0; i < many; i++, end++) out[end] = out[end - back] as number;
    }
  }
  return out;
}
