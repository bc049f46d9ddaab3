// Options must be plain objects. Any other object would be read as no options, and so as seed 0 and one rank.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import vm from 'node:vm';
import * as samedeal from 'samedeal';
import { findShards, readBatches, readRows, readShards } from 'samedeal/parquet';
import * as inline from '../dist/index.js';
import { composed } from './entries.mjs';

const { Batcher, blend, differences, inspect, Mesh, Sampler } = samedeal;

class Config {
  get seed() {
    return 3;
  }
}

/** Objects whose members are no options, with the name that errors have for them. */
const NO_RECORDS = [
  [Promise.resolve({ seed: 3 }), 'a Promise'],
  [new Map([['seed', 3]]), 'a Map'],
  [new Set(), 'a Set'],
  [new Date(0), 'a Date'],
  [/seed/, 'a RegExp'],
  [new Config(), 'a Config'],
  [new samedeal.Sampler(3), 'a Sampler'],
  [Object.create({ seed: 3 }), 'an object'],
  [[], 'an array'],
  [new Uint8Array(0), 'a Uint8Array'],
  [new URLSearchParams('seed=3'), 'a URLSearchParams'],
  [new Error('seed'), 'an Error'],
  [
    (function () {
      // biome-ignore lint/complexity/noArguments: the test needs this object
      return arguments;
    })(),
    'an object',
  ],
  [vm.runInNewContext('Promise.resolve({ seed: 3 })'), 'a Promise'],
  [vm.runInNewContext('new Map([["seed", 3]])'), 'a Map'],
];

/** Plain objects that are no literals of this realm. */
const RECORDS = [
  Object.assign(Object.create(null), { seed: 3 }),
  Object.freeze({ seed: 3 }),
  vm.runInNewContext('({ seed: 3 })'),
  structuredClone({ seed: 3 }),
  JSON.parse('{ "seed": 3 }'),
  new Proxy({ seed: 3 }, {}),
];

for (const [entry, package_] of Object.entries({ ...composed, 'samedeal/inline': inline })) {
  const { Batcher, BatchStream, ChunkStream, Mesh, Reading, Sampler, Schedule, ShardPlan, Split } = package_;
  const { balance, blend, collatePack, collatePad, detectRank, grown, openLedger, order, replayLedger } = package_;
  const { MemoryLog, SamedealError, sharded, weighted, windows } = package_;
  const sampler = new Sampler(10);
  const batcher = new Batcher([1], { maxTokens: 4 });
  const whole = order('feistel', { samples: 10 });
  const [recipe, state] = [sampler.recipe, sampler.state(0)];

  /** All calls that take a plain object: the name of the argument in errors, and the call. */
  const calls = [
    ['options', (given) => new Sampler(10, given)],
    ['options', (given) => new Sampler(whole, given)],
    ['options', (given) => Sampler.sharded([3], given)],
    ['options', (given) => Sampler.fromRecipe(recipe, given)],
    ['lists', (given) => Sampler.fromRecipe(recipe, { lists: given })],
    ['options', (given) => Sampler.fromState(state, given)],
    ['options', (given) => Sampler.fromJSON(given)],
    ['options', (given) => sampler.batch(0, 2, given)],
    ['options', (given) => sampler.batches(2, given)],
    ['options', (given) => sampler.numBatches(2, given)],
    ['options', (given) => sampler.step(0, 2, given)],
    ['options', (given) => new Batcher([1], given)],
    ['options', (given) => Batcher.fromRecipe(batcher.recipe, [1], given)],
    ['options', (given) => Batcher.fromState(batcher.state(0), [1], given)],
    ['options', (given) => Batcher.fromJSON(given)],
    ['options', (given) => new BatchStream(given)],
    ['options', (given) => BatchStream.fromRecipe(new BatchStream({ maxTokens: 4 }).recipe, given)],
    ['options', (given) => BatchStream.fromJSON(given)],
    ['options', (given) => new Reading([3], given)],
    ['options', (given) => new Reading(sharded([3]), given)],
    ['options', (given) => Reading.fromRecipe(new Reading([3]).recipe, given)],
    ['options', (given) => Reading.fromState(new Reading([3], { batchSize: 1 }).state(0), given)],
    ['options', (given) => Reading.fromJSON(given)],
    ['options', (given) => new ShardPlan([3], given)],
    ['options', (given) => ShardPlan.fromRecipe(new ShardPlan([3]).recipe, given)],
    ['options', (given) => ShardPlan.fromJSON(given)],
    ['options', (given) => new ShardPlan([3]).steps(2, given)],
    ['options', (given) => new ChunkStream(0, 1, given)],
    ['options', (given) => ChunkStream.fromRecipe(new ChunkStream(0, 1, { chunks: 3 }).recipe, given)],
    ['options', (given) => ChunkStream.fromJSON(given)],
    ['options', (given) => new Split({ a: 1 }, given)],
    ['options', (given) => Split.ofSizes({ a: 1 }, given)],
    ['options', (given) => Split.folds(2, given)],
    ['options', (given) => Split.fromJSON(given)],
    ['options', (given) => new Schedule(10, 2, given)],
    ['options', (given) => Schedule.fromRecipe(new Schedule(10, 2).recipe, given)],
    ['options', (given) => Schedule.fromState(new Schedule(10, 2).state(0), given)],
    ['options', (given) => Schedule.fromJSON(given)],
    ['axes', (given) => new Mesh(1, given, [])],
    ['coordinates', (given) => new Mesh(2, { dp: 2 }, ['dp']).rankAt(given)],
    ['options', (given) => Mesh.fromJSON(given)],
    ['options', (given) => detectRank(given)],
    ['environment', (given) => detectRank({ environment: given })],
    ['options', (given) => order('feistel', given)],
    ['options', (given) => sharded([3], given)],
    ['options', (given) => blend({ a: [1] }, given)],
    ['stages', (given) => blend({ a: [1] }, { stages: [given] })],
    ['options', (given) => grown(10, [], given)],
    ['growth', (given) => grown(10, [given])],
    ['ranges', (given) => whole.skip([given])],
    ['options', (given) => windows([3], 2, given)],
    ['options', (given) => balance([0], [1], given)],
    ['options', (given) => weighted([1], given)],
    ['options', (given) => collatePad([new Int32Array(1)], given)],
    ['options', (given) => collatePack([new Int32Array(1)], given)],
    ['options', (given) => replayLedger('', given)],
    ['recipe', (given) => Sampler.fromRecipe(given)],
  ];
  /**
   * Calls that also take other objects: a `Map`, because the order of its names can matter, or a list, which the engine
   * refuses if it is wrong.
   */
  const lists = [
    ['sources', (given) => blend(given), [Map, Array]],
    ['parts', (given) => new Split(given), [Map, Array]],
    ['parts', (given) => Split.ofSizes(given), [Map, Array]],
    ['order', (given) => Sampler.fromRecipe({ order: given }), [Array, Uint8Array]],
    ['deal', (given) => Sampler.fromRecipe({ order: { samples: 10 }, deal: given }), [Array, Uint8Array]],
    ['weights', (given) => blend({ a: [1] }).stage(3, given), [Map, Array, Uint8Array]],
    ['lengths', (given) => new Batcher(given, { maxTokens: 4 }), [Map, Array, Uint8Array]],
  ];

  describe(entry, () => {
    for (const [i, [field, call, taken = []]] of [...calls, ...lists].entries()) {
      test(`${i}: ${field} of ${call}`, () => {
        for (const [value, name] of NO_RECORDS) {
          if (taken.some((type) => value instanceof type)) continue;
          assert.throws(
            () => call(value),
            (error) => {
              assert(error instanceof SamedealError, `${name}: ${error}`);
              assert.deepEqual([error.kind, error.field], ['wrong-type', field], error.message);
              assert(error.value === name || error.value.startsWith(`${name} (`), error.message);
              if (value instanceof Promise) assert.match(error.message, /; await this one first/);
              return true;
            },
          );
        }
      });
    }

    test('a ledger', async () => {
      for (const [value] of NO_RECORDS) {
        await assert.rejects(async () => openLedger(sampler, new MemoryLog(), value), { field: 'options' });
      }
    });

    test('plain objects of any realm are taken', () => {
      for (const value of RECORDS) assert.equal(new Sampler(10, value).seed, 3);
      assert.equal(detectRank({ environment: vm.runInNewContext('({ RANK: "1", WORLD_SIZE: "3" })') }).worldSize, 3);
      assert.equal(detectRank({ environment: process.env }).rank, detectRank().rank);
    });

    test('what toJSON gave is also taken as text', () => {
      const made = [
        new Sampler(10, { seed: 2n ** 60n, epoch: 3, rank: 1, worldSize: 2 }),
        batcher,
        new BatchStream({ maxTokens: 4 }),
        new Reading([3]).atEpoch(2),
        new ShardPlan([3]),
        new ChunkStream(0, 2, { chunks: 3 }),
        new Split({ a: 1, b: 2 }),
        new Schedule(10, 2),
        new Mesh(2, { dp: 2 }, ['dp']),
      ];
      for (const one of made) {
        const text = JSON.stringify(one);
        assert.equal(String(one.constructor.fromJSON(text)), String(one));
        assert.throws(() => one.constructor.fromJSON(text.slice(0, -1)), { kind: 'wrong-type', field: 'json' });
      }
    });
  });
}

test('readers of Parquet files', async () => {
  for (const [value] of NO_RECORDS) {
    assert.throws(() => readShards('data', value), { field: 'options' });
    await assert.rejects(findShards('data', value), { field: 'options' });
    // The first argument is checked first.
    assert.throws(() => readBatches(value, undefined, {}), { field: 'shards' });
    await assert.rejects(readRows(value, []), { field: 'shards' });
  }
});

test('a wrong name is told with the one that was meant, and with all that are known', () => {
  for (const [options, name, meant] of [
    [{ world_size: 2 }, 'world_size', 'worldSize'],
    [{ numReplicas: 2 }, 'numReplicas', 'worldSize'],
    [{ Seed: 2 }, 'Seed', 'seed'],
  ]) {
    assert.throws(
      () => new Sampler(10, options),
      (error) => {
        assert.deepEqual([error.kind, error.value], ['unknown-name', name]);
        assert(error.message.endsWith(`; did you mean ${meant}?`) && error.known.includes(meant), error.message);
        return true;
      },
    );
  }
  assert.throws(() => new Batcher([3], { maxToken: 4 }), /did you mean maxTokens\?$/);
  assert.throws(
    () => new Sampler(10, { colour: 2 }),
    (error) => !error.message.includes('did you mean'),
  );
  const mixed = blend({ web: [10], code: [10] });
  for (const call of [
    () => new Mesh(4, { dp: 4 }, ['tp']),
    () => new Mesh(4, { dp: 4 }, ['dp']).rankAt({ tp: 0 }),
    () => mixed.stage(10, { web: 1, math: 1 }),
  ]) {
    assert.throws(call, (error) => error.kind === 'unknown-name' && error.known.length > 0);
  }
  assert.throws(() => mixed.stage(10, { web: 1 }), {
    kind: 'missing',
    message: /^weights is missing \(code\); needed: /,
  });
});

test('a text of a state is told as it was saved: as text, in bytes, or by Python', () => {
  const state = new Sampler(10).state(3);
  const told = inspect(state);
  for (const saved of [{ samedeal: state }, JSON.stringify({ samedeal: state }), new TextEncoder().encode(state)]) {
    assert.deepEqual([inspect(saved), differences(saved, state)], [told, []]);
  }
  for (const text of [3, null, [state]]) assert.throws(() => inspect(text), { kind: 'wrong-type', field: 'text' });
  assert.throws(() => inspect(), { kind: 'missing', field: 'text' });
  assert.throws(() => inspect({}), { kind: 'wrong-type', field: 'text' });
});
