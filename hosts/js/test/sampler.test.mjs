// The class `Sampler` on both engines. The golden cases have the expected numbers, and tests/matrix compares this host
// with them.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { entries } from './entries.mjs';

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

for (const [entry, { Sampler, plainOrders, version }] of Object.entries(entries)) {
  const small = (options) => new Sampler(10, { order: 'torch', seed: 42, epoch: 1, worldSize: 3, ...options });

  describe(entry, () => {
    test('a deal, whole and in parts', () => {
      const sampler = small();
      assert.equal(sampler.length, 4);
      assert.deepEqual(sampler.indices(), new Uint32Array([8, 0, 6, 3]));
      assert.deepEqual(sampler.indices(1, 3n), new Uint32Array([0, 6]));
      assert.deepEqual(sampler.indices(4), new Uint32Array(0));
      assert.deepEqual([...sampler], [8, 0, 6, 3]);
      assert.deepEqual([sampler.numPadding, sampler.numPositions, sampler.numDropped], [0, 12, 0]);
      assert.equal(small({ remainder: 'drop' }).numDropped, 1);
      assert.equal(sampler.sampleAt(9n), 3);
      assert.deepEqual(sampler.locate(6, 2), {
        position: 6,
        rank: 0,
        indexInRank: 2,
        batch: 1,
        indexInBatch: 0,
        numPadding: 0,
      });
      assert.deepEqual(sampler.placeOf(10, 1), {
        position: 10,
        rank: 1,
        indexInRank: 3,
        batch: 3,
        indexInBatch: 0,
        numPadding: 0,
      });
      assert.equal(small({ remainder: 'drop' }).locate(3, 2), null);
    });

    test('batches', () => {
      const sampler = small();
      assert.deepEqual([...sampler.batches(3)], [new Uint32Array([8, 0, 6]), new Uint32Array([3])]);
      assert.deepEqual([...sampler.batches(3n, { dropLast: true })], [new Uint32Array([8, 0, 6])]);
      assert.deepEqual(sampler.batch(1, 3), new Uint32Array([3]));
      assert.deepEqual([sampler.numBatches(3), sampler.numBatches(3, { dropLast: true })], [2, 1]);
      assert.throws(() => sampler.batch(1, 3, { dropLast: true }), { field: 'batch' });
    });

    test('batches from one on', () => {
      for (const [samples, dropLast] of [
        [10, false],
        [10, true],
        [8, true],
        [0, false],
      ]) {
        const sampler = new Sampler(samples, { seed: 3 });
        const all = [...sampler.batches(4, { dropLast })];
        for (let start = 0; start <= all.length; start++) {
          assert.deepEqual([...sampler.batches(4, { dropLast, start })], all.slice(start));
          assert.deepEqual([...sampler.batches(4, { dropLast, start: BigInt(start) })], all.slice(start));
        }
      }
    });

    test('text is the call that makes an equal sampler', () => {
      const sampler = new Sampler(10n, {
        seed: -(2n ** 63n),
        order: 'torch',
        rank: 2,
        worldSize: 3,
        layout: 'contiguous',
      });
      sampler.setEpoch(7);
      const text =
        'Sampler.fromRecipe(\'{"order":{"name":"torch","samples":10,"seed":"-9223372036854775808"},' +
        '"deal":{"world_size":3,"layout":"contiguous"}}\', { epoch: 7, rank: 2 })';
      const again = new Function('Sampler', `return ${text}`)(Sampler);
      assert.deepEqual(again.toJSON(), sampler.toJSON());
      sampler.dispose();
      assert.deepEqual([String(sampler), inspect(sampler)], [text, text]);
    });

    test('a batch is refused by what it holds, not by its size', () => {
      const sampler = new Sampler(2 ** 20 + 1);
      const refused = { kind: 'out-of-range', field: 'batch_size' };
      for (const size of [2 ** 20 + 1, 2 ** 21, 2 ** 32 - 1]) {
        assert.throws(() => sampler.batch(0, size), { ...refused, value: String(size) });
        assert.throws(() => [...sampler.batches(size)], { ...refused, value: String(size) });
      }
      const shorter = new Sampler(2 ** 20);
      assert.equal(shorter.batch(0, 2 ** 21).length, 2 ** 20);
      assert.deepEqual([...shorter.batches(2 ** 32 - 1)], [shorter.indices()]);
    });

    test('zero has no sign', () => {
      const sampler = new Sampler(10, { seed: -0, epoch: -0, rank: -0 });
      for (const zero of [sampler.seed, sampler.epoch, sampler.rank]) assert(Object.is(zero, 0));
      sampler.setEpoch(-0);
      sampler.setRank(-0);
      for (const zero of [sampler.epoch, sampler.rank, sampler.toJSON().rank]) assert(Object.is(zero, 0));
    });

    test('the properties are those that were given, and follow the setters', () => {
      const sampler = new Sampler(2n ** 40n, { seed: -(2n ** 63n), epoch: 2n ** 64n - 1n, worldSize: 7n, rank: 6 });
      const { datasetSize, seed, epoch, order, rank, worldSize, remainder, layout } = sampler;
      assert.deepEqual(
        { datasetSize, seed, epoch, order, rank, worldSize, remainder, layout },
        {
          datasetSize: 2 ** 40,
          seed: -(2n ** 63n),
          epoch: 2n ** 64n - 1n,
          order: 'feistel',
          rank: 6,
          worldSize: 7,
          remainder: 'pad',
          layout: 'strided',
        },
      );
      const before = sampler.indices(0, 5);
      sampler.setEpoch(3);
      sampler.setRank(5);
      assert.deepEqual([sampler.epoch, sampler.rank], [3, 5]);
      assert.notDeepEqual(sampler.indices(0, 5), before);
      assert.deepEqual(sampler.indices(0, 5), new Sampler(2 ** 40, same(sampler)).indices(0, 5));
    });

    test('a rank of its own length', () => {
      const sampler = new Sampler(10, { worldSize: 3, remainder: 'uneven' });
      assert.deepEqual([sampler.length, sampler.indices().length], [4, 4]);
      sampler.setRank(1);
      assert.deepEqual([sampler.length, sampler.indices().length, [...sampler].length], [3, 3, 3]);
    });

    test('long runs are the windows that they are read in', () => {
      for (const samples of [200_003, 2 ** 33]) {
        const sampler = new Sampler(samples, { seed: 5 });
        const run = sampler.indices(1, 150_000);
        assert.equal(run.constructor, samples > 2 ** 32 ? Float64Array : Uint32Array);
        for (const at of [1, 32_768, 32_769, 65_536, 65_537, 149_999]) {
          assert.equal(run[at - 1], sampler.sampleAt(at));
        }
        let at = 0;
        for (const sample of sampler) {
          if (at >= 1) assert.equal(sample, run[at - 1]);
          if (++at === 150_000) break;
        }
      }
    });

    test('indices stay exact up to 2^53', () => {
      const sampler = new Sampler(2 ** 53 - 1, { seed: 9 });
      const run = sampler.indices(2 ** 53 - 4);
      assert.equal(run.length, 3);
      for (const [i, sample] of run.entries()) {
        assert(Number.isSafeInteger(sample));
        assert.equal(sampler.locate(sample, 1).position, 2 ** 53 - 4 + i);
      }
      assert.deepEqual(sampler.batch(2 ** 53 - 3, 1), new Float64Array([run[1]]));
    });

    test('32-bit numbers end at 2^32 samples', () => {
      assert.equal(new Sampler(2 ** 32).indices(0, 1).constructor, Uint32Array);
      assert.equal(new Sampler(2 ** 32 + 1).indices(0, 1).constructor, Float64Array);
    });

    test('what was handed out stays as it was', () => {
      const sampler = small();
      const kept = sampler.indices();
      sampler.setEpoch(2);
      sampler.indices();
      assert.deepEqual(kept, new Uint32Array([8, 0, 6, 3]));
      kept.fill(0);
      sampler.setEpoch(1);
      assert.deepEqual(sampler.indices(), new Uint32Array([8, 0, 6, 3]));
    });

    test('iterators do not disturb each other', () => {
      const sampler = new Sampler(100_000, { seed: 1 });
      const [one, other] = [sampler[Symbol.iterator](), sampler[Symbol.iterator]()];
      const seen = [];
      for (let i = 0; i < 40_000; i++) seen.push(one.next().value);
      for (let i = 0; i < 40_000; i++) assert.equal(other.next().value, seen[i]);
      assert.deepEqual(one.return(), { value: undefined, done: true });
      assert.deepEqual(one.next(), { value: undefined, done: true });
      assert.equal(other.next().done, false);
      assert.deepEqual([...new Sampler(0)], []);
    });

    test('an iteration does not run into another epoch or rank', () => {
      const sampler = small();
      for (const [move, field] of [
        [() => sampler.setEpoch(7), 'epoch'],
        [() => sampler.setRank(1), 'rank'],
      ]) {
        const samples = sampler[Symbol.iterator]();
        const batches = sampler.batches(1);
        samples.next();
        batches.next();
        move();
        assert.throws(() => samples.next(), { kind: 'out-of-range', field });
        assert.throws(() => batches.next(), { kind: 'out-of-range', field });
      }
    });

    test('samplers do not disturb each other', () => {
      const [one, other] = [small(), small({ rank: 1 })];
      one.setEpoch(9);
      one.setRank(2);
      assert.deepEqual(other.indices(), new Uint32Array([4, 5, 7, 8]));
      one.dispose();
      assert.deepEqual(other.indices(), new Uint32Array([4, 5, 7, 8]));
    });

    test('fingerprint is the SHA-256 of the indices', () => {
      const sampler = new Sampler(5000, { worldSize: 3 });
      const bytes = Buffer.alloc(8 * sampler.length);
      let at = 0;
      for (const sample of sampler) at = bytes.writeBigUInt64LE(BigInt(sample), at);
      assert.equal(sampler.fingerprint(), createHash('sha256').update(bytes).digest('hex'));
      const alone = sampler.configFingerprint();
      sampler.setRank(2);
      assert.equal(sampler.configFingerprint(), alone);
      sampler.setEpoch(1);
      assert.notEqual(sampler.configFingerprint(), alone);
    });

    test('a configuration survives JSON', () => {
      const sampler = new Sampler(1000, { seed: 2n ** 62n, epoch: 3, worldSize: 4, rank: 1, layout: 'contiguous' });
      const copy = Sampler.fromJSON(JSON.parse(JSON.stringify(sampler)));
      assert(copy instanceof Sampler);
      assert.deepEqual(copy.toJSON(), sampler.toJSON());
      assert.equal(copy.fingerprint(), sampler.fingerprint());
    });

    test('a sampler that was disposed of says so', () => {
      const sampler = small();
      sampler.dispose();
      sampler.dispose();
      for (const call of [() => sampler.indices(), () => sampler.setEpoch(2), () => [...sampler]]) {
        assert.throws(call, { message: 'this sampler has been disposed of' });
      }
      const scoped = small();
      scoped[Symbol.dispose]();
      assert.throws(() => scoped.fingerprint(), { message: 'this sampler has been disposed of' });
    });

    test('names and version', () => {
      assert.deepEqual(plainOrders().slice(0, 2), ['feistel', 'fisher-yates']);
      assert.equal(version, manifest.version);
      for (const order of plainOrders()) assert.equal(new Sampler(3, { order }).length, 3);
    });
  });
}

/** The options that make an equal sampler. */
function same({ seed, epoch, order, rank, worldSize, remainder, layout, consumed }) {
  return { seed, epoch, order, rank, worldSize, remainder, layout, consumed };
}
