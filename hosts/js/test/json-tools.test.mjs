// Texts that passed through JSON.parse and JSON.stringify, which round numbers beyond 2^53 - 1: they give the same
// samples, or an error.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Batcher, blend, ChunkStream, order, Reading, Sampler, Schedule, ShardPlan, Split } from 'samedeal';

const tool = (text) => JSON.stringify(JSON.parse(text), null, 2);
const SEEDS = [0, -7, 2 ** 53 - 1, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)];

test('recipes and states survive', () => {
  for (const seed of SEEDS) {
    const sources = {
      web: [400, 3],
      own: [order('feistel', { samples: 50, seed })],
      more: [blend({ a: [3], b: [4] })],
    };
    const mixed = blend(sources, { samples: 300, seed });
    for (const of of [order('feistel', { samples: 90, seed }).copies(2), mixed]) {
      const sampler = new Sampler(of, { worldSize: 2, rank: 1 });
      const again = Sampler.fromRecipe(tool(sampler.recipe), { rank: 1 });
      assert.deepEqual([again.recipe, again.recipeFingerprint()], [sampler.recipe, sampler.recipeFingerprint()]);
      again.resume(tool(sampler.state(8)));
      assert.deepEqual([...again], [...sampler].slice(8));
      assert.equal(Sampler.fromRecipe(JSON.parse(sampler.recipe)).recipe, sampler.recipe);
    }
    const made = [
      new Schedule(100, 4, { seed, epochs: 3 }),
      new ShardPlan([40, 50, 60], { worldSize: 2, seed }),
      new ChunkStream(0, 2, { chunks: 9, seed }),
      new Reading([40, 50, 60], { seed }),
      new Reading([40, 50, 60], { seed, deal: 'shards' }),
      new Split({ test: 1, training: 4 }, { seed }),
    ];
    for (const own of made) {
      assert.equal(own.constructor.fromRecipe(tool(own.recipe)).recipe, own.recipe);
    }
    const batcher = new Batcher([9, 8, 7, 6, 5], { maxTokens: 2n ** 64n - 1n, seed });
    assert.equal(Batcher.fromRecipe(tool(batcher.recipe), [9, 8, 7, 6, 5]).recipe, batcher.recipe);
  }
});

test('a number that may be rounded is refused', () => {
  const text = '{"order":{"samples":10,"seed":9007199254740993}}';
  for (const rounded of [text, tool(text)]) {
    assert.throws(() => Sampler.fromRecipe(rounded), { kind: 'out-of-range', field: 'seed', message: /in quotes/ });
  }
  const sampler = new Sampler(10, { seed: 2n ** 53n + 1n });
  const state = sampler.state(3).replace('"9007199254740993"', '9007199254740993');
  assert.throws(() => sampler.resume(state), { kind: 'wrong-type', field: 'state', message: /in quotes/ });
});

test('a schedule has the steps of its epochs', () => {
  assert.equal(new Schedule(1003, 64, { epochs: 1 }).numSteps, 15);
  assert.equal(new Schedule(1003, 64, { epochs: 2 }).numSteps, 31);
  assert.throws(() => new Schedule(1003, 64, { epochs: 1 }).indices(0, 16), { kind: 'out-of-range', field: 'count' });
  assert.throws(() => new Schedule(1003, 64, { epochs: 0 }), { kind: 'out-of-range', field: 'epochs' });
});

test('a blend of many sources is saved and resumed', () => {
  const names = Array.from({ length: 10_600 }, (_, n) => [`source ${n}`, [(n % 7) + 1, 1]]);
  const [sampler, resumed] = [0, 1].map(() => new Sampler(blend(new Map(names))));
  resumed.resume(sampler.state(1000));
  assert.deepEqual([...resumed.indices(0, 9)], [...sampler.indices(1000, 1009)]);
});
