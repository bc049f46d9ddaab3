// Recipes: a written recipe gives the same sampler again, and a text that is no recipe is an error.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as node from '../dist/index.js';
import { entries } from './entries.mjs';

const SIZES = Array.from({ length: 300 }, (_, shard) => shard % 9);

for (const [entry, { Sampler, SamedealError }] of Object.entries(entries)) {
  test(`${entry}: a sampler is made again by its recipe`, () => {
    for (const order of node.plainOrders()) {
      const options = { order, seed: -3, worldSize: 3, remainder: 'uneven', layout: 'contiguous' };
      const sampler = new Sampler(101, { ...options, rank: 2, epoch: 5 });
      for (const recipe of [sampler.recipe, JSON.parse(sampler.recipe)]) {
        const again = Sampler.fromRecipe(recipe, { rank: 2, epoch: 5 });
        assert.deepEqual([again.rank, again.epoch], [2, 5]);
        assert.deepEqual(again.indices(), sampler.indices());
        assert.equal(again.recipe, sampler.recipe);
        assert.equal(again.recipeFingerprint(), sampler.recipeFingerprint());
      }
    }
  });

  test(`${entry}: what is not said has its default, and numbers may be of any kind`, () => {
    const recipe = { order: { samples: 10n, seed: -(2n ** 63n) }, deal: { world_size: 4 } };
    assert.equal(
      Sampler.fromRecipe(recipe, { rank: 3 }).recipe,
      '{"samedeal":1,"order":{"name":"feistel","samples":10,"seed":"-9223372036854775808"},' +
        '"deal":{"world_size":4,"remainder":"pad","layout":"strided"}}',
    );
    const sharded = { order: { sizes: Uint32Array.of(3, 4), lanes: 2 } };
    assert.equal(Sampler.fromRecipe(sharded).datasetSize, 7);
  });

  test(`${entry}: shards are named or hashed`, () => {
    const few = Sampler.sharded(SIZES.slice(0, 256), { lanes: 4, shuffleWindow: 8, worldSize: 2 });
    assert.equal(Sampler.fromRecipe(few.recipe).recipe, few.recipe);
    const many = Sampler.sharded(SIZES, { lanes: 4, shuffleWindow: 8, worldSize: 2 });
    assert.equal(typeof JSON.parse(many.recipe).order.sizes, 'string');
    assert.throws(() => Sampler.fromRecipe(many.recipe), { kind: 'missing', field: 'sizes' });
    assert.equal(Sampler.fromRecipe(many.recipe, { sizes: SIZES }).recipe, many.recipe);
    assert.throws(() => Sampler.fromRecipe(many.recipe, { sizes: SIZES.slice(1) }), {
      kind: 'contradiction',
      field: 'sizes',
    });
  });

  test(`${entry}: what is no recipe is refused`, () => {
    const circle = {};
    circle.order = circle;
    for (const [recipe, kind, field] of [
      ['', 'wrong-type', 'recipe'],
      [null, 'wrong-type', 'recipe'],
      [undefined, 'missing', 'recipe'],
      [7, 'wrong-type', 'recipe'],
      [[{ order: { samples: 7 } }], 'wrong-type', 'recipe'],
      [circle, 'wrong-type', 'recipe'],
      [{ order: { samples: 7.5 } }, 'wrong-type', 'samples'],
      [{ order: { samples: '7' } }, 'wrong-type', 'samples'],
      [{ order: { samples: Number.NaN } }, 'wrong-type', 'samples'],
      [{ order: { samples: 7, sed: 1 } }, 'unknown-member', 'order'],
      [{ order: { samples: 7 }, deal: { world_size: 0 } }, 'out-of-range', 'world_size'],
      [{ order: { samples: 7, lanes: 1 } }, 'contradiction', 'lanes'],
      [{}, 'missing', 'order'],
      [`{"order":{"samples":7}}${' '.repeat(2 ** 24)}`, 'out-of-range', 'recipe'],
    ]) {
      const refused = (error) => error instanceof SamedealError && error.kind === kind && error.field === field;
      assert.throws(() => Sampler.fromRecipe(recipe), refused, String(recipe).slice(0, 40));
    }
    assert.throws(() => Sampler.fromRecipe({ order: { samples: 10 } }, { sizes: [5, 5] }), { kind: 'contradiction' });
    for (const options of [{ rank: 1 }, { rank: -1 }, { epoch: -1 }, { sizes: [1] }]) {
      assert.throws(() => Sampler.fromRecipe({ order: { samples: 7, name: 'feistel' } }, options), SamedealError);
    }
    assert.throws(() => Sampler.fromRecipe({ order: { samples: 7 } }, { worldSize: 2 }), SamedealError);
  });
}

test('a section that is no object is a typed error in every class', async () => {
  const samedeal = await import('samedeal');
  const { Batcher, blend, ChunkStream, Reading, Sampler, Schedule, ShardPlan, Split } = samedeal;
  for (const own of [null, 3, 'x', [1]]) {
    for (const section of ['order', 'shards', 'deal', 'batch', 'steps', 'split']) {
      for (const kind of [Batcher, ChunkStream, Reading, Sampler, Schedule, ShardPlan, Split]) {
        assert.throws(() => kind.fromRecipe({ [section]: own }), { name: 'SamedealError' });
      }
    }
  }
  // No method of a member is called, even if it has the name of a standard method.
  const odd = { toString: 4, valueOf: 5 };
  for (const members of [{ world_size: odd }, { workers: odd }]) {
    for (const kind of [Reading, ShardPlan, Sampler, Batcher]) {
      const recipe = { order: { sizes: [3], lanes: odd }, batch: { max_tokens: 9, quantiles: odd }, deal: members };
      assert.throws(() => kind.fromRecipe(recipe, kind === Batcher ? [3] : {}), { name: 'SamedealError' });
    }
  }
  assert.throws(() => new Sampler(blend({ a: [3, 1] }), { worldSize: odd }), { name: 'SamedealError' });
  assert.throws(() => Reading.fromState('{"samedeal":1,"kind":"reading","order":null}'), { name: 'SamedealError' });
});

test('texts may have escapes, as writers of JSON make them', async () => {
  const { blend, Sampler, Split } = await import('samedeal');
  // Python's json.dumps writes this text.
  const split = Split.fromRecipe('{"split": {"parts": [{"name": "M\\u00fcnchen \\ud83c\\udf0d", "weight": 1}]}}');
  assert.deepEqual(split.parts, ['München 🌍']);
  assert.throws(() => Split.fromRecipe('{"split": {"parts": [{"name": "\\ud83c", "weight": 1}]}}'), { field: 'name' });

  const name = 'C:\\data "deal":{} \n';
  const sampler = new Sampler(blend({ [name]: [9, 1] }), { worldSize: 3 });
  assert.deepEqual(sampler.sources, [name]);
  assert.equal(Sampler.fromRecipe(sampler.recipe).recipe, sampler.recipe);
  const { worldSize } = new Sampler(0, sampler.whole);
  assert.equal(worldSize, 1);
  const escaped = sampler.recipe.replace('"deal":{', '"d\\u0065al":{');
  assert.equal(new Sampler(0, Sampler.fromRecipe(escaped).whole).worldSize, 1);
});
