// Memory is freed, and a call without enough memory throws a typed error.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { entries } from './entries.mjs';
import { LIMIT, samplers } from './limited.mjs';

const MIB = 1 << 20;
/** A sampler whose table takes `bytes` bytes. */
const withTable = (Sampler, bytes) => {
  const sampler = new Sampler(bytes / 4, { order: 'fisher-yates' });
  sampler.sampleAt(0);
  return sampler;
};

for (const [entry, Sampler] of Object.entries(samplers)) {
  describe(entry, () => {
    test('dispose gives memory back', () => {
      for (let total = 0; total < 3 * LIMIT; total += MIB) withTable(Sampler, MIB).dispose();
    });

    test('so does the garbage collector', async () => {
      for (let total = 0; total < 3 * LIMIT; total += MIB) {
        withTable(Sampler, MIB);
        // The engine hears from the collector in a task of its own, so the test waits for one.
        globalThis.gc();
        await setImmediate();
      }
    });

    test('a table that does not fit is an error, and those that do go on', () => {
      const kept = [];
      const fill = () => {
        for (;;) kept.push(withTable(Sampler, MIB));
      };
      assert.throws(fill, { name: 'SamedealError', kind: 'out-of-memory', field: 'samples' });
      assert(kept.length > 5);
      for (const sampler of kept) assert.equal(sampler.indices(0, 100).length, 100);
      for (const sampler of kept) sampler.dispose();
      withTable(Sampler, MIB).dispose();
    });

    test('a sampler too many is an error, and all the others go on', () => {
      const kept = [];
      const fill = () => {
        for (;;) kept.push(new Sampler(1000));
      };
      assert.throws(fill, { name: 'SamedealError', kind: 'out-of-memory', field: 'samples' });
      assert(kept.length > 1000);
      for (const sampler of kept) assert.equal(sampler.batch(0, 1000).length, 1000);
      // In another epoch, a sampler is another object of the engine. Both objects exist until the old one is freed.
      for (const sampler of kept.splice(100, 100)) sampler.dispose();
      for (const sampler of kept) sampler.setEpoch(2);
      assert.throws(() => kept[0].sampleAt(1000), { field: 'position' });
      assert.equal(kept[0].toJSON().epoch, '2');
      for (const sampler of kept) sampler.dispose();
      withTable(Sampler, MIB).dispose();
    });

    test('memory that is full to the last byte', () => {
      const unbuilt = [];
      for (let bytes = 4 * MIB; bytes >= 4; bytes /= 2) {
        for (let i = 0; i < 6; i++) unbuilt.push(new Sampler(bytes / 4, { order: 'fisher-yates' }));
      }
      let refused = 0;
      for (const sampler of unbuilt) {
        try {
          sampler.sampleAt(0);
        } catch (error) {
          assert.equal(error.kind, 'out-of-memory', String(error.cause));
          refused++;
        }
      }
      assert(refused > 0);
      for (const sampler of unbuilt) {
        assert.throws(() => sampler.setRank(1), { field: 'rank' });
        assert.throws(() => sampler.sampleAt(2 ** 32), { field: 'position' });
        sampler.toJSON();
        sampler.dispose();
      }
      withTable(Sampler, MIB).dispose();
    });
  });
}

for (const [entry, { Sampler }] of Object.entries(entries)) {
  test(`${entry}: the collector gives memory back in a loop that awaits nothing but microtasks`, async () => {
    // Without other tasks, the engine is not told which objects were collected. Memory is only freed with whole
    // instances.
    const before = process.memoryUsage.rss();
    for (let total = 0; total < 320 * MIB; total += MIB) {
      withTable(Sampler, MIB);
      await null;
      if (total % (64 * MIB) === 0) globalThis.gc();
    }
    globalThis.gc();
    const more = process.memoryUsage.rss() - before;
    assert(more < 192 * MIB, `${more / MIB} MiB more`);
  });
}
