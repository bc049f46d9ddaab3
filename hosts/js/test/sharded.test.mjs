// The order `sharded` of the class, on both engines. The golden cases have the expected numbers.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { entries } from './entries.mjs';

const SIZES = [300, 0, 701, 1, 998];
const ascending = (samples) => Float64Array.from(samples).sort();

for (const [entry, { Sampler, SamedealError }] of Object.entries(entries)) {
  describe(entry, () => {
    test('the number of ranks does not change the order', () => {
      const options = { lanes: 8, shuffleWindow: 16, seed: 3, epoch: 2 };
      const whole = Sampler.sharded(SIZES, options);
      assert(whole instanceof Sampler);
      assert.deepEqual(
        ascending(whole),
        Float64Array.from({ length: 2000 }, (_, i) => i),
      );
      for (const worldSize of [2, 3, 8]) {
        const dealt = new Float64Array(2000);
        for (let rank = 0; rank < worldSize; rank++) {
          const own = Sampler.sharded(SIZES, { ...options, rank, worldSize, remainder: 'uneven' });
          own.indices().forEach((sample, i) => {
            dealt[rank + i * worldSize] = sample;
          });
        }
        assert.deepEqual(dealt, Float64Array.from(whole.indices()));
      }
    });

    test('lists of every type, and what they may hold', () => {
      const expected = Sampler.sharded([3, 0, 4]).indices();
      for (const type of [Uint8Array, Uint16Array, Uint32Array, Int32Array, Float64Array]) {
        assert.deepEqual(Sampler.sharded(type.of(3, 0, 4)).indices(), expected);
      }
      for (const type of [BigUint64Array, BigInt64Array]) {
        assert.deepEqual(Sampler.sharded(type.of(3n, 0n, 4n)).indices(), expected);
      }
      assert.deepEqual(Sampler.sharded([3n, -0, 4]).indices(), expected);
      assert.equal(Sampler.sharded([2 ** 53 - 1]).datasetSize, 2 ** 53 - 1);
      assert.equal(Sampler.sharded([2 ** 32 + 5, 2 ** 40]).datasetSize, 2 ** 32 + 5 + 2 ** 40);
      assert.equal(Sampler.sharded([]).length, 0);
    });

    test('sizes that cannot be are refused, and so are lanes and windows', () => {
      const refused = (kind, field, ...args) => {
        assert.throws(
          () => Sampler.sharded(...args),
          (error) => error instanceof SamedealError && error.kind === kind && error.field === field,
          inspect(args),
        );
      };
      for (const sizes of [null, 3, '3', {}, new DataView(new ArrayBuffer(8)), new Set([3]), { length: 1 }]) {
        refused('wrong-type', 'sizes', sizes);
      }
      for (const size of [1.5, Number.NaN, '3', null, true, {}, [3]]) {
        refused('wrong-type', 'sizes', [1, size]);
      }
      for (const sizes of [undefined, [1, undefined], new Array(3)]) refused('missing', 'sizes', sizes);
      refused('wrong-type', 'sizes', Float64Array.of(0.5));
      refused('wrong-type', 'sizes', Float32Array.of(Number.NaN));
      for (const size of [-1, -1n, 2n ** 64n, 2 ** 64, 2 ** 53]) refused('out-of-range', 'sizes', [1, size]);
      refused('out-of-range', 'sizes', Int32Array.of(-1));
      for (const sizes of [
        [2 ** 53 - 1, 1],
        [2n ** 64n - 1n],
        [2n ** 64n - 1n, 2n ** 64n - 1n, 1],
        new BigUint64Array(5).fill(2n ** 63n),
      ]) {
        refused('out-of-range', 'sizes', sizes);
      }
      refused('out-of-memory', 'sizes', new Uint8Array(2 ** 25 + 1));
      for (const lanes of [0, 65_537, -1, 2 ** 32, 2n ** 64n]) refused('out-of-range', 'lanes', [3], { lanes });
      for (const shuffleWindow of [0, 2 ** 20 + 1, -1]) {
        refused('out-of-range', 'shuffle_window', [3], { shuffleWindow });
      }
      for (const value of [1.5, '3', null]) {
        refused('wrong-type', 'lanes', [3], { lanes: value });
        refused('wrong-type', 'shuffle_window', [3], { shuffleWindow: value });
      }
      refused('unknown-name', 'options', [3], { order: 'sharded' });
      refused('out-of-range', 'rank', [3], { rank: 1 });
    });

    test('what a rank reads, round by round, is what it gives', () => {
      for (const [worldSize, remainder] of [
        [1, 'pad'],
        [4, 'pad'],
        [3, 'pad'],
        [3, 'uneven'],
        [4, 'drop'],
      ]) {
        for (let rank = 0; rank < worldSize; rank++) {
          const sampler = Sampler.sharded(SIZES, { lanes: 4, shuffleWindow: 50, rank, worldSize, remainder });
          const bases = [0, 300, 300, 1001, 1002];
          let next = 0;
          for (let number = 0; number < sampler.numRounds; number++) {
            const { start, count, spans } = sampler.round(BigInt(number));
            assert.equal(start, next);
            next += count;
            const read = new Set();
            for (const [at, shard] of spans.shard.entries()) {
              for (let i = 0; i < spans.numRows[at]; i++) read.add(bases[shard] + spans.firstRow[at] + i);
            }
            assert(spans.lane.every((lane) => lane < 4));
            for (const sample of sampler.indices(start, next)) assert(read.has(sample));
            if (worldSize !== 3 && remainder !== 'drop') assert.equal(read.size, count);
          }
          assert.equal(next, sampler.length);
        }
      }
    });

    test('where a sample is stored', () => {
      const sampler = Sampler.sharded(SIZES);
      assert.deepEqual(sampler.shardOf(0), { shard: 0, row: 0 });
      assert.deepEqual(sampler.shardOf(300n), { shard: 2, row: 0 });
      assert.deepEqual(sampler.shardOf(1001), { shard: 3, row: 0 });
      assert.throws(() => sampler.shardOf(2000), { kind: 'out-of-range', field: 'sample', allowed: '0 to 1999' });
      assert.throws(() => sampler.shardOf(-1), { kind: 'out-of-range', field: 'sample', allowed: '0 to 1999' });
      assert.throws(() => sampler.shardOf(1.5), { kind: 'wrong-type', field: 'sample' });
      for (const number of [1, -1, 2n ** 64n]) {
        assert.throws(() => sampler.round(number), { kind: 'out-of-range', field: 'number', allowed: '0 to 0' });
      }
    });

    test('other orders have none of it', () => {
      const sampler = new Sampler(10);
      assert.deepEqual([sampler.sizes, sampler.lanes, sampler.shuffleWindow], [undefined, undefined, undefined]);
      for (const call of [() => sampler.numRounds, () => sampler.round(0), () => sampler.shardOf(0)]) {
        assert.throws(call, { kind: 'contradiction', field: 'name' });
      }
      assert.throws(() => new Sampler(10, { order: 'sharded' }), { kind: 'missing', field: 'sizes' });
    });

    test('the properties are those that were given, and copies', () => {
      const sizes = [3, 0, 2 ** 40];
      const sampler = Sampler.sharded(sizes, { lanes: 2, shuffleWindow: 5n, seed: -1 });
      sizes[0] = 99;
      sampler.sizes[1] = 99;
      assert.deepEqual([...sampler.sizes], [3, 0, 2 ** 40]);
      const { lanes, shuffleWindow, order, datasetSize, seed } = sampler;
      assert.deepEqual([lanes, shuffleWindow, order, datasetSize, seed], [2, 5, 'sharded', 2 ** 40 + 3, -1]);
    });

    test('JSON and text make an equal sampler', () => {
      const sampler = Sampler.sharded(SIZES, {
        lanes: 6,
        shuffleWindow: 9,
        seed: 2n ** 62n,
        worldSize: 3,
        remainder: 'drop',
      });
      sampler.setEpoch(5);
      sampler.setRank(2);
      const copy = Sampler.fromJSON(JSON.parse(JSON.stringify(sampler)));
      const again = new Function('Sampler', `return ${sampler}`)(Sampler);
      for (const other of [copy, again]) {
        assert(other instanceof Sampler);
        assert.deepEqual(other.toJSON(), sampler.toJSON());
        assert.equal(other.fingerprint(), sampler.fingerprint());
        assert.equal(other.configFingerprint(), sampler.configFingerprint());
      }
      const long = Sampler.sharded(new Uint8Array(100).fill(7));
      assert.match(inspect(long), /^Sampler\.fromRecipe\('.*', \{ sizes: \[7, .*, \.\.\. 84 more\] \}\)$/);
      assert.deepEqual(new Function('Sampler', `return ${long}`)(Sampler).toJSON(), long.toJSON());
      const json = sampler.toJSON();
      assert.deepEqual(json.sizes, SIZES);
      for (const [changed, kind, field] of [
        [{ sizes: ['x'] }, 'wrong-type', 'sizes'],
        [{ sizes: undefined }, 'missing', 'sizes'],
        [{ more: 0 }, 'unknown-name', 'options'],
        [{ recipe: undefined }, 'missing', 'recipe'],
        [{ recipe: '{"order":{"name":"feistel"}}' }, 'contradiction', 'sizes'],
        [{ recipe: '{"order":{"samples":3,"name":"sharded"}}' }, 'contradiction', 'samples'],
      ]) {
        assert.throws(() => Sampler.fromJSON({ ...json, ...changed }), { kind, field });
      }
    });

    test('a sampler of another class keeps it', () => {
      class Mine extends Sampler {}
      const mine = Mine.sharded([3, 4]);
      assert(mine instanceof Mine);
      assert(Mine.fromJSON(mine.toJSON()) instanceof Mine);
    });

    test('many shards', () => {
      const sampler = Sampler.sharded(new Uint32Array(1e6).fill(3), { seed: 1 });
      const sample = sampler.sampleAt(1_234_567);
      assert.equal(sampler.locate(sample, 1).position, 1_234_567);
      assert.equal(sampler.shardOf(sample).shard, Math.floor(sample / 3));
      sampler.dispose();
      assert.throws(() => sampler.numRounds, { message: 'this sampler has been disposed of' });
    });
  });
}
