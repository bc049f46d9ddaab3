// Hostile values: each one is a typed error, and the object works as before.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { entries } from './entries.mjs';
import { wrong } from './values.mjs';

/** Values that are no whole numbers, for any parameter. */
const NOT_WHOLE = [
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  1.7,
  -0.5,
  '3',
  '',
  'three',
  null,
  true,
  false,
  [],
  [3],
  {},
  Object(3),
  { valueOf: () => 3 },
  { toString: assert.fail },
  () => 3,
  Symbol('3'),
  new Date(3),
  new Uint32Array([3]),
];
/** Whole numbers beyond 64 bits. */
const TOO_LARGE = [2 ** 64, -(2 ** 64), 1e300, -1e300, 2n ** 64n, -(2n ** 64n), 10n ** 100n];
/** Whole numbers that are negative or beyond 32 bits. */
const NOT_32_BITS = [-1, -1n, 2 ** 32, 2n ** 32n, 2 ** 32 + 3, Number.MAX_SAFE_INTEGER, ...TOO_LARGE];
const NOT_64_BITS = [-1, -1n, Number.MIN_SAFE_INTEGER, ...TOO_LARGE];

for (const [entry, { Sampler, SamedealError }] of Object.entries(entries)) {
  const made = new Sampler(10, { seed: 42, epoch: 1, order: 'torch', worldSize: 3 });
  const as = (option) => (value) => new Sampler(10, { [option]: value });

  /** All parameters: the name in the shared interface, values out of the range, and a call that passes a value. */
  const parameters = [
    ['samples', NOT_64_BITS.concat(2 ** 53, 2n ** 53n, 2n ** 64n - 1n), (value) => new Sampler(value)],
    ['seed', [2 ** 53, -(2 ** 53), 2n ** 63n, -(2n ** 63n) - 1n, ...TOO_LARGE], as('seed')],
    ['epoch', NOT_64_BITS.concat(2 ** 53), as('epoch')],
    ['rank', NOT_32_BITS.concat(1, 2n), as('rank')],
    ['world_size', NOT_32_BITS.concat(0, 0n), as('worldSize')],
    ['consumed', NOT_64_BITS.concat(11, 11n, 2 ** 53), as('consumed')],
    ['epoch', NOT_64_BITS.concat(2 ** 53), (value) => made.setEpoch(value)],
    ['rank', NOT_32_BITS.concat(3, 4n), (value) => made.setRank(value)],
    ['taken', NOT_64_BITS.concat(5, 2n ** 64n - 1n, 2 ** 53), (value) => made.state(value)],
    ['start', NOT_64_BITS.concat(5, 5n, 2 ** 53), (value) => made.indices(value)],
    ['end', NOT_64_BITS.concat(5, 1, 0n, 2 ** 53), (value) => made.indices(2, value)],
    ['batch', NOT_64_BITS.concat(4, 2n ** 64n - 1n, 2 ** 53), (value) => made.batch(value, 1)],
    ['batch_size', NOT_32_BITS.concat(0, 0n), (value) => made.batch(0, value)],
    ['batch_size', NOT_32_BITS.concat(0, 0n), (value) => made.numBatches(value)],
    ['batch_size', NOT_32_BITS.concat(0, 0n), (value) => made.batches(value)],
    ['start', NOT_64_BITS.concat(3, 3n, 2 ** 53), (value) => made.batches(2, { start: value })],
    ['start', NOT_64_BITS.concat(2, 2n), (value) => made.batches(3, { dropLast: true, start: value })],
    ['position', NOT_64_BITS.concat(12, 2n ** 64n - 1n), (value) => made.sampleAt(value)],
    ['sample', NOT_64_BITS.concat(10, 2n ** 64n - 1n), (value) => made.locate(value, 2)],
    ['batch_size', NOT_32_BITS.concat(0, 0n), (value) => made.locate(0, value)],
    ['position', NOT_64_BITS.concat(12, 2n ** 64n - 1n), (value) => made.placeOf(value, 2)],
    ['batch_size', NOT_32_BITS.concat(0, 0n), (value) => made.placeOf(0, value)],
  ];

  /** Checks that `call` throws a typed error about `field`, and that the sampler still gives its numbers. */
  function refused(call, kind, field) {
    assert.throws(call, (error) => {
      assert(error instanceof SamedealError && error instanceof Error, String(error));
      assert.equal(error.name, 'SamedealError');
      assert.equal(error.kind, kind);
      // A value that JSON can express is refused by the engine, as the member of the recipe.
      assert.equal(error.field === 'name' ? 'order' : error.field, field);
      assert.equal(typeof error.value, 'string');
      assert(error.allowed.length > 0 && error.message.includes(error.allowed), error.message);
      return true;
    });
    assert.deepEqual([...made.indices()], [8, 0, 6, 3]);
    assert.equal(made.epoch, 1);
    assert.equal(made.rank, 0);
  }

  describe(entry, () => {
    for (const [number, [field, outside, call]] of parameters.entries()) {
      test(`parameter ${number}, ${field}`, () => {
        for (const value of NOT_WHOLE) refused(() => call(value), wrong(value), field);
        for (const value of outside) refused(() => call(value), 'out-of-range', field);
      });
    }

    test('the range is the same for what cannot cross', () => {
      for (const [call, allowed] of [
        [(at) => made.batch(at, 3), '0 to 1'],
        [(at) => made.batch(at, 3, { dropLast: true }), '0 to 0'],
        [(at) => made.batch(at, 5, { dropLast: true }), 'none, there are none'],
        [(at) => made.batches(3, { start: at }), '0 to 2'],
        [(at) => made.indices(at), '0 to 4'],
        [(at) => made.sampleAt(at), '0 to 11'],
        [(at) => made.placeOf(at, 3), '0 to 11'],
        [(at) => made.locate(at, 3), '0 to 9'],
      ]) {
        // The number 100 reaches the engine, which refuses it.
        for (const at of [-1, -1n, 100, 2n ** 64n]) {
          assert.throws(() => call(at), { kind: 'out-of-range', value: String(at), allowed });
        }
      }
      assert.throws(() => new Sampler(10, { consumed: 11 }), { field: 'consumed', value: '11', allowed: '0 to 10' });
      assert.throws(() => made.state(5), { field: 'taken', value: '5', allowed: '0 to 4' });
    });

    test('the batch size of a place is asked for', () => {
      for (const call of [() => made.locate(0), () => made.placeOf(0)]) refused(call, 'missing', 'batch_size');
    });

    test('names', () => {
      for (const option of ['order', 'remainder', 'layout']) {
        for (const value of [null, 3, true, [], {}, ['pad'], Symbol('pad')]) {
          refused(() => as(option)(value), 'wrong-type', option);
        }
        for (const value of ['', 'Pad', 'pad ', 'pad"', '\0', '\ud800', 'π'.repeat(200), 'x'.repeat(2 ** 28)]) {
          refused(() => as(option)(value), 'unknown-name', option);
        }
      }
      assert.throws(() => as('order')('π'.repeat(200)), { value: 'π'.repeat(64) });
      assert.throws(() => as('layout')('round'), { message: 'layout is "round"; known: strided, contiguous, rotated' });
    });

    test('another sampler is no options', () => {
      assert.throws(() => new Sampler(10, new Sampler(20, { worldSize: 2 })), {
        kind: 'wrong-type',
        field: 'options',
        message: /^options is a Sampler; allowed: a plain object with /,
      });
    });

    test('the words say what is allowed', () => {
      for (const [option, value, words] of [
        ['worldSize', Number.NaN, 'worldSize is NaN; allowed: a finite number'],
        ['worldSize', 2 ** 60, 'worldSize is 1152921504606846976; allowed: 1 to 4294967295'],
        ['seed', 2 ** 60, 'seed is 1152921504606846976; allowed: a bigint, for a whole number beyond 2^53 - 1'],
        ['seed', Number.NEGATIVE_INFINITY, 'seed is -Infinity; allowed: a finite number'],
      ]) {
        assert.throws(() => as(option)(value), { message: words });
      }
      const samples = { message: 'samples is -1; allowed: 0 to 9007199254740991' };
      assert.throws(() => new Sampler(-1), samples);
      assert.throws(() => new Sampler(2 ** 60), { kind: 'out-of-range', field: 'samples', max: 2 ** 53 - 1 });
    });

    test('options', () => {
      for (const value of [null, 3, 'seed', true, [], Symbol('seed')]) {
        refused(() => new Sampler(10, value), 'wrong-type', 'options');
        refused(() => made.batch(0, 1, value), 'wrong-type', 'options');
        refused(() => made.numBatches(1, value), 'wrong-type', 'options');
        refused(() => made.batches(1, value), 'wrong-type', 'options');
      }
      refused(() => new Sampler(10, { Seed: 3 }), 'unknown-name', 'options');
      refused(() => made.batch(0, 1, { drop_last: true }), 'unknown-name', 'options');
      refused(() => made.batch(0, 1, { start: 1 }), 'unknown-name', 'options');
      refused(() => made.batches(1, { first: 1 }), 'unknown-name', 'options');
      for (const value of [null, 0, 1, 'true', {}]) {
        refused(() => made.batch(0, 1, { dropLast: value }), 'wrong-type', 'drop_last');
      }
    });

    test('the message names the option as JavaScript writes it, the data as all languages do', () => {
      assert.throws(() => made.batch(0, 0), {
        message: 'batchSize is 0; allowed: 1 to 4294967295',
        kind: 'out-of-range',
        field: 'batch_size',
        value: '0',
        allowed: '1 to 4294967295',
      });
    });

    test('an order whose seed or number of samples is narrower', () => {
      refused(() => new Sampler(10, { order: 'dotnet', seed: 2 ** 31 }), 'out-of-range', 'seed');
      refused(() => new Sampler(2 ** 32, { order: 'torch' }), 'out-of-range', 'samples');
    });

    test('more than there is memory for', () => {
      const table = new Sampler(2 ** 32 - 1, { order: 'fisher-yates' });
      for (const call of [
        () => table.sampleAt(0),
        () => table.indices(0, 1),
        () => table.fingerprint(),
        () => [...table],
      ]) {
        refused(call, 'out-of-memory', 'samples');
      }
      refused(() => new Sampler(2 ** 53 - 1).indices(), 'out-of-memory', 'count');
      refused(() => new Sampler(2 ** 53 - 1).batch(0, 2 ** 20 + 1), 'out-of-range', 'batch_size');
    });

    test('JSON that is of no sampler', () => {
      const json = made.toJSON();
      for (const value of ['', '1.7', '0x10', '1e3', ' 1', 'NaN', '9'.repeat(21), null]) {
        refused(() => Sampler.fromJSON({ ...json, epoch: value }), 'wrong-type', 'epoch');
        refused(() => Sampler.fromJSON({ ...json, rank: value }), 'wrong-type', 'rank');
      }
      refused(() => Sampler.fromJSON({ ...json, epoch: '-1' }), 'out-of-range', 'epoch');
      refused(() => Sampler.fromJSON({ ...json, recipe: undefined }), 'missing', 'recipe');
      refused(() => Sampler.fromJSON({ ...json, recipe: '{"order":{"samples":-1}}' }), 'out-of-range', 'samples');
      refused(() => Sampler.fromJSON({ ...json, comment: 'x' }), 'unknown-name', 'options');
      refused(() => Sampler.fromJSON(null), 'wrong-type', 'options');
    });
  });
}
