// Recipes of batches: a written recipe gives the same batcher again, and a text that is no recipe is an error.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Batcher, BatchStream, SamedealError, Sampler } from 'samedeal';
import { some, WAYS } from './batching.mjs';
import { refused } from './values.mjs';

for (const [way, options] of Object.entries(WAYS)) {
  test(`${way}: a batcher is made again by its recipe, whatever its rank and epoch`, () => {
    const lengths = some(400);
    const state = new Batcher(lengths, { ...options, worldSize: 3, seed: -(2n ** 63n), epoch: 3 }).state(2);
    const place = { rank: 1, state };
    const batcher = new Batcher(lengths, { ...options, worldSize: 2, seed: -(2n ** 63n), rank: 1 });
    batcher.resume(state);
    assert.equal(JSON.parse(batcher.recipe).batch.lengths.length, 64);
    const again = Batcher.fromRecipe(batcher.recipe, lengths, place);
    assert.deepEqual([...again], [...batcher]);
    assert.deepEqual(again.config, batcher.config);
    assert.deepEqual([again.worldSize, again.rank, again.epoch, again.state(0)], [2, 1, 3, batcher.state(0)]);
    const other = Batcher.fromRecipe(batcher.recipe, lengths);
    assert.deepEqual([other.rank, other.epoch], [0, 0]);
    for (const { recipe, recipeFingerprint } of [again, other]) {
      assert.deepEqual([recipe, recipeFingerprint.call(other)], [batcher.recipe, batcher.recipeFingerprint()]);
    }
    refused(() => Batcher.fromRecipe(batcher.recipe), 'missing', 'lengths');
    refused(() => Batcher.fromRecipe(batcher.recipe, some(400).reverse()), 'contradiction', 'lengths');
  });
}

test('a recipe is text in one line, the same whichever way it was said', () => {
  const text =
    '{"samedeal":1,"order":{"name":"feistel","samples":3,"seed":"9007199254740993"},"deal":{"world_size":2},' +
    '"batch":{"strategy":"budget","counting":"padded","max_tokens":9,"batch_size_multiple":1,' +
    '"too_long":"error","tail":"even-split","lengths":[4,5,6]}}';
  const said = { order: { seed: 2n ** 53n + 1n }, deal: { world_size: 2 }, batch: { max_tokens: 9n } };
  const inline = { ...said, batch: { max_tokens: 9, lengths: Uint32Array.of(4, 5, 6), tail: undefined } };
  for (const batcher of [
    new Batcher([4, 5, 6], { seed: 2n ** 53n + 1n, worldSize: 2, maxTokens: 9 }),
    Batcher.fromRecipe(said, [4, 5, 6]),
    Batcher.fromRecipe(inline),
    Batcher.fromRecipe(inline, [4n, 5, 6]),
    Batcher.fromRecipe(text),
    Batcher.fromRecipe(` ${text}\n`, Uint8Array.of(4, 5, 6)),
  ]) {
    assert.equal(batcher.recipe, text);
    assert.equal(batcher.metrics().tokens, 15);
    assert.equal(batcher.config.seed, 2n ** 53n + 1n);
    const made = new Function('Batcher', `return ${batcher}`)(Batcher);
    assert.equal(made.recipe, text);
    batcher.dispose();
  }
});

test('boundaries are named or hashed', () => {
  const boundaries = Array.from({ length: 300 }, (_, i) => i);
  const few = new Batcher(some(50), { strategy: 'bucket', boundaries: boundaries.slice(0, 256) });
  assert.equal(Batcher.fromRecipe(few.recipe, some(50)).fingerprint(), few.fingerprint());
  const many = new Batcher(some(50), { strategy: 'bucket', boundaries });
  assert.equal(typeof JSON.parse(many.recipe).batch.boundaries, 'string');
  assert.deepEqual(many.config.boundaries, boundaries);
  refused(() => Batcher.fromRecipe(many.recipe, some(50)), 'missing', 'boundaries');
  refused(() => Batcher.fromRecipe(many.recipe, some(50), { boundaries: [3] }), 'contradiction', 'boundaries');
  const again = Batcher.fromRecipe(many.recipe, some(50), { boundaries: BigUint64Array.from(boundaries, BigInt) });
  assert.deepEqual([again.fingerprint(), again.recipe], [many.fingerprint(), many.recipe]);
  const stream = BatchStream.fromRecipe({ batch: { strategy: 'bucket' } }, { boundaries, rank: 0 });
  assert.deepEqual(stream.config.boundaries, boundaries);
});

test('a recipe stays, and a state names what differs from it', () => {
  const batcher = new Batcher(some(500), { maxTokens: 300, worldSize: 2 });
  const { recipe } = batcher;
  batcher.setEpoch(5);
  batcher.resume(batcher.state(3));
  assert.equal(batcher.recipe, recipe);
  const state = JSON.parse(batcher.state(0));
  const { samedeal, deal, ...sections } = JSON.parse(recipe);
  assert.deepEqual(state.recipe, sections);
  for (const [options, field] of [
    [{ maxTokens: 301 }, 'max_tokens'],
    [{ maxTokens: 300, tail: 'drop' }, 'tail'],
    [{ maxTokens: 300, batchWindow: 400 }, 'batch_window'],
    [{ maxTokens: 300, counting: 'unpadded' }, 'counting'],
  ]) {
    refused(() => new Batcher(some(500), options).resume(batcher.state(0)), 'contradiction', field);
  }
});

test('what JSON cannot carry is refused by its name', () => {
  const circle = { batch: {} };
  circle.batch.order = circle;
  for (const [recipe, kind, field] of [
    [circle, 'wrong-type', 'recipe'],
    [{ batch: { max_tokens: Number.NaN } }, 'wrong-type', 'max_tokens'],
    [{ batch: { max_tokens: 2 ** 53 } }, 'out-of-range', 'max_tokens'],
    [{ batch: { max_tokens: 2n ** 64n } }, 'out-of-range', 'max_tokens'],
    [{ batch: { max_tokens: () => 9 } }, 'wrong-type', 'max_tokens'],
    [{ batch: new Map([['max_tokens', 9]]) }, 'wrong-type', 'batch'],
    [{ order: { name: Symbol('torch') }, batch: { max_tokens: 9 } }, 'wrong-type', 'name'],
    [{ batch: { strategy: 'bucket', boundaries: [3, undefined] } }, 'missing', 'boundaries'],
    [{ batch: { strategy: 'bucket', boundaries: new Uint8Array(2 ** 23 + 1) } }, 'out-of-range', 'recipe'],
    [{ batch: { max_tokens: 9, maxTokens: 9 } }, 'unknown-member', 'batch'],
    [{ order: { samples: 2 }, batch: { max_tokens: 9 } }, 'contradiction', 'samples'],
    [{ deal: { remainder: 'pad' }, batch: { max_tokens: 9 } }, 'contradiction', 'remainder'],
    [null, 'wrong-type', 'recipe'],
    ['{"batch":{}', 'wrong-type', 'recipe'],
  ]) {
    refused(() => Batcher.fromRecipe(recipe, [3]), kind, field);
  }
  // A text that begins with a zero byte is no number, even if digits follow it.
  refused(() => Batcher.fromRecipe({ batch: { max_tokens: '\u00009' } }, [3]), 'wrong-type', 'max_tokens');
  for (const options of [{ rank: 1 }, { epoch: -1 }, { state: '3' }, { worldSize: 2 }, { boundaries: [3] }]) {
    assert.throws(() => Batcher.fromRecipe({ batch: { max_tokens: 9 } }, [3], options), SamedealError);
  }
});

test('recipes of samplers and of batches are told apart', () => {
  const batcher = new Batcher([3], { maxTokens: 9 });
  assert.throws(() => Sampler.fromRecipe(batcher.recipe), { name: 'SamedealError', field: 'batch' });
  refused(() => Batcher.fromRecipe(new Sampler(1).recipe, [3]), 'contradiction', 'remainder');
});
