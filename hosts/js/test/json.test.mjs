// Objects of the package through JSON.stringify and back.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Batcher, BatchStream, ChunkStream, Mesh, SamedealError, Sampler, ShardPlan } from 'samedeal';
import { wrong } from './values.mjs';

const WIDE = 2n ** 63n - 1n;
const again = (value) => JSON.parse(JSON.stringify(value));

/** Checks that a JSON reader would round no number of a value. */
function exact(value) {
  if (typeof value === 'number') assert(!Number.isInteger(value) || Number.isSafeInteger(value), String(value));
  else if (typeof value === 'object' && value !== null) Object.values(value).forEach(exact);
}

test('batchers', () => {
  const lengths = [3, 1, 4, 1, 5, 9, 2, 6];
  for (const options of [
    { maxTokens: 10 },
    { maxTokens: 2n ** 64n - 1n, seed: -WIDE, epoch: 2n ** 64n - 1n, rank: 1, worldSize: 2 },
    { strategy: 'pack', capacity: 9, tail: 'drop', tooLong: 'drop' },
    { strategy: 'bucket', boundaries: [2n, 4], maxBatchSize: 2 },
    { strategy: 'bucket', quantiles: 3, maxBatchSize: 2, order: 'torch' },
    { maxCost: 1000, counting: 'weighted', quadratic: 1 },
  ]) {
    const batcher = new Batcher(lengths, options);
    const json = again(batcher);
    exact(json);
    assert.deepEqual(json.lengths, lengths);
    assert.equal(json.epoch, String(options.epoch ?? 0));
    const copy = Batcher.fromJSON(json);
    assert(copy instanceof Batcher);
    assert.deepEqual(copy.config, batcher.config);
    assert.equal(copy.fingerprint(), batcher.fingerprint());
    assert.deepEqual(again(copy), json);
  }
  const moved = new Batcher(lengths, { maxTokens: 10, worldSize: 2 });
  moved.resume(moved.state(1));
  assert.deepEqual([...Batcher.fromJSON(again(moved))], [...moved]);
  const recipe = '{"batch":{"max_tokens":10}}';
  assert.throws(() => Batcher.fromJSON({ recipe, lengths, budget: 3 }), { kind: 'unknown-name', field: 'options' });
  assert.throws(() => Batcher.fromJSON({ recipe }), { field: 'lengths' });
  assert.throws(() => Batcher.fromJSON({ lengths }), { field: 'recipe' });
  assert.throws(() => Batcher.fromJSON(null), SamedealError);
});

test('metrics, with their ratios', () => {
  const metrics = new Batcher([3, 1, 4, 1, 5], { maxTokens: 10, worldSize: 2 }).metrics();
  const json = again(metrics);
  exact(json);
  for (const name of [
    'paddingRatio',
    'budgetUtilization',
    'slowestRankUtilization',
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
  // Costs beyond 2^53 - 1 are bigints, which JSON does not have.
  const options = { maxCost: 2n ** 63n, counting: 'weighted', quadratic: 2 ** 20 };
  const large = new Batcher([2 ** 21], options).metrics();
  assert.equal(typeof large.cost, 'bigint');
  assert.equal(again(large).cost, String(large.cost));
});

test('plans of shards', () => {
  for (const [sizes, options] of [
    [[5, 6, 7], {}],
    [
      [5, 2 ** 40, 7],
      { bytes: [1, 2, 2n ** 40n], balanceBy: 'bytes', policy: 'round-robin', seed: -WIDE, epoch: WIDE },
    ],
    [
      [5, 6, 7],
      { policy: 'locality-aware', holders: [[0], [1, 0], [1]], rankNodes: [0, 1], worldSize: 2, tolerance: 9 },
    ],
    [[5, 6, 7], { shuffle: false, reshuffle: true, workers: 2, workerPolicy: 'round-robin' }],
    [[], {}],
  ]) {
    const plan = new ShardPlan(sizes, options);
    const json = again(plan);
    exact(json);
    assert.deepEqual(json.sizes, sizes);
    assert.deepEqual(json.holders, options.holders?.flat());
    const copy = ShardPlan.fromJSON(json);
    assert(copy instanceof ShardPlan);
    assert.equal(copy.configFingerprint(), plan.configFingerprint());
    assert.deepEqual(copy.shards(0), plan.shards(0));
    assert.deepEqual(again(copy), json);
  }
  const recipe = '{"shards":{}}';
  assert.throws(() => ShardPlan.fromJSON({ recipe, sizes: ['five'] }), {
    field: 'sizes',
    value: '"five" (at index 0)',
  });
  assert.throws(() => ShardPlan.fromJSON({ recipe, sizes: [5], size: 3 }), { kind: 'unknown-name' });
});

test('meshes', () => {
  const mesh = new Mesh(8, { pp: 2, dp: 2, tp: 2 }, ['dp', 'pp']);
  const json = again(mesh);
  assert.deepEqual(json, {
    worldSize: 8,
    axes: [
      ['pp', 2],
      ['dp', 2],
      ['tp', 2],
    ],
    shard: ['pp', 'dp'],
  });
  const copy = Mesh.fromJSON(json);
  assert(copy instanceof Mesh);
  for (let rank = 0; rank < 8; rank++) {
    assert.deepEqual([copy.dataRank(rank), copy.coordinates(rank)], [mesh.dataRank(rank), mesh.coordinates(rank)]);
  }
  for (const axes of [undefined, { dp: 8 }, [['dp']], [[3, 8]], ['dp']]) {
    assert.throws(() => Mesh.fromJSON({ ...json, axes }), { kind: wrong(axes), field: 'axes' });
  }
  const twice = {
    worldSize: 4,
    axes: [
      ['dp', 2],
      ['dp', 4],
    ],
    shard: [],
  };
  assert.throws(() => Mesh.fromJSON(twice), { kind: 'contradiction', field: 'axes', value: 'dp' });
});

test('streams', () => {
  const stream = new ChunkStream(1, 4, { chunks: 12, seed: WIDE, epoch: 3 });
  const json = again(stream);
  exact(json);
  assert.deepEqual([json.reader, json.epoch], [1, '3']);
  const copy = ChunkStream.fromJSON(json);
  assert.deepEqual([copy.recipe, copy.chunks(0, 30)], [stream.recipe, stream.chunks(0, 30)]);
  const batches = new BatchStream({ maxTokens: 10n, seed: -WIDE, epoch: 2, rank: 1, worldSize: 2 });
  const { recipe, ...place } = again(batches);
  assert.deepEqual(place, { epoch: '2', rank: 1 });
  assert.equal(BatchStream.fromRecipe(recipe, { rank: 1 }).recipe, batches.recipe);
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
