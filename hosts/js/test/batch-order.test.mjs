// Batches of composed and sharded orders, and lengths by the sources of a blend.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Batcher, BatchStream, balance, blend, grown, order, Sampler, sharded, weighted, windows } from 'samedeal';
import { some, WAYS } from './batching.mjs';
import { NO_LIST, NOT_WHOLE, refused, wrong } from './values.mjs';

const range = (count) => Array.from({ length: count }, (_, i) => i);
const sorted = (samples) => [...samples].sort((one, other) => one - other);
/** The samples of all ranks at all steps. */
const samplesOf = (batcher) =>
  range(batcher.numSteps()).flatMap((step) =>
    range(batcher.worldSize).flatMap((rank) => [...batcher.batch(step, rank).samples]),
  );

const plain = order('feistel', { samples: 500, seed: 3 });
const mixed = blend({ web: [400, 3], code: [100, 1] }, { seed: 3, samples: 800 });
/** Orders of the samples 0 to 499. */
const ORDERS = {
  sharded: sharded([200, 0, 300], { lanes: 4, shuffleWindow: 16, seed: 3 }),
  blend: mixed,
  stage: mixed.stage(300, { web: 1, code: 1 }),
  exclude: plain.exclude(range(300)),
  subset: plain.subset([3, 5, 499]),
  skip: plain.skip([{ epoch: 0, start: 10, count: 50 }]),
  copies: plain.copies(3),
  grown: grown(300, [{ epoch: 0, consumed: 100, samples: 500 }], { seed: 3 }),
  windows: windows([200, 300], 8, { seed: 3 }),
  balance: balance(
    range(500).map((i) => i % 2),
    [0.5, 2],
    { seed: 3 },
  ),
  weighted: weighted(
    range(500).map((i) => i % 4),
    { samples: 400, seed: 3 },
  ),
};

for (const [name, made] of Object.entries(ORDERS)) {
  describe(name, () => {
    test('an epoch has the samples of the order, as often as they are there', () => {
      for (const options of Object.values(WAYS)) {
        for (const epoch of [0, 5]) {
          const batcher = new Batcher(some(500), { ...options, order: made, worldSize: 2, epoch, tail: 'keep' });
          assert.deepEqual(sorted(samplesOf(batcher)), sorted(new Sampler(made, { epoch })));
        }
      }
    });

    test('it is made again by its recipe, its JSON, its text and its options', () => {
      const batcher = new Batcher(some(500), { order: made, maxTokens: 400, worldSize: 3, epoch: 2, rank: 1 });
      const lists = made.lists;
      const place = { rank: 1, epoch: 2 };
      const recipe = { ...JSON.parse(made.recipe), deal: { world_size: 3 }, batch: { max_tokens: 400 } };
      for (const other of [
        Batcher.fromRecipe(recipe, some(500), { ...place, lists }),
        Batcher.fromJSON(JSON.parse(JSON.stringify(batcher))),
        new Batcher(some(500), batcher.config),
        new Function('Batcher', `return ${batcher}`)(Batcher),
      ]) {
        assert.equal(other.recipe, batcher.recipe);
        assert.deepEqual([...other], [...batcher]);
        assert.deepEqual([other.rank, other.epoch], [1, 2]);
      }
      const section = Object.keys(lists).length === 0 && JSON.parse(made.recipe).order;
      if (section) {
        assert.equal(new Batcher(some(500), { order: section, maxTokens: 400, worldSize: 3 }).recipe, batcher.recipe);
      }
      assert.equal(typeof batcher.config.order, 'object');
      assert(!('seed' in batcher.config));
    });

    test('a state goes on with other ranks', () => {
      const options = { order: made, maxTokens: 200 };
      const whole = new Sampler(made, { epoch: 1 });
      const first = new Batcher(some(500), { ...options, worldSize: 2, epoch: 1 });
      const taken = first.numSteps() >> 1;
      const seen = range(taken).flatMap((step) => [0, 1].flatMap((rank) => [...first.batch(step, rank).samples]));
      const rest = new Batcher(some(500), { ...options, worldSize: 3 });
      rest.resume(first.state(taken));
      assert.equal(rest.epoch, 1);
      assert.deepEqual(sorted([...seen, ...samplesOf(rest)]), sorted(whole));
    });
  });
}

test('an order by its name is that of the option', () => {
  for (const name of ['feistel', 'torch', 'sequential']) {
    const value = new Batcher(some(100), { order: order(name, { samples: 100, seed: 3 }), maxTokens: 400 });
    const option = new Batcher(some(100), { order: name, seed: 3, maxTokens: 400 });
    assert.equal(value.recipe, option.recipe);
    assert.deepEqual([...value], [...option]);
    assert.deepEqual(value.config, option.config);
    const section = { name, seed: 3 };
    assert.equal(new Batcher(some(100), { order: section, maxTokens: 400 }).recipe, option.recipe);
  }
});

test('a blend that got a stage goes on at the next epoch', () => {
  const options = { maxTokens: 400, worldSize: 2 };
  const before = new Batcher(some(500), { ...options, order: mixed });
  const later = new Batcher(some(500), { ...options, order: mixed.stage(800, [1, 1]) });
  later.resume(before.state(3));
  assert.deepEqual([...later], [...before.batches(3)]);
  const within = new Batcher(some(500), { ...options, order: mixed.stage(700, [1, 1]) });
  refused(() => within.resume(before.state(3)), 'contradiction', 'stages');
  within.resume(before.state(0));
});

describe('lengths by the sources of a blend', () => {
  const web = some(400);
  const code = Array.from(some(100), (length) => 100 - length);
  const joined = [...web, ...code];
  const options = { order: mixed, maxTokens: 400 };
  const same = new Batcher(joined, options);

  test('they are joined in the order of the sources', () => {
    for (const lengths of [
      { web, code },
      { code: code.map(BigInt), web: [...web] },
      new Map([
        ['code', Uint8Array.from(code)],
        ['web', web],
      ]),
    ]) {
      const batcher = new Batcher(lengths, options);
      assert.equal(batcher.lengths, lengths);
      assert.equal(batcher.fingerprint(), same.fingerprint());
      assert.equal(Batcher.fromRecipe(same.recipe, lengths).fingerprint(), same.fingerprint());
      assert.equal(Batcher.fromJSON(JSON.parse(JSON.stringify(batcher))).recipe, same.recipe);
    }
  });

  test('so are those of sources that are orders, and of views of a blend', () => {
    const sizes = range(300).map(() => 1);
    const parts = {
      a: [plain.exclude(range(300)), 2],
      b: [sharded(sizes, { lanes: 2 }), 1],
      'c, 1234567890123456789,': [order('feistel', { samples: 7, seed: 2n ** 60n }), 1],
    };
    const made = blend(parts, { samples: 100 });
    const lengths = { a: some(500), b: some(300), 'c, 1234567890123456789,': some(7) };
    const whole = [...some(500), ...some(300), ...some(7)];
    for (const view of [made, made.skip([{ epoch: 0, start: 3, count: 9 }]).copies(2)]) {
      const batcher = new Batcher(lengths, { order: view, maxTokens: 400 });
      assert.deepEqual(sorted(samplesOf(batcher)), sorted(new Sampler(view)));
      assert.equal(new Batcher(whole, batcher.config).recipe, batcher.recipe);
    }
    // The number of all lengths is right, but the numbers for the sources are not.
    const wrong = { ...lengths, a: some(499), b: some(301) };
    assert.throws(() => new Batcher(wrong, { order: made, maxTokens: 400 }), {
      name: 'SamedealError',
      kind: 'contradiction',
      field: 'lengths',
      value: '499 of the source a',
      allowed: '500, as many as the source has samples',
    });
  });

  test('what does not fit is refused', () => {
    assert.throws(() => new Batcher({ web, text: code }, options), {
      kind: 'unknown-name',
      field: 'lengths',
      value: 'text',
      known: ['web', 'code'],
    });
    assert.throws(() => new Batcher({ web }, options), {
      kind: 'missing',
      field: 'lengths',
      value: '',
      allowed: 'the lengths of each source, those of code too',
    });
    // A source without lengths is told before a wrong number or a wrong type of lengths, in every host.
    for (const wrong of [[1], 3]) refused(() => new Batcher({ web: wrong }, options), 'missing', 'lengths');
    refused(() => new Batcher({ web: code, code: web }, options), 'contradiction', 'lengths');
    refused(() => new Batcher({ web, code: 3 }, options), 'wrong-type', 'lengths');
    assert.throws(() => new Batcher({ web, code: code.with(1, -3) }, options), {
      value: '-3 (at index 1) (of source code)',
    });
    for (const other of ['feistel', plain, plain.copies(2)]) {
      assert.throws(() => new Batcher({ web, code }, { order: other, maxTokens: 400 }), {
        kind: 'contradiction',
        field: 'lengths',
        value: 'web, code',
        allowed: 'a list, or a blend as the order, with the index space joined: only its sources have names',
      });
    }
    const one = blend({ web: [100], code: [100] }, { indexSpace: 'shared' });
    refused(() => new Batcher({ web: code, code }, { order: one, maxTokens: 400 }), 'contradiction', 'lengths');
    for (const text of ['{', 'null', '3']) refused(() => Batcher.fromRecipe(text, { web }), 'wrong-type', 'recipe');
    refused(() => new Batcher(new Map([[3, web]]), options), 'wrong-type', 'source');
    for (const value of NO_LIST) {
      if (Object.prototype.toString.call(value) === '[object Object]') continue;
      refused(() => new Batcher(value, options), wrong(value), 'lengths');
    }
  });
});

test('what is no order of batches is refused', () => {
  const lengths = some(500);
  for (const [options, kind, field] of [
    [{ order: mixed, seed: 3 }, 'contradiction', 'seed'],
    [{ order: { name: 'copies', copies: 2, of: { samples: 500 } }, seed: 0 }, 'contradiction', 'seed'],
    [{ order: order('feistel', { samples: 499 }) }, 'contradiction', 'samples'],
    [{ order: plain.exclude([500]) }, 'out-of-range', 'indices'],
    [{ order: blend({ a: [499] }) }, 'contradiction', 'samples'],
    [{ order: { samples: 500, lane: 2 } }, 'unknown-member', 'order'],
    [{ order: { name: 'copies', copies: 2 } }, 'missing', 'of'],
    [{ order: ['feistel'] }, 'wrong-type', 'order'],
    [{ order: new Map() }, 'wrong-type', 'order'],
    [{ order: () => 'feistel' }, 'wrong-type', 'name'],
    [{ order: 'blend' }, 'missing', 'sources'],
  ]) {
    refused(() => new Batcher(lengths, { maxTokens: 400, ...options }), kind, field);
  }
  for (const value of NOT_WHOLE) {
    const of = { name: 'copies', copies: value, of: { samples: 500 } };
    refused(() => new Batcher(lengths, { maxTokens: 400, order: of }), 'wrong-type', 'copies');
  }
  const { recipe } = new Batcher(some(500), { order: plain.exclude(range(300)), maxTokens: 400 });
  refused(() => Batcher.fromRecipe(recipe, some(500)), 'missing', 'indices');
  refused(() => Batcher.fromRecipe(recipe, some(500), { lists: { indices: range(299) } }), 'contradiction', 'indices');
  const both = { indices: range(300), 'of/indices': [3] };
  refused(() => Batcher.fromRecipe(recipe, some(500), { lists: both }), 'contradiction', 'indices');
  const stored = new Batcher(some(300), { order: sharded(new Array(300).fill(1)), maxTokens: 400 });
  refused(() => Batcher.fromRecipe(stored.recipe, some(300)), 'missing', 'sizes');
  assert.equal(Batcher.fromRecipe(stored.recipe, some(300), { sizes: new Array(300).fill(1) }).recipe, stored.recipe);
  refused(() => new BatchStream({ order: mixed }), 'unknown-name', 'options');
});
