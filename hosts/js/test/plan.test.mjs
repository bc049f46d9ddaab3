// Plans of whole shards, and endless streams of chunks. The golden cases have the expected numbers.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { inspect } from 'node:util';
import { ChunkStream, ShardPlan, verifyShards } from 'samedeal';
import { componentInstances } from '../dist/engine/component.js';
import { Engine, over } from '../dist/engine.js';
import { BaseShardPlan } from '../dist/shard/plan.js';
import { compiled, LIMIT, limited, overridden, trap } from './limited.mjs';
import { NOT_32_BITS, NOT_WHOLE, overflow, refused, wrong } from './values.mjs';

describe('ShardPlan', () => {
  const ROBIN = { policy: 'round-robin', workerPolicy: 'round-robin', shuffle: false };
  const hundred = () => new ShardPlan(new Array(100).fill(10), { worldSize: 8, workers: 4, ...ROBIN });

  test('the worked example', () => {
    const plan = hundred();
    for (const [rank, worker, shards] of [
      [0, 0, [0, 32, 64, 96]],
      [0, 1, [8, 40, 72]],
      [1, 0, [1, 33, 65, 97]],
      [7, 3, [31, 63, 95]],
    ]) {
      assert.deepEqual([...plan.shards(rank, worker)], shards);
      assert.equal(plan.numShards(rank, worker), shards.length);
    }
    assert.deepEqual(plan.verify(), { ok: true, overlaps: [], gaps: [] });
    assert.deepEqual(plan.loadSummary('ranks'), { min: 120, max: 130, total: 1000, members: 8, imbalance: 1.04 });
    assert.deepEqual(plan.steps(10), { min: 12, max: 13, equal: false });
    assert.deepEqual(plan.steps(40), { min: 4, max: 4, equal: true });
    assert.deepEqual(plan.steps(40, { dropLast: true }), { min: 0, max: 1, equal: false });
    const { shards, samples, ...others } = plan.loads('workers');
    assert.deepEqual([shards.length, shards[0], samples[0], others], [32, 4, 40, {}]);
  });

  test('shuffled and moved, every shard still has one reader, and rows are those of the shard', () => {
    const sizes = Float64Array.from({ length: 500 }, (_, i) => (i * 7919) % 1000);
    const plan = new ShardPlan(sizes, { worldSize: 5, workers: 3, reshuffle: true, seed: -3 });
    const before = plan.shards(1, 2);
    for (const epoch of [1, 2n ** 64n - 1n]) {
      plan.setEpoch(epoch);
      assert.equal(plan.epoch, epoch);
      assert(plan.verify().ok);
      assert.notDeepEqual(plan.shards(1, 2), before);
      const rows = plan.rows(3);
      assert.deepEqual(
        rows.toSorted(),
        Float64Array.from({ length: sizes[3] }, (_, i) => i),
      );
      assert.deepEqual(plan.rows(3, 10, 20n), rows.subarray(10, 20));
      assert.deepEqual(plan.rows(3, sizes[3]), new Float64Array(0));
    }
    plan.setEpoch(0);
    assert.deepEqual(plan.shards(1, 2), before);
    const still = new ShardPlan(sizes, { seed: -3, shuffle: false, shuffleRows: true });
    assert.deepEqual(still.rows(3), new ShardPlan(sizes, { seed: -3, worldSize: 4 }).rows(3));
    const stored = new ShardPlan(sizes, { shuffleRows: false });
    assert.deepEqual([...stored.rows(3, 4, 7)], [4, 5, 6]);
  });

  test('bytes and places', () => {
    const plan = new ShardPlan([10, 10, 10, 10], {
      bytes: [1, 2, 3, 4],
      worldSize: 2,
      policy: 'locality-aware',
      balanceBy: 'bytes',
      holders: [[0], Uint32Array.of(0, 7), [7], [7n]],
      rankNodes: [0, 7],
      tolerance: 1000,
    });
    assert.deepEqual(plan.loads('ranks').local, plan.loads('ranks').bytes);
    assert.equal(plan.loadSummary('ranks', 'bytes').total, 10);
    assert.deepEqual([...plan.bytes], [1, 2, 3, 4]);
    refused(() => new ShardPlan([1]).loadSummary('ranks', 'bytes'), 'missing', 'bytes');
  });

  test('the properties are those that were given, and copies', () => {
    const sizes = [5, 6];
    const plan = new ShardPlan(sizes, { worldSize: 2n, seed: 2n ** 62n, balanceBy: 'samples' });
    sizes[0] = 9;
    plan.sizes[0] = 9;
    const { length, worldSize, workers, seed, epoch, bytes } = plan;
    assert.deepEqual([length, worldSize, workers, seed, epoch, bytes], [2, 2, 1, 2n ** 62n, 0, undefined]);
    assert.deepEqual([...plan.sizes], [5, 6]);
    const text =
      'ShardPlan.fromRecipe(\'{"shards":{"seed":"4611686018427387904","balance_by":"samples"},"deal":{"world_size":2}}\', ' +
      '{ sizes: [5, 6] })';
    assert.deepEqual([inspect(plan), String(plan)], [text, text]);
  });

  test('a plan is made again by its recipe, and defaults are in it', () => {
    const near = { policy: 'locality-aware', holders: [[0], [1, 0], [1]], rankNodes: [0, 1], worldSize: 2 };
    const many = { bytes: new Uint32Array(300).fill(7), workers: 3, seed: -1 };
    for (const [sizes, options] of [
      [[5, 6, 7], {}],
      [[5, 6, 7], near],
      [new Array(300).fill(5), many],
    ]) {
      const plan = new ShardPlan(sizes, { ...options, epoch: 4 });
      const { bytes } = options;
      for (const recipe of [plan.recipe, JSON.parse(plan.recipe)]) {
        const again = ShardPlan.fromRecipe(recipe, { epoch: 4, sizes, ...(bytes && { bytes }) });
        assert.deepEqual(
          [again.recipe, again.recipeFingerprint(), again.configFingerprint(), again.shards(0)],
          [plan.recipe, plan.recipeFingerprint(), plan.configFingerprint(), plan.shards(0)],
        );
      }
      const made = new Function('ShardPlan', `return ${plan}`)(ShardPlan);
      assert.equal(made.configFingerprint(), plan.configFingerprint());
    }
    const { shards, deal } = JSON.parse(new ShardPlan([5]).recipe);
    const { shuffle, shuffle_rows, reshuffle, seed, policy, worker_policy, balance_by } = shards;
    assert.deepEqual([shuffle, shuffle_rows, reshuffle, seed], [true, true, false, 0]);
    assert.deepEqual([policy, worker_policy, balance_by, deal.world_size], ['size-aware', 'size-aware', 'samples', 1]);
    assert.throws(() => ShardPlan.fromRecipe(new ShardPlan(new Array(300).fill(5)).recipe), {
      kind: 'missing',
      field: 'sizes',
    });
    refused(() => ShardPlan.fromRecipe({ shards: { sizes: [1] }, order: {} }), 'contradiction', 'order');
    refused(() => ShardPlan.fromRecipe({ shards: { size: [1] } }), 'unknown-member', 'shards');
  });

  test('whatever does not fit is refused, and the plan is as good as before', () => {
    const plan = hundred();
    const before = plan.shards(0, 0);
    const as = (option) => (value) => new ShardPlan([3, 4], { [option]: value });
    const NEAR = { policy: 'locality-aware', holders: [[0]], rankNodes: [0] };
    const parameters = [
      ['sizes', [-1, 2 ** 53, 2n ** 64n], (value) => new ShardPlan([value])],
      ['bytes', [-1, 2 ** 53, 2n ** 64n], (value) => new ShardPlan([1], { bytes: [value] })],
      ['world_size', [0, 2 ** 22 + 1, ...NOT_32_BITS], as('worldSize')],
      ['workers', [0, 2 ** 22 + 1, ...NOT_32_BITS], as('workers')],
      ['seed', [2 ** 53, 2n ** 63n], as('seed')],
      ['epoch', [-1, 2 ** 53, 2n ** 64n], as('epoch')],
      ['epoch', [-1, 2 ** 53, 2n ** 64n], (value) => plan.setEpoch(value)],
      ['rank', [8, ...NOT_32_BITS], (value) => plan.shards(value)],
      ['worker', [4, ...NOT_32_BITS], (value) => plan.shards(0, value)],
      ['rank', [8, ...NOT_32_BITS], (value) => plan.numShards(value)],
      ['shard', [100, ...NOT_32_BITS], (value) => plan.rows(value)],
      ['start', [11, -1, 2n ** 64n], (value) => plan.rows(0, value)],
      ['end', [11, 2, -1, 2n ** 64n], (value) => plan.rows(0, 3, value)],
      ['batch_size', [0, ...NOT_32_BITS], (value) => plan.steps(value)],
      ['holders', NOT_32_BITS, (value) => new ShardPlan([1], { ...NEAR, holders: [[value]] })],
      ['rank_nodes', NOT_32_BITS, (value) => new ShardPlan([1], { ...NEAR, rankNodes: [value] })],
      ['tolerance', NOT_32_BITS, (tolerance) => new ShardPlan([1], { ...NEAR, tolerance })],
    ];
    for (const [field, outside, call] of parameters) {
      for (const value of NOT_WHOLE) refused(() => call(value), wrong(value), field);
      for (const value of outside) refused(() => call(value), 'out-of-range', field);
    }
    for (const [option, field] of [
      ['policy', 'policy'],
      ['workerPolicy', 'worker_policy'],
      ['balanceBy', 'balance_by'],
    ]) {
      refused(() => as(option)('even'), 'unknown-name', field);
      refused(() => as(option)(3), 'wrong-type', field);
    }
    for (const option of ['shuffle', 'reshuffle']) {
      for (const value of [0, 1, 'true', null]) refused(() => as(option)(value), 'wrong-type', option);
    }
    refused(() => plan.loads('rank'), 'unknown-name', 'tier');
    refused(() => plan.loads(), 'missing', 'tier');
    refused(() => plan.loadSummary('ranks', 'rows'), 'unknown-name', 'balance_by');
    refused(() => new ShardPlan(), 'missing', 'sizes');
    refused(() => new ShardPlan([1, 2], { bytes: [1] }), 'contradiction', 'bytes');
    refused(() => as('workerPolicy')('locality-aware'), 'unknown-name', 'worker_policy');
    refused(() => as('policy')('locality-aware'), 'missing', 'holders');
    refused(() => new ShardPlan([1], { ...NEAR, rankNodes: undefined }), 'missing', 'rank_nodes');
    refused(() => new ShardPlan([1], { ...NEAR, holders: undefined }), 'missing', 'holders');
    refused(() => as('holders')([[0], [1]]), 'contradiction', 'holders');
    refused(() => as('rankNodes')([0]), 'contradiction', 'rank_nodes');
    refused(() => as('tolerance')(5), 'contradiction', 'tolerance');
    refused(() => new ShardPlan([1], { ...NEAR, holders: [[]] }), 'missing', 'holders');
    refused(() => new ShardPlan([1], { ...NEAR, holders: [0] }), 'wrong-type', 'holders');
    refused(() => new ShardPlan([1], { ...NEAR, holders: Uint32Array.of(0) }), 'wrong-type', 'holders');
    refused(() => new ShardPlan([1], { Shuffle: true }), 'unknown-name', 'options');
    refused(() => new ShardPlan(new Uint8Array(2 ** 25 + 1)), 'out-of-memory', 'sizes');
    assert.deepEqual(plan.shards(0, 0), before);
    assert.equal(plan.epoch, 0);
  });

  test('a fingerprint of what decides the plan', () => {
    const plan = hundred();
    const before = plan.configFingerprint();
    assert.match(before, /^[0-9a-f]{64}$/);
    assert.equal(hundred().configFingerprint(), before);
    plan.setEpoch(1);
    assert.notEqual(plan.configFingerprint(), before);
    assert.notEqual(new ShardPlan(new Array(100).fill(10), { worldSize: 8 }).configFingerprint(), before);
  });

  test('no shards, and more readers than shards', () => {
    const none = new ShardPlan([], { worldSize: 3 });
    assert.deepEqual([none.shards(2).length, none.verify().ok, none.loadSummary('ranks').imbalance], [0, true, 1]);
    refused(() => none.rows(0), 'out-of-range', 'shard');
    const few = new ShardPlan([0, 5], { worldSize: 2 ** 11, workers: 2 ** 11 });
    assert.deepEqual([few.loads('workers').shards.length, few.loadSummary('workers').members], [2 ** 22, 2 ** 22]);
  });

  test('long lists are the windows that they are read in', () => {
    const plan = new ShardPlan(new Uint8Array(2_500_000).fill(1), { shuffle: true });
    assert.equal(new Set(plan.shards(0)).size, 2_500_000);
    const rows = new ShardPlan([2_500_000], { shuffle: true }).rows(0);
    assert.equal(new Set(rows).size, 2_500_000);
  });

  test('a plan that does not fit is an error, and those that do go on', () => {
    // All plans share this one instance.
    const bindings = componentInstances(limited)();
    const Limited = over(BaseShardPlan, () => new Engine(() => bindings));
    const kept = [];
    const fill = () => {
      for (;;) kept.push(new Limited(new Uint32Array(20_000).fill(3), { shuffle: true }));
    };
    assert.throws(fill, { name: 'SamedealError', kind: 'out-of-memory' });
    assert(kept.length > 5 && kept.length < LIMIT / 80_000);
    for (const plan of kept) {
      assert.equal(plan.numShards(0), 20_000);
      refused(() => plan.shards(1), 'out-of-range', 'rank');
    }
    for (const plan of kept) plan.dispose();
    for (let i = 0; i < 100; i++) new Limited(new Uint32Array(20_000).fill(3)).dispose();
  });

  test('the garbage collector gives memory back', async () => {
    const bindings = componentInstances(limited)();
    const engine = new Engine(() => bindings);
    const Limited = over(BaseShardPlan, () => engine);
    for (let i = 0; i < 100; i++) {
      new Limited(new Uint32Array(20_000).fill(3));
      globalThis.gc();
      await setImmediate();
    }
  });

  test('a plan whose instance is lost is made again', () => {
    let made = 0;
    const instances = componentInstances(compiled);
    const engine = new Engine(() => {
      made += 1;
      const { shards, ...others } = instances();
      const trapping = (raw) => Object.assign(raw, { stepBounds: trap });
      const methods = (raw) => ({ atEpoch: (epoch) => trapping(shards.Plan.prototype.atEpoch.call(raw, epoch)) });
      return { ...others, shards: { ...shards, Plan: overridden(shards.Plan, methods) } };
    });
    const plan = new (over(BaseShardPlan, () => engine))(new Array(50).fill(1), { shuffle: true, worldSize: 2 });
    plan.setEpoch(7);
    const before = plan.shards(1);
    assert.throws(() => plan.steps(3), { message: 'unreachable' });
    assert.deepEqual(plan.shards(1), before);
    assert.equal(made, 2);
  });

  test('a stack that overflows in a call ends the call, and nothing else', () => {
    const plan = new ShardPlan(new Array(500).fill(2), { worldSize: 3, shuffle: true, policy: 'size-aware' });
    const mirror = (epoch) =>
      new ShardPlan(new Array(500).fill(2), { worldSize: 3, shuffle: true, policy: 'size-aware', epoch });
    for (let round = 0; round < 60; round++) {
      const call = [() => plan.setEpoch(round), () => plan.shards(1), () => plan.rows(5), () => plan.verify()][
        round % 4
      ];
      overflow(call);
      assert.deepEqual(plan.shards(2), mirror(plan.epoch).shards(2));
    }
  });

  test('a plan that was disposed of says so', () => {
    const plan = hundred();
    plan[Symbol.dispose ?? Symbol.for('Symbol.dispose')]();
    plan.dispose();
    assert.throws(() => plan.shards(0), { message: 'this plan has been disposed of' });
    assert.throws(() => plan.length, { message: 'this plan has been disposed of' });
  });
});

describe('verifyShards', () => {
  test('overlaps and gaps by name', () => {
    assert.deepEqual(verifyShards(4, [[0, 1], Uint32Array.of(1), [1n, 1]]), {
      ok: false,
      overlaps: [
        { shard: 1, firstReader: 0, otherReader: 1 },
        { shard: 1, firstReader: 0, otherReader: 2 },
        { shard: 1, firstReader: 0, otherReader: 2 },
      ],
      gaps: [{ firstShard: 2, numShards: 2 }],
    });
    assert.deepEqual(verifyShards(0, []), { ok: true, overlaps: [], gaps: [] });
    assert.deepEqual(verifyShards(2 ** 32 - 1, [[5]]).gaps, [
      { firstShard: 0, numShards: 5 },
      { firstShard: 6, numShards: 2 ** 32 - 7 },
    ]);
    assert(verifyShards(2e6, [new Uint32Array(2e6).map((_, i) => i)]).ok);
  });

  test('bad input', () => {
    for (const value of NOT_WHOLE) refused(() => verifyShards(value, []), wrong(value), 'num_shards');
    for (const value of NOT_32_BITS) refused(() => verifyShards(value, []), 'out-of-range', 'num_shards');
    for (const value of [
      undefined,
      null,
      3,
      'x',
      {},
      [3],
      [[0], null],
      ['0'],
      [[0.5]],
      [new DataView(new ArrayBuffer(4))],
    ]) {
      refused(() => verifyShards(3, value), wrong(value), 'assigned');
    }
    for (const value of [[[3]], [[-1]], [[2 ** 32]], [[0], Int32Array.of(-1)]]) {
      refused(() => verifyShards(3, value), 'out-of-range', 'assigned');
    }
  });
});

describe('ChunkStream', () => {
  test('the worked examples', () => {
    assert.deepEqual([...new ChunkStream(1, 2).chunks(0, 5)], [1, 3, 5, 7, 9]);
    for (const reader of [0, 1, 2, 3]) {
      assert.deepEqual(
        [...new ChunkStream(reader, 4, { chunks: 12, order: 'sequential' }).chunks(0, 3)],
        [0, 4, 8].map((c) => c + reader),
      );
    }
  });

  test('without end, the next cycle being the next epoch', () => {
    const stream = new ChunkStream(0, 1, { chunks: 1000, order: 'feistel', seed: 5, epoch: 2n });
    const seen = [];
    for (const chunk of stream) {
      if (seen.push(chunk) === 3000) break;
    }
    assert.deepEqual(Float64Array.from(seen), stream.chunks(0, 3000));
    const next = new ChunkStream(0, 1, { chunks: 1000, order: 'feistel', seed: 5, epoch: 3 });
    assert.deepEqual(stream.chunks(1000n, 1000n), next.chunks(0, 1000));
    const text =
      'ChunkStream.fromRecipe(\'{"order":{"name":"feistel","chunks":1000,"seed":5},"deal":{"readers":1}}\', { epoch: 2 })';
    assert.equal(inspect(stream), text);
    const again = new Function('ChunkStream', `return ${stream}`)(ChunkStream);
    assert.deepEqual([again.recipe, again.chunks(0, 30)], [stream.recipe, stream.chunks(0, 30)]);
    assert.equal(
      new ChunkStream(1, 2).recipe,
      '{"samedeal":1,"order":{"name":"sequential","seed":0},"deal":{"readers":2}}',
    );
    assert.match(new ChunkStream(1, 2, { chunks: 9 }).recipe, /"name":"feistel","chunks":9/);
    stream.dispose();
    assert.throws(() => stream.chunks(0, 1), { message: 'this stream has been disposed of' });
  });

  test('bad input', () => {
    const as = (option) => (value) => new ChunkStream(0, 1, { [option]: value });
    const stream = new ChunkStream(0, 4);
    for (const [field, outside, call] of [
      ['reader', [4, ...NOT_32_BITS], (value) => new ChunkStream(value, 4)],
      ['readers', [0, ...NOT_32_BITS], (value) => new ChunkStream(0, value)],
      ['chunks', [0, -1, 2 ** 53, 2n ** 64n], as('chunks')],
      ['seed', [2 ** 53, 2n ** 63n], as('seed')],
      ['epoch', [-1, 2n ** 64n], as('epoch')],
      ['start', [-1, 2 ** 53, 2n ** 64n], (value) => stream.chunks(value, 1)],
      ['count', [2 ** 20 + 1, ...NOT_32_BITS], (value) => stream.chunks(0, value)],
    ]) {
      for (const value of NOT_WHOLE) refused(() => call(value), wrong(value), field);
      for (const value of outside) refused(() => call(value), 'out-of-range', field);
    }
    refused(() => as('order')('shuffled'), 'unknown-name', 'name');
    refused(() => as('order')(3), 'wrong-type', 'name');
    refused(() => as('order')('feistel'), 'contradiction', 'name');
    refused(() => as('reader')(0), 'unknown-name', 'options');
    assert.deepEqual([...stream.chunks(1, 2)], [4, 8]);
  });
});

test('chunks whose tables are too many at once come one by one', () => {
  // Each chunk of this reader is in another cycle, which needs a table of its own.
  const stream = new ChunkStream(0, 40_000, { chunks: 40_000, order: 'fisher-yates' });
  assert.throws(() => stream.chunks(0, 1024), { field: 'count' });
  const some = [];
  for (const chunk of stream) if (some.push(chunk) === 3) break;
  assert.deepEqual(
    some,
    [0, 1, 2].map((at) => stream.chunks(at, 1)[0]),
  );
});
