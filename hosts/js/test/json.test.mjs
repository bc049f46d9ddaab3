// JSON.stringify of what the package makes, and back.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Batcher, BatchStream, ChunkStream, Mesh, SamedealError, Sampler, ShardPlan } from 'samedeal';

const WIDE = 2n ** 63n - 1n;
const again = (value) => JSON.parse(JSON.stringify(value));

/** No number in JSON is one that a reader would round. */
function exact(value) {
  if (typeof value === 'number') assert(!Number.isInteger(value) || Number.isSafeInteger(value), String(value));
  else if (typeof value === 'object' && value !== null) Object.values(value).forEach(exact);
}

test('batchers', () => {
  const lengths = [3, 1, 4, 1, 5, 9, 2, 6];
  for (const options of [
    { maxTokens: 10 },
    { maxTokens: 2n ** 64n - 1n, seed: -WIDE, epoch: 2n ** 64n - 1n, rank: 1, world: 2 },
    { strategy: 'pack', capacity: 9, tail: 'drop', tooLong: 'drop' },
    { strategy: 'bucket', boundaries: [2n, 4], maxBatchSize: 2 },
    { strategy: 'bucket', quantiles: 3, maxBatchSize: 2, order: 'torch' },
    { maxCost: 1000, counting: 'weighted', quadratic: 1 },
    { maxTokens: 10, world: 2, history: [{ worldSize: 3, steps: 1 }] },
  ]) {
    const batcher = new Batcher(lengths, options);
    const json = again(batcher);
    exact(json);
    assert.deepEqual(json.lengths, lengths);
    assert.equal(json.seed, String(options.seed ?? 0));
    const copy = Batcher.fromJSON(json);
    assert(copy instanceof Batcher);
    assert.deepEqual(copy.config, batcher.config);
    assert.equal(copy.fingerprint(), batcher.fingerprint());
    assert.deepEqual(again(copy), json);
  }
  const moved = new Batcher(lengths, { maxTokens: 10, world: 2 });
  moved.resume(moved.state(1));
  assert.deepEqual([...Batcher.fromJSON(again(moved))], [...moved]);
  assert.throws(() => Batcher.fromJSON({ lengths, budget: 3 }), SamedealError);
  assert.throws(() => Batcher.fromJSON({ maxTokens: '10' }), { field: 'lengths' });
  assert.throws(() => Batcher.fromJSON({ lengths, maxTokens: 'ten' }), { field: 'max-tokens' });
  assert.throws(() => Batcher.fromJSON(null), SamedealError);
});

test('metrics, with their ratios', () => {
  const metrics = new Batcher([3, 1, 4, 1, 5], { maxTokens: 10, world: 2 }).metrics();
  const json = again(metrics);
  exact(json);
  for (const name of [
    'paddingRatio',
    'budgetUtilisation',
    'slowestRankUtilisation',
    'costImbalance',
    'steps',
    'rows',
  ]) {
    assert.equal(json[name], metrics[name], name);
  }
  for (const name of ['tokens', 'padded', 'slowest', 'cost', 'slowestCost']) {
    assert.equal(json[name], String(metrics[name]));
  }
  assert.equal(json.tokens, '14');
  // Costs beyond 2^53 - 1 are bigints, of which JSON has none.
  const options = { maxCost: 2n ** 63n, counting: 'weighted', quadratic: 2 ** 20 };
  const large = new Batcher([2 ** 21], options).metrics();
  assert.equal(typeof large.cost, 'bigint');
  assert.equal(again(large).cost, String(large.cost));
});

test('plans of shards', () => {
  for (const [sizes, options] of [
    [[5, 6, 7], {}],
    [[5, 2 ** 40, 7], { bytes: [1, 2, 2n ** 40n], weight: 'bytes', policy: 'size-aware', seed: -WIDE, epoch: WIDE }],
    [[5, 6, 7], { policy: 'locality-aware', holders: [[0], [1, 0], [1]], rankNodes: [0, 1], world: 2, tolerance: 9 }],
    [[5, 6, 7], { shuffle: true, reshuffle: true, workers: 2, workerPolicy: 'size-aware' }],
    [[], {}],
  ]) {
    const plan = new ShardPlan(sizes, options);
    const json = again(plan);
    exact(json);
    assert.deepEqual(json.sizes, sizes.map(String));
    assert.deepEqual(json.holders, options.holders);
    const copy = ShardPlan.fromJSON(json);
    assert(copy instanceof ShardPlan);
    assert.equal(copy.configFingerprint(), plan.configFingerprint());
    assert.deepEqual(copy.shards(0), plan.shards(0));
    assert.deepEqual(again(copy), json);
  }
  assert.throws(() => ShardPlan.fromJSON({ sizes: ['five'] }), { field: 'sizes', value: '"five" (at index 0)' });
  assert.throws(() => ShardPlan.fromJSON({ sizes: ['5'], size: 3 }), { kind: 'unknown-name' });
});

test('meshes', () => {
  const mesh = new Mesh(8, { pp: 2, dp: 2, tp: 2 }, ['dp', 'pp']);
  const json = again(mesh);
  assert.deepEqual(json, {
    world: 8,
    axes: [
      ['pp', 2],
      ['dp', 2],
      ['tp', 2],
    ],
    divide: ['pp', 'dp'],
  });
  const copy = Mesh.fromJSON(json);
  assert(copy instanceof Mesh);
  for (let rank = 0; rank < 8; rank++) {
    assert.deepEqual([copy.dataRank(rank), copy.coordinates(rank)], [mesh.dataRank(rank), mesh.coordinates(rank)]);
  }
  for (const axes of [undefined, { dp: 8 }, [['dp']], [[3, 8]], ['dp']]) {
    assert.throws(() => Mesh.fromJSON({ ...json, axes }), { kind: 'wrong-type', field: 'axes' });
  }
  const twice = {
    world: 4,
    axes: [
      ['dp', 2],
      ['dp', 4],
    ],
    divide: [],
  };
  assert.throws(() => Mesh.fromJSON(twice), { kind: 'contradiction', field: 'axes', value: 'dp' });
});

test('streams, by their options', () => {
  const chunks = { reader: 1, readers: 4, chunks: '12', order: 'feistel', seed: String(WIDE), epoch: '3' };
  assert.deepEqual(again(new ChunkStream(1, 4, { chunks: 12, order: 'feistel', seed: WIDE, epoch: 3 })), chunks);
  assert.equal('chunks' in again(new ChunkStream(1, 4)), false);
  const stream = again(new BatchStream({ maxTokens: 10n, seed: -WIDE }));
  assert.deepEqual([stream.maxTokens, stream.seed, stream.strategy], ['10', String(-WIDE), 'budget']);
});

test('errors of values that JSON has not', () => {
  assert.throws(
    () => new Sampler(10, { epoch: 2n ** 64n }),
    (error) => {
      assert.equal(again(error).value, String(2n ** 64n));
      return true;
    },
  );
});
