// Batchers: properties that every batch must have, the facts that a batcher reports, and the values that it refuses.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { Batcher } from 'samedeal';
import { some, WAYS, windowed } from './batching.mjs';
import { NO_LIST, NOT_32_BITS, NOT_WHOLE, refused, wrong } from './values.mjs';

/** Fractions as the metrics have them: computed from whole numbers, with six decimal places. */
const rounded = (values) => values.map((value) => Math.round(value * 1e6) / 1e6);
const ratios = ({ paddingRatio, budgetUtilization, slowestRankUtilization, costImbalance }) => [
  paddingRatio,
  budgetUtilization,
  slowestRankUtilization,
  costImbalance,
];

describe('batches', () => {
  for (const [way, options] of Object.entries(WAYS)) {
    test(`${way}: every sample once, as many steps for every rank, any of them at random`, () => {
      const lengths = some(1000);
      const worldSize = 3;
      const ranks = [0, 1, 2].map(
        (rank) => new Batcher(lengths, { ...options, rank, worldSize, seed: -5, ...windowed(options, 300) }),
      );
      const [first] = ranks;
      const seen = [];
      for (const batcher of ranks) {
        const batches = [...batcher];
        assert.equal(batches.length, first.numSteps());
        assert.equal(batcher.fingerprint(), first.fingerprint());
        for (const [step, batch] of batches.entries()) {
          assert.deepEqual(first.batch(step, batcher.rank), batch);
          seen.push(...batch.samples);
          assert.deepEqual(
            batch.lengths,
            Uint32Array.from(batch.samples, (sample) => lengths[sample]),
          );
          assert.deepEqual(batch.starts, new Uint32Array(batch.samples.length));
          assert.equal(batch.rowEnds.at(-1) ?? 0, batch.samples.length);
          const filled = Array.from(batch.rowEnds, (end, row) =>
            batch.lengths.slice(batch.rowEnds[row - 1] ?? 0, end).reduce((sum, length) => sum + length, 0),
          );
          assert(filled.every((tokens) => tokens <= batch.paddedLength));
          assert(batch.cost <= (options.maxTokens ?? options.maxCost ?? Number.POSITIVE_INFINITY));
        }
        assert.deepEqual([...batcher.batches(2)], batches.slice(2));
        assert.deepEqual([...first.batches(3n, batcher.rank)], batches.slice(3));
      }
      assert.deepEqual(
        seen.sort((one, other) => one - other),
        Array.from({ length: 1000 }, (_, sample) => sample),
      );
      const { steps, items, tokens } = first.metrics();
      assert.deepEqual([steps, items, tokens], [first.numSteps(), 1000, lengths.reduce((sum, length) => sum + length)]);
    });

    test(`${way}: the configuration makes an equal one`, () => {
      const lengths = some(500);
      const batcher = new Batcher(lengths, { ...options, rank: 1, worldSize: 2, epoch: 3, seed: 2n ** 60n });
      const other = new Batcher(batcher.lengths, batcher.config);
      assert.deepEqual(other.config, batcher.config);
      assert.deepEqual([...other], [...batcher]);
      assert.equal(other.fingerprint(), batcher.fingerprint());
    });
  }

  test('one batch, by hand', () => {
    const packed = new Batcher([3, 1, 2], { strategy: 'pack', capacity: 4, order: 'sequential' });
    const { steps, packsBound } = packed.metrics();
    assert.deepEqual([packed.numSteps(), steps, packsBound], [2, 2, 2]);
    const rows = [...packed].map(({ samples, lengths, rowEnds }) => [[...samples], [...lengths], [...rowEnds]]);
    assert.deepEqual(rows.sort(), [
      [[1, 0], [1, 3], [2]],
      [[2], [2], [1]],
    ]);
    const [batch] = new Batcher([5, 3], { strategy: 'pad-to-max', order: 'sequential' });
    assert.deepEqual(batch, {
      samples: Float64Array.of(0, 1),
      starts: Uint32Array.of(0, 0),
      lengths: Uint32Array.of(5, 3),
      rowEnds: Uint32Array.of(1, 2),
      paddedLength: 5,
      cost: 10,
      repeated: 0,
      fullRows: 32,
    });
    // The batch has memory of its own, so nothing else is copied if it is sent to a worker.
    assert.equal(batch.samples.buffer.byteLength, 16);
  });

  test('what is too long, and the tail', () => {
    const of = (options) =>
      new Batcher([10, 3], { strategy: 'pad-to-max', maxLength: 4, order: 'sequential', ...options });
    refused(() => of({}).batch(0), 'out-of-range', 'lengths');
    assert.deepEqual([...of({ tooLong: 'truncate' }).batch(0).lengths], [4, 3]);
    assert.deepEqual([...of({ tooLong: 'drop' }).batch(0).samples], [1]);
    const split = of({ tooLong: 'split' });
    const { samples, starts, lengths: parts } = split.batch(0);
    assert.deepEqual(Array.from(samples, (sample, i) => [sample, starts[i], parts[i]]).sort(), [
      [0, 0, 4],
      [0, 4, 4],
      [0, 8, 2],
      [1, 0, 3],
    ]);
    assert.equal(split.metrics().split, 1);
    const uneven = (tail) => new Batcher([1, 2, 3], { strategy: 'pad-to-max', maxBatchSize: 1, worldSize: 2, tail });
    assert.deepEqual([uneven('drop').numSteps(), uneven('drop').metrics().dropped], [1, 1]);
    assert.deepEqual([uneven('keep').numSteps(), uneven('keep').metrics().empty], [2, 1]);
    assert.deepEqual([...uneven('keep').batch(1, 1).samples], []);
    assert.equal(uneven('duplicate').metrics().repeated, 1);
    assert.equal(uneven('duplicate').batch(1, 1).repeated, 1);
  });

  test('metrics, by hand', () => {
    const of = (lengths, options) => ratios(new Batcher(lengths, { order: 'sequential', ...options }).metrics());
    assert.deepEqual(of([3, 1], { strategy: 'pad-to-max' }), rounded([1 / 3, 1, 4 / 6, 1]));
    assert.deepEqual(
      of([4, 2], { strategy: 'pad-to-max', maxBatchSize: 1, worldSize: 2 }),
      rounded([0, 1, 6 / 8, 8 / 6]),
    );
    assert.deepEqual(of([3, 1, 2], { strategy: 'pack', capacity: 4 }), rounded([2 / 8, 6 / 8, 6 / 8, 1]));
    assert.deepEqual(of([3, 1], { maxTokens: 10 }), rounded([1 / 3, 4 / 10, 4 / 6, 1]));
    assert.deepEqual(
      of([3, 1], { maxCost: 30, counting: 'weighted', quadratic: 1 }),
      rounded([1 / 3, 14 / 30, 4 / 6, 1]),
    );
    assert.deepEqual(of([], { maxTokens: 10, worldSize: 3 }), rounded([0, 1, 1, 1]));
    assert.deepEqual(of([0, 0], { maxTokens: 10 }), rounded([0, 0, 1, 1]));
  });

  test('numbers beyond 2^53 are exact', () => {
    const options = { maxCost: 2n ** 62n, counting: 'weighted', quadratic: 1, maxBatchSize: 1 };
    const batcher = new Batcher([2 ** 27, 0], options);
    assert.equal(batcher.metrics().cost, 2n ** 54n + 2n ** 27n);
    assert.deepEqual(new Set(Array.from(batcher, ({ cost }) => cost)), new Set([2n ** 54n + 2n ** 27n, 0]));
    assert.equal(batcher.config.maxCost, 2n ** 62n);
    assert.equal(new Batcher([], { maxTokens: 1, epoch: 2n ** 64n - 1n }).epoch, 2n ** 64n - 1n);
  });

  test('a configuration has what the strategy uses', () => {
    const common = {
      seed: 0,
      epoch: 0,
      order: 'feistel',
      rank: 0,
      worldSize: 1,
      tooLong: 'error',
      tail: 'even-split',
    };
    for (const [given, more] of [
      [{ maxTokens: 5 }, { strategy: 'budget', maxTokens: 5, batchSizeMultiple: 1 }],
      [
        { maxBatchSize: 4, maxLength: 9 },
        { strategy: 'budget', maxBatchSize: 4, maxLength: 9, maxTokens: 36, batchSizeMultiple: 1 },
      ],
      [
        { strategy: 'bucket' },
        { strategy: 'bucket', maxBatchSize: 32, batchSizeMultiple: 1, separateBuckets: false, padToBucket: false },
      ],
      [{ strategy: 'pad-to-max' }, { strategy: 'pad-to-max', maxBatchSize: 32 }],
      [
        { strategy: 'pack', maxLength: 9 },
        { strategy: 'pack', maxBatchSize: 1, maxLength: 9, capacity: 9, packing: 'fast' },
      ],
    ]) {
      assert.deepEqual(new Batcher([1], given).config, { ...common, counting: 'padded', ...more });
    }
    const weighted = { counting: 'weighted', linear: 1, quadratic: 0, packing: 'fast' };
    const { config } = new Batcher([1], { counting: 'weighted', maxCost: 2n ** 63n, seed: -(2n ** 63n) });
    assert.deepEqual(config, { ...common, ...weighted, strategy: 'budget', maxCost: 2n ** 63n, seed: -(2n ** 63n) });
  });

  test('epochs differ, and a pass never mixes them', () => {
    const batcher = new Batcher(some(1000), { maxTokens: 300 });
    const before = batcher.fingerprint();
    const pass = batcher.batches();
    pass.next();
    batcher.setEpoch(1n);
    assert.equal(batcher.epoch, 1);
    assert.notEqual(batcher.fingerprint(), before);
    assert.equal(new Batcher(some(1000), { maxTokens: 300, epoch: 1 }).fingerprint(), batcher.fingerprint());
    refused(() => pass.next(), 'out-of-range', 'epoch');
    const untouched = batcher.batches();
    batcher.setEpoch(0);
    refused(() => untouched.next(), 'out-of-range', 'epoch');
    assert.equal(batcher.fingerprint(), before);
    assert.equal([...batcher].length, batcher.metrics().steps);
  });

  test('the arrays that are given and got are not those that count', () => {
    const lengths = Uint32Array.of(5, 6);
    const boundaries = [3, 8];
    const batcher = new Batcher(lengths, { strategy: 'bucket', boundaries });
    boundaries[0] = 7;
    batcher.config.boundaries[0] = 7;
    // Lengths are not copied.
    assert.equal(batcher.lengths, lengths);
    assert.deepEqual(batcher.config.boundaries, [3, 8]);
    for (const other of [[5, 6n], Float64Array.of(5, 6), BigInt64Array.of(5n, 6n), Uint8Array.of(5, 6)]) {
      assert.equal(new Batcher(other, batcher.config).fingerprint(), batcher.fingerprint());
    }
  });

  test('the call that makes it', () => {
    const shown = inspect(new Batcher(some(100), { maxTokens: 2n ** 60n, seed: 1, worldSize: 2, rank: 1 }));
    assert.match(
      shown,
      /^Batcher\.fromRecipe\('\{.*"max_tokens":"1152921504606846976"\}\}', \[0, 61, .*, \.\.\. 84 more\], \{ rank: 1 \}\)$/,
    );
    assert.doesNotMatch(shown, /state|epoch|tail/);
    const bounds = inspect(
      new Batcher([1], { strategy: 'bucket', boundaries: Array.from({ length: 20 }, (_, i) => i) }),
    );
    assert.match(bounds, /boundaries: \[0, 1, .*15, \.\.\. 4 more\] \}\)$/);
  });
});

describe('refusals', () => {
  const made = () => new Batcher(some(50), { maxTokens: 200, worldSize: 2 });
  const as = (option, others) => (value) => new Batcher([3, 4], { ...(others ?? { maxTokens: 9 }), [option]: value });

  test('numbers that do not fit, and the batcher is as good as before', () => {
    const batcher = made();
    const before = batcher.fingerprint();
    const bucket = { strategy: 'bucket' };
    const weighted = { counting: 'weighted', maxCost: 9 };
    for (const [field, outside, call] of [
      ['lengths', NOT_32_BITS, (value) => new Batcher([3, value], { maxTokens: 9 })],
      ['seed', [2 ** 53, 2n ** 63n], as('seed')],
      ['epoch', [-1, 2 ** 53, 2n ** 64n], as('epoch')],
      ['rank', [1, ...NOT_32_BITS], as('rank')],
      ['world_size', [0, 2 ** 20 + 1, ...NOT_32_BITS], as('worldSize')],
      ['max_batch_size', [0, ...NOT_32_BITS], as('maxBatchSize')],
      ['max_batch_size', [0], as('maxBatchSize', { strategy: 'bucket' })],
      ['max_length', NOT_32_BITS, as('maxLength')],
      ['max_tokens', [0, -1, 2 ** 53, 2n ** 64n], as('maxTokens')],
      ['max_cost', [0, -1, 2 ** 53, 2n ** 64n], as('maxCost', weighted)],
      ['linear', NOT_32_BITS, as('linear', weighted)],
      ['quadratic', NOT_32_BITS, as('quadratic', weighted)],
      ['batch_size_multiple', [0, ...NOT_32_BITS], as('batchSizeMultiple')],
      ['capacity', [0, ...NOT_32_BITS], as('capacity', { strategy: 'pack' })],
      ['bucket_width', [0, ...NOT_32_BITS], as('bucketWidth', bucket)],
      ['boundaries', NOT_32_BITS, (value) => as('boundaries', bucket)([value])],
      ['quantiles', [0, 2 ** 20 + 1, ...NOT_32_BITS], as('quantiles', bucket)],
      ['batch_window', NOT_32_BITS, as('batchWindow')],
      ['epoch', [-1, 2 ** 53, 2n ** 64n], (value) => batcher.setEpoch(value)],
      ['step', [batcher.numSteps(), ...NOT_32_BITS], (value) => batcher.batch(value)],
      ['rank', [2, ...NOT_32_BITS], (value) => batcher.batch(0, value)],
      ['start', [batcher.numSteps() + 1, ...NOT_32_BITS], (value) => batcher.batches(value)],
      ['rank', [2, ...NOT_32_BITS], (value) => batcher.batches(0, value)],
    ]) {
      for (const value of NOT_WHOLE) refused(() => call(value), wrong(value), field);
      for (const value of outside) refused(() => call(value), 'out-of-range', field);
    }
    assert.equal(batcher.fingerprint(), before);
    assert.equal(batcher.epoch, 0);
  });

  test('the range is the same for what cannot cross', () => {
    const batcher = made();
    for (const at of [-1, batcher.numSteps(), 2n ** 70n]) {
      assert.throws(() => batcher.batch(at), { value: String(at), allowed: `0 to ${batcher.numSteps() - 1}` });
    }
    for (const rank of [-1, 2, 2n ** 70n]) assert.throws(() => batcher.batch(0, rank), { allowed: '0 to 1' });
    assert.throws(() => new Batcher([], { strategy: 'pad-to-max', tail: 'drop' }).batch(0), {
      allowed: 'none, there are none',
    });
  });

  test('lists', () => {
    for (const value of NO_LIST) {
      const isObject = Object.prototype.toString.call(value) === '[object Object]';
      // An object is read as lengths by the sources of a blend, but this order is no blend.
      refused(() => new Batcher(value, { maxTokens: 9 }), isObject ? 'contradiction' : wrong(value), 'lengths');
      if (value !== undefined) refused(() => as('boundaries')(value), wrong(value), 'boundaries');
    }
    // biome-ignore lint/suspicious/noSparseArray: the list has a hole on purpose
    refused(() => new Batcher([1, , 3], { maxTokens: 9 }), 'missing', 'lengths');
  });

  test('names', () => {
    for (const [option, field, others] of [
      ['strategy', 'strategy'],
      ['order', 'name'],
      ['counting', 'counting'],
      ['packing', 'packing', { strategy: 'pack', capacity: 9 }],
      ['tooLong', 'too_long'],
      ['tail', 'tail'],
    ]) {
      for (const value of ['', 'Pack', 'pack ', '\0', 'x'.repeat(2 ** 20)]) {
        refused(() => as(option, others)(value), 'unknown-name', field);
      }
      for (const value of [null, 3, new Map(), ['pack'], Symbol('pack')]) {
        // A value that JSON cannot express is refused as the option, and not as the member of the recipe.
        const own = field === 'name' && typeof value === 'object' && value !== null ? 'order' : field;
        refused(() => as(option, others)(value), 'wrong-type', own);
      }
      // An object with members is a valid order, so it is left out.
      if (option !== 'order') refused(() => as(option, others)({}), 'wrong-type', field);
    }
    for (const option of ['too_long', 'budget', 'lengths', 'samples'])
      refused(() => as(option)(3), 'unknown-name', 'options');
    for (const value of [null, 3, 'budget', []]) refused(() => new Batcher([1], value), 'wrong-type', 'options');
  });

  test('messages name options as they are in JavaScript', () => {
    assert.throws(() => new Batcher([5, 9], { maxTokens: 9, maxLength: 8 }).numSteps(), {
      message: 'lengths is 9 (sample 1); allowed: 0 to 8; or choose with tooLong what happens to longer ones',
    });
    assert.throws(() => new Batcher([1], { maxLength: 3 }), {
      message: 'maxTokens is missing; needed: the most tokens of a batch, or maxBatchSize and maxLength',
    });
    // A recipe has names of members, not of options.
    assert.throws(() => Batcher.fromRecipe({ batch: { maxTokens: 9 } }), { message: /known: max_tokens, / });
  });

  test('what is missing, and what does not fit together', () => {
    for (const options of [undefined, {}, { maxBatchSize: 3 }, { maxLength: 3 }]) {
      refused(() => new Batcher([1], options), 'missing', 'max_tokens');
    }
    refused(() => new Batcher([1], { counting: 'weighted' }), 'missing', 'max_cost');
    refused(() => new Batcher([1], { strategy: 'pack' }), 'missing', 'capacity');
    refused(() => as('boundaries', { strategy: 'bucket' })([3, 3]), 'contradiction', 'boundaries');
    for (const [field, options, allowed] of [
      ['quantiles', { maxTokens: 9, quantiles: 30 }, 'budget and counting padded; it goes with strategy bucket'],
      ['boundaries', { maxTokens: 9, boundaries: [30] }, 'budget and counting padded; it goes with strategy bucket'],
      [
        'bucket_width',
        { strategy: 'pack', capacity: 9, bucketWidth: 64 },
        'pack and counting padded; it goes with strategy bucket',
      ],
      ['linear', { maxTokens: 9, linear: 1 }, 'budget and counting padded; it goes with counting weighted'],
      ['capacity', { maxTokens: 9, capacity: 8 }, 'budget and counting padded; it goes with strategy pack'],
      ['max_tokens', { counting: 'weighted', maxCost: 9, maxTokens: 9 }, 'budget and counting weighted; it goes with'],
      ['batch_window', { strategy: 'pad-to-max', batchWindow: 9 }, 'pad-to-max and counting padded; it goes with'],
    ]) {
      assert.throws(
        () => new Batcher([1], options),
        (error) => {
          assert.deepEqual([error.kind, error.field], ['contradiction', field]);
          assert(error.allowed.startsWith(`none with strategy ${allowed}`), error.allowed);
          return true;
        },
      );
    }
    const buckets = Object.entries({ bucketWidth: 3, boundaries: [3], quantiles: 3 });
    for (const one of buckets) {
      for (const other of buckets) {
        const both = { strategy: 'bucket', ...Object.fromEntries([one, other]) };
        if (one !== other) assert.throws(() => new Batcher([1], both), { kind: 'contradiction' });
      }
    }
  });

  test('a batcher that was disposed of says so, and what it was', () => {
    const batcher = made();
    batcher[Symbol.dispose ?? Symbol.for('Symbol.dispose')]();
    batcher.dispose();
    assert.throws(() => batcher.batch(0), { message: 'this batcher has been disposed of' });
    assert.match(String(batcher), /^Batcher\.fromRecipe\('\{.*"batch":\{"max_tokens":200\}\}', \[.*\]\)$/);
  });
});
