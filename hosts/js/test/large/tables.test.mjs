// Tables of several gigabytes, a size at which engines have had faults. The tests take about a minute.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { entries } from '../entries.mjs';

for (const [entry, { Sampler }] of Object.entries(entries)) {
  test(`${entry}: a table above 1 GiB, and samplers beside it`, () => {
    const big = new Sampler(2.8e8, { order: 'fisher-yates', worldSize: 2 });
    const first = big.sampleAt(0);
    const small = new Sampler(1000, { seed: 5 });
    assert.equal(small.length, 1000);
    assert.deepEqual(
      small.indices().toSorted(),
      new Uint32Array(1000).map((_, i) => i),
    );
    assert.deepEqual(
      new Sampler(10, { order: 'torch', seed: 42, epoch: 1, worldSize: 3 }).indices(),
      Uint32Array.of(8, 0, 6, 3),
    );
    const state = big.state(5);
    // Each of these calls makes another object. It must not take memory behind the table of the object before it.
    big.setRank(1);
    big.setEpoch(1);
    big.setRank(0);
    assert.throws(() => big.resume('{}'), { field: 'state' });
    assert.throws(() => big.setRank(2), { field: 'rank' });
    assert.deepEqual([big.epoch, big.rank], [1, 0]);
    big.resume(state);
    assert.deepEqual([big.consumed, big.sampleAt(0)], [10, first]);
    assert.equal(big.locate(first, 1), null);
    big.dispose();
  });

  test(`${entry}: large tables, one after the other`, () => {
    // 200 tables of 8 MB must fit one after the other, although the test never asks the collector and never ends a
    // task.
    for (let seed = 0; seed < 200; seed++) new Sampler(2e6, { seed, order: 'fisher-yates' }).sampleAt(0);
  });
}
