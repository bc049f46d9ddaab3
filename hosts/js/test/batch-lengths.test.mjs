// Sources of lengths: lists, which are not copied, and functions that return the lengths of some samples at once or
// later.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Batcher, blend, joinIndices, order } from 'samedeal';
import { some } from './batching.mjs';
import { refused } from './values.mjs';

const samples = 60_000;
const lengths = some(samples);
const options = { maxTokens: 2000, worldSize: 2, batchWindow: 8192 };
const whole = new Batcher(lengths, options);
const of = (indices) => indices.map((sample) => lengths[sample]);
/** Lengths that come later, as from a file in a page. */
const later = {
  length: samples,
  async take(indices) {
    await setImmediate();
    return of(indices);
  },
};

test('a batcher asks for the lengths of a window, and plans nothing before it is needed', () => {
  const asked = [];
  const take = (indices) => {
    asked.push(indices.length);
    return of(indices);
  };
  const batcher = new Batcher({ length: samples, take }, options);
  assert.deepEqual(asked, []);
  assert.deepEqual(batcher.batch(0), whole.batch(0));
  assert.deepEqual(asked, [16_384, 8192]);
  assert.deepEqual([batcher.numWindows, batcher.numKnownWindows], [7, 1]);
  assert.equal(batcher.numSteps(), whole.numSteps());
  assert.equal(batcher.numKnownWindows, 7);
  assert.deepEqual([...batcher], [...whole]);
  assert.equal(batcher.lengths.take, take);
  assert.equal(batcher.toJSON().lengths, undefined);
  assert.equal(Batcher.fromJSON(JSON.stringify(batcher), lengths).fingerprint(), whole.fingerprint());
});

test('a function goes with an order that knows how many samples there are', () => {
  const batcher = new Batcher(of, { ...options, order: order('feistel', { samples }) });
  assert.equal(batcher.recipe, whole.recipe);
  assert.equal(batcher.fingerprint(), whole.fingerprint());
  assert.equal(Batcher.fromRecipe(whole.recipe, of).fingerprint(), whole.fingerprint());
  refused(() => new Batcher(of, options).batch(0), 'missing', 'lengths');
});

test('lengths that come later', async () => {
  const batcher = new Batcher(later, options);
  refused(() => batcher.batch(0), 'wrong-type', 'lengths');
  // These questions wait for lengths at the same time. One of them needs many windows.
  const [fingerprint, first, places, shapes] = await Promise.all([
    batcher.withLengths((own) => own.fingerprint()),
    batcher.withLengths((own) => own.batch(0)),
    batcher.withLengths((own) => own.locateAll([59_999, 0, 30_000])),
    batcher.withLengths((own) => own.shapes()),
  ]);
  assert.deepEqual(
    [fingerprint, first, places, shapes],
    [whole.fingerprint(), whole.batch(0), whole.locateAll([59_999, 0, 30_000]), whole.shapes()],
  );
  const seen = [];
  for await (const batch of batcher) seen.push(batch);
  assert.deepEqual(seen, [...whole]);
  const state = whole.state(100);
  const rest = Batcher.fromState(state, later, { worldSize: 3 });
  assert.equal(
    await rest.withLengths((own) => own.fingerprint()),
    Batcher.fromState(state, lengths, { worldSize: 3 }).fingerprint(),
  );
});

test('sources, each of which has its own', async () => {
  const made = blend({ web: [40_000, 2], code: [20_000, 1] });
  const both = { order: made, maxTokens: 2000 };
  const expected = new Batcher(lengths, both).fingerprint();
  const web = { length: 40_000, take: of };
  assert.equal(new Batcher({ web, code: lengths.subarray(40_000) }, both).fingerprint(), expected);
  const code = { length: 20_000, take: async (indices) => of(indices.map((sample) => sample + 40_000)) };
  assert.equal(await new Batcher({ web, code }, both).withLengths((own) => own.fingerprint()), expected);
});

test('what somebody else says is checked', async () => {
  const by = (take) => new Batcher({ length: samples, take }, options);
  for (const [take, kind] of [
    [() => [3], 'contradiction'],
    [(indices) => indices.map(() => -1), 'out-of-range'],
    [(indices) => Array.from(indices, () => '3'), 'wrong-type'],
    [() => 'lengths', 'wrong-type'],
  ]) {
    refused(() => by(take).batch(0), kind, 'lengths');
    await assert.rejects(
      by(async (indices) => take(indices)).withLengths((own) => own.batch(0)),
      { name: 'SamedealError', kind, field: 'lengths' },
    );
  }
  const gone = by(() => {
    throw new Error('the file is gone');
  });
  assert.throws(() => gone.batch(0), { message: 'the file is gone' });
  refused(() => by(undefined), 'contradiction', 'lengths');
});

test('an index makes the number of steps known', () => {
  const parts = [whole.index(3, 4), whole.index(0, 3)];
  const batcher = new Batcher(() => assert.fail('not asked'), { ...options, order: order('feistel', { samples }) });
  const own = new Batcher(lengths, options);
  own.useIndex(new TextEncoder().encode(joinIndices(parts)));
  assert.deepEqual([own.numKnownWindows, own.numSteps(), own.metrics()], [7, whole.numSteps(), whole.metrics()]);
  refused(() => own.useIndex(parts[0]), 'contradiction', 'index');
  refused(() => own.useIndex('{}'), 'wrong-type', 'index');
  refused(() => own.useIndex(3), 'wrong-type', 'index');
  refused(() => joinIndices([]), 'missing', 'index');
  for (const value of [5, null, 'x']) {
    refused(() => joinIndices(value), 'wrong-type', 'index');
    assert.throws(() => joinIndices(value), { allowed: 'an array of parts of an index' });
  }
  refused(() => new Batcher(lengths, { ...options, epoch: 1 }).useIndex(joinIndices(parts)), 'contradiction', 'epoch');
  batcher.dispose();
});

test('a pass gives all batches before the window that fails', async () => {
  const own = Array.from({ length: 400 }, (_, sample) => (sample === 300 ? 99 : 5));
  const batcher = new Batcher(own, { maxTokens: 50, worldSize: 2, batchWindow: 100, order: 'sequential' });
  const atOnce = [];
  const awaited = [];
  const told = { name: 'SamedealError', value: '99 (sample 300)' };
  assert.throws(() => {
    for (const batch of batcher) atOnce.push(batch.samples.length);
  }, told);
  await assert.rejects(async () => {
    for await (const batch of batcher) awaited.push(batch.samples.length);
  }, told);
  assert.deepEqual([atOnce, awaited], [Array(15).fill(10), Array(15).fill(10)]);
});
