// Lists of numbers: an error about a list names the place of the wrong item.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  Batcher,
  BatchStream,
  collatePack,
  collatePad,
  SamedealError,
  Sampler,
  ShardPlan,
  Split,
  verifyShards,
} from 'samedeal';

/** Checks that a call throws a typed error. */
function refused(call, expected) {
  assert.throws(call, (error) => {
    assert(error instanceof SamedealError, String(error));
    for (const [name, value] of Object.entries(expected)) assert.deepEqual(error[name], value);
    return true;
  });
}

const LISTS = [
  ['lengths', (list) => new Batcher(list, { maxTokens: 10 })],
  ['lengths', (list) => new BatchStream({ maxTokens: 10 }).push([0, 1, 2, 3], list)],
  ['samples', (list) => new BatchStream({ maxTokens: 10 }).push(list, [1, 2, 3, 4])],
  ['boundaries', (list) => new Batcher([1], { strategy: 'bucket', boundaries: list })],
  ['sizes', (list) => Sampler.sharded(list, { lanes: 1, shuffleWindow: 1 })],
  ['sizes', (list) => new ShardPlan(list)],
  ['ids', (list) => new Split({ test: 1, training: 9 }).partOf(list)],
  ['bytes', (list) => new ShardPlan([1, 2, 3, 4], { bytes: list })],
  ['row_ends', (list) => collatePack([new Int32Array(3)], { rowEnds: list })],
  ['offsets', (list) => collatePad(new Int32Array(9), { offsets: list })],
];

describe('an element that is wrong is named by its index and value', () => {
  for (const [field, make] of LISTS) {
    test(field, () => {
      refused(() => make([1, 2, 3, -5]), { kind: 'out-of-range', field, value: '-5 (at index 3)' });
      refused(() => make([1, 2.5, 3, 4]), { kind: 'wrong-type', field, value: '2.5 (at index 1)' });
      refused(() => make([1, 2, '3', 4]), { kind: 'wrong-type', field, value: '"3" (at index 2)' });
      refused(() => make(Int32Array.of(1, -2)), { kind: 'out-of-range', field, value: '-2 (at index 1)' });
    });
  }

  test('of several lists', () => {
    const message = 'assigned is -1 (at index 1) (in list 2); allowed: 0 to 8';
    refused(() => verifyShards(9, [[0], [1], [2, -1]]), { field: 'assigned', message });
  });

  test('the message says it', () => {
    refused(() => new Batcher([3, 4, -5], { maxTokens: 10 }), {
      message: 'lengths is -5 (at index 2); allowed: 0 to 4294967295',
    });
  });
});

describe('a typed array whose memory is gone is no empty list', () => {
  const detached = (Type) => {
    const list = Type.of(...(Type.name.startsWith('Big') ? [1n, 2n, 3n, 4n] : [1, 2, 3, 4]));
    structuredClone(list.buffer, { transfer: [list.buffer] });
    assert.equal(list.length, 0);
    return list;
  };

  for (const [field, make] of LISTS) {
    test(field, () => {
      for (const Type of [Uint8Array, Uint32Array, Float64Array, BigUint64Array]) {
        assert.throws(
          () => make(detached(Type)),
          (error) => {
            assert(error instanceof SamedealError);
            assert.deepEqual([error.kind, error.field], ['wrong-type', field]);
            assert.equal(
              error.message,
              `${error.message.split(' ')[0]} is a detached typed array; allowed: one whose ArrayBuffer was neither transferred nor made smaller`,
            );
            return true;
          },
        );
      }
    });
  }

  test('sequences', () => {
    for (const collate of [collatePad, collatePack]) {
      refused(() => collate([Int32Array.of(1), detached(Int32Array)]), {
        kind: 'wrong-type',
        field: 'sequences',
        value: 'a detached typed array (at index 1)',
      });
      refused(() => collate(detached(Int32Array), { offsets: [0, 0] }), { kind: 'wrong-type', field: 'sequences' });
    }
  });

  test('a buffer that became too small', () => {
    const buffer = new ArrayBuffer(16, { maxByteLength: 16 });
    const list = new Uint32Array(buffer, 0, 4);
    buffer.resize(8);
    refused(() => new Batcher(list, { maxTokens: 10 }), { kind: 'wrong-type', field: 'lengths' });
  });

  test('what is empty of itself is an empty list', () => {
    assert.equal(new Batcher(new Uint32Array(0), { maxTokens: 10 }).numSteps(), 0);
    assert.equal(new Batcher(new Uint32Array(4).subarray(4), { maxTokens: 10 }).numSteps(), 0);
    assert.equal(Sampler.sharded(new Float64Array(0)).length, 0);
  });
});

test('a text that is much too long for a state is not looked at', () => {
  const objects = [new Sampler(10), new Batcher([1, 2], { maxTokens: 10 })];
  const { codePointAt } = String.prototype;
  let calls = 0;
  String.prototype.codePointAt = function (at) {
    calls += 1;
    return codePointAt.call(this, at);
  };
  try {
    const value = 'of at least 100000000 bytes';
    const text = 'x'.repeat(1e8);
    for (const object of objects) {
      refused(() => object.resume(text), { kind: 'out-of-range', field: 'state', value, allowed: 'up to 16777216' });
    }
    assert.equal(calls, 0);
  } finally {
    String.prototype.codePointAt = codePointAt;
  }
});

test('a proxy of an array has a length', () => {
  for (const length of [-1, Number.NaN, '3', undefined, 1.5, {}]) {
    const list = new Proxy([3], { get: (own, key) => (key === 'length' ? length : Reflect.get(own, key)) });
    for (const [field, call] of LISTS) refused(() => call(list), { kind: 'wrong-type', field });
  }
});
