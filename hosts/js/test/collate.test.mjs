// Collation: each cell has the right token, for every type of tokens.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Batcher, collatePack, collatePad } from 'samedeal';
import { some } from './batching.mjs';
import { NO_LIST, NOT_32_BITS, NOT_WHOLE, overflow, refused, wrong } from './values.mjs';

const TYPES = [
  ...[Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array],
  ...[Float32Array, Float64Array, BigInt64Array, BigUint64Array],
];
const big = (Type) => Type.name.startsWith('Big');

/** Sequences of these lengths, whose tokens are 1, 2, 3, ... */
function sequences(lengths, Type = Int32Array) {
  let next = 0;
  const token = () => {
    next = (next % 100) + 1;
    return big(Type) ? BigInt(next) : next;
  };
  return Array.from(lengths, (length) => Type.from({ length }, token));
}

describe('collatePad', () => {
  for (const Type of TYPES) {
    test(`of ${Type.name}`, () => {
      const [one, other] = [sequences([3]), sequences([1])].map(([of]) => Type.from(of, big(Type) ? BigInt : Number));
      const padded = collatePad([one, other], { paddingValue: 9 });
      const value = (number) => (big(Type) ? BigInt(number) : number);
      assert.deepEqual(padded, {
        values: Type.from([1, 2, 3, 1, 9, 9].map(value)),
        attentionMask: Uint8Array.of(1, 1, 1, 1, 0, 0),
        rows: 2,
        width: 3,
      });
      assert.equal(padded.values.constructor, Type);
      const { values, ...packed } = collatePack([one, other], { rowEnds: [1, 2], paddingValue: value(9) });
      assert.deepEqual(values, padded.values);
      assert.deepEqual(packed, {
        positionIds: Int32Array.of(0, 1, 2, 0, 0, 0),
        segmentIds: Int32Array.of(1, 1, 1, 1, 0, 0),
        cuSeqlens: Int32Array.of(0, 3, 4),
        maxSeqlen: 3,
        rows: 2,
        width: 3,
      });
    });
  }

  test('sides, multiples and widths', () => {
    const of = (options) => [...collatePad(sequences([2, 1]), options).values];
    assert.deepEqual(of(), [1, 2, 3, 0]);
    assert.deepEqual(of({ side: 'left' }), [1, 2, 0, 3]);
    assert.deepEqual(of({ padToMultipleOf: 3, paddingValue: -1 }), [1, 2, -1, 3, -1, -1]);
    assert.deepEqual(of({ width: 3n, side: 'left' }), [0, 1, 2, 0, 0, 3]);
    assert.equal(collatePad(sequences([2, 1]), { width: 3, padToMultipleOf: 2 }).width, 4);
  });

  test('nothing, and sequences of nothing', () => {
    assert.deepEqual(collatePad([]), {
      values: new Int32Array(0),
      attentionMask: new Uint8Array(0),
      rows: 0,
      width: 0,
    });
    const none = collatePad([new Float32Array(0), new Float32Array(0)], { width: 0 });
    assert.deepEqual([none.values, none.rows, none.width], [new Float32Array(0), 2, 0]);
    assert.deepEqual(collatePad([new Uint8Array(0)], { width: 2, paddingValue: 7 }).values, Uint8Array.of(7, 7));
  });

  test('all tokens end to end', () => {
    const tokens = Uint16Array.of(1, 2, 3, 4, 5);
    for (const offsets of [[0, 2, 2, 5], Uint32Array.of(0, 2, 2, 5), [0n, 2n, 2n, 5n]]) {
      assert.deepEqual([...collatePad(tokens, { offsets }).values], [1, 2, 0, 0, 0, 0, 3, 4, 5]);
      assert.deepEqual([...collatePack(tokens, { offsets }).cuSeqlens], [0, 2, 2, 5]);
    }
    for (const offsets of [[], [0], [0, 6], [1, 5], [0, 3, 2, 5]]) {
      refused(() => collatePad(tokens, { offsets }), 'contradiction', 'offsets');
    }
    assert.deepEqual(collatePad(new Int8Array(0), { offsets: [0] }).rows, 0);
  });

  test('a part of a buffer, and classes that come of typed arrays', () => {
    const { buffer } = Int16Array.of(9, 1, 2, 9);
    const padded = collatePad([new Int16Array(buffer, 2, 2), new Int16Array(buffer, 4, 1)]);
    assert.deepEqual([...padded.values], [1, 2, 2, 0]);
    const { values } = collatePad([Buffer.from('abc'), Uint8Array.of(1)]);
    assert.equal(Object.getPrototypeOf(values), Uint8Array.prototype);
    assert.deepEqual([...values], [97, 98, 99, 1, 0, 0]);
    assert.deepEqual([...collatePad([new Int32Array(new SharedArrayBuffer(8))]).values], [0, 0]);
  });

  test('a million cells', () => {
    const lengths = Array.from({ length: 300 }, (_, i) => (i * 37) % 4001);
    const { values, attentionMask, width } = collatePad(sequences(lengths, Uint8Array));
    assert.equal(width, Math.max(...lengths));
    const [flat] = sequences([lengths.reduce((sum, length) => sum + length)], Uint8Array);
    assert.deepEqual(
      values.filter((_, i) => attentionMask[i] === 1),
      flat,
    );
    const { positionIds } = collatePack([flat], { width: 2 ** 20 });
    assert(positionIds.subarray(0, flat.length).every((place, i) => place === i));
  });
});

describe('collatePack', () => {
  test('rows of a batcher', () => {
    const lengths = some(200);
    const all = sequences(lengths, Float64Array);
    const batcher = new Batcher(lengths, { strategy: 'pack', capacity: 256, maxBatchSize: 4 });
    for (const { samples, rowEnds, paddedLength } of batcher) {
      const own = Array.from(samples, (sample) => all[sample]);
      const packed = collatePack(own, { rowEnds, width: paddedLength, paddingValue: Number.NaN });
      assert.deepEqual([packed.rows, packed.width], [rowEnds.length, paddedLength]);
      const cells = rowEnds.length * paddedLength;
      const [values, positions, segments] = [
        new Float64Array(cells).fill(Number.NaN),
        new Int32Array(cells),
        new Int32Array(cells),
      ];
      for (const [row, end] of rowEnds.entries()) {
        let at = row * paddedLength;
        const start = rowEnds[row - 1] ?? 0;
        for (const [number, tokens] of own.slice(start, end).entries()) {
          values.set(tokens, at);
          positions.set([...tokens.keys()], at);
          segments.fill(number + 1, at, at + tokens.length);
          at += tokens.length;
        }
      }
      assert.deepEqual([packed.values, packed.positionIds, packed.segmentIds], [values, positions, segments]);
      assert.deepEqual(
        [...packed.cuSeqlens.subarray(1)].map((end, i) => end - packed.cuSeqlens[i]),
        own.map((tokens) => tokens.length),
      );
      assert.equal(packed.maxSeqlen, Math.max(...own.map((tokens) => tokens.length)));
    }
  });

  test('one row by default, as wide as it is full', () => {
    const { values, rows, width } = collatePack(sequences([2, 3]));
    assert.deepEqual([[...values], rows, width], [[1, 2, 3, 4, 5], 1, 5]);
    assert.deepEqual([...collatePack(sequences([2, 3, 1]), { rowEnds: [1, 3] }).values], [1, 2, 0, 0, 3, 4, 5, 6]);
    assert.deepEqual([collatePack([]).rows, [...collatePack([]).cuSeqlens]], [0, [0]]);
  });
});

describe('refusals', () => {
  const two = sequences([2, 1]);
  const pad = (option) => (value) => collatePad(two, { [option]: value });
  const pack = (option) => (value) => collatePack(two, { [option]: value });

  test('numbers', () => {
    for (const [field, outside, call] of [
      ['width', [0, 1, ...NOT_32_BITS], pad('width')],
      ['pad_to_multiple_of', [0, ...NOT_32_BITS], pad('padToMultipleOf')],
      ['width', NOT_32_BITS, pack('width')],
      ['row_ends', NOT_32_BITS, (value) => collatePack(two, { rowEnds: [value] })],
      ['offsets', [-1, 2 ** 53], (value) => collatePad(two[0], { offsets: [0, value] })],
      ['padding_value', [2 ** 31, -(2 ** 31) - 1, 2n ** 64n], pad('paddingValue')],
    ]) {
      for (const value of NOT_WHOLE) refused(() => call(value), wrong(value), field);
      for (const value of outside) refused(() => call(value), 'out-of-range', field);
    }
    refused(() => pad('width')(2 ** 26), 'out-of-range', 'lengths');
    refused(() => pack('width')(2 ** 32 - 1), 'out-of-range', 'lengths');
    refused(() => pack('width')(2), 'out-of-range', 'row_ends');
  });

  test('a padding value is one of the type', () => {
    for (const [Type, wrong] of [
      [Uint8Array, [-1, 256]],
      [Uint8ClampedArray, [-1, 256]],
      [Int8Array, [128, -129]],
      [Uint16Array, [2 ** 16]],
      [Uint32Array, [-1, 2 ** 32]],
      [BigInt64Array, [2n ** 63n]],
      [BigUint64Array, [-1, -1n, 2n ** 64n]],
      [Float32Array, [1e300]],
    ]) {
      for (const paddingValue of wrong) {
        refused(() => collatePad([new Type(1)], { paddingValue }), 'out-of-range', 'padding_value');
      }
      for (const paddingValue of [null, '0', true, {}]) {
        refused(() => collatePad([new Type(1)], { paddingValue }), 'wrong-type', 'padding_value');
      }
    }
    refused(() => collatePad([new Uint8Array(1)], { paddingValue: 0.5 }), 'wrong-type', 'padding_value');
    refused(() => collatePad([new Float64Array(1)], { paddingValue: 1n }), 'wrong-type', 'padding_value');
    for (const paddingValue of [Number.NEGATIVE_INFINITY, Number.NaN, -0, 0.5]) {
      const { values } = collatePad([new Float32Array(0)], { width: 1, paddingValue });
      assert.deepEqual(values, Float32Array.of(paddingValue));
    }
    assert.deepEqual(collatePad([new BigInt64Array(0)], { width: 1, paddingValue: -3 }).values, BigInt64Array.of(-3n));
  });

  test('sequences', () => {
    for (const value of [...NO_LIST, [[1, 2]], ['ab'], [null], Int32Array.of(1), [new DataView(new ArrayBuffer(1))]]) {
      refused(() => collatePad(value), wrong(value), 'sequences');
      refused(() => collatePack(value), wrong(value), 'sequences');
    }
    for (const value of [...NO_LIST, two, [1, 2, 3]]) {
      refused(() => collatePad(value, { offsets: [0, 3] }), wrong(value), 'sequences');
    }
    refused(() => collatePad([new Int8Array(1), new Uint8Array(1)]), 'contradiction', 'sequences');
    // biome-ignore lint/suspicious/noSparseArray: the list has a hole on purpose
    refused(() => collatePad([two[0], , two[1]]), 'missing', 'sequences');
    for (const value of NO_LIST.slice(1)) {
      refused(() => pad('offsets')(value), wrong(value), 'sequences');
      refused(() => collatePad(two[0], { offsets: value }), wrong(value), 'offsets');
      refused(() => pack('rowEnds')(value), wrong(value), 'row_ends');
    }
  });

  test('rows, sides and options', () => {
    for (const value of [[], [1], [2, 1], [3], [2, 3]])
      refused(() => pack('rowEnds')(value), 'contradiction', 'row_ends');
    refused(() => pad('side')('both'), 'unknown-name', 'side');
    refused(() => pad('side')(null), 'wrong-type', 'side');
    for (const option of ['rowEnds', 'padding_value']) refused(() => pad(option)(3), 'unknown-name', 'options');
    refused(() => pack('side')('left'), 'unknown-name', 'options');
    for (const value of [null, 3, 'left', []]) refused(() => collatePad(two, value), 'wrong-type', 'options');
  });

  test('a stack that overflows ends the call, and nothing else', () => {
    const expected = collatePack(two);
    for (let round = 0; round < 10; round++) {
      overflow(() => collatePack(two));
      assert.deepEqual(collatePack(two), expected);
    }
  });
});
