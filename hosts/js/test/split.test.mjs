// Splits: the part of each sample. The golden cases have the expected numbers.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { order, Sampler, Split } from 'samedeal';
import { componentInstances } from '../dist/engine/component.js';
import { Engine, over } from '../dist/engine.js';
import { BaseSplit } from '../dist/split/split.js';
import { compiled, limited, overridden, trap } from './limited.mjs';
import { NOT_WHOLE, overflow, refused, wrong } from './values.mjs';

const PARTS = { test: 5, validation: 15, training: 80 };
const range = (count) => Array.from({ length: count }, (_, i) => i);

describe('exact sizes among keys', () => {
  const names = Array.from({ length: 4000 }, (_, i) => `${i % 3000}.jpg`);
  const sizes = Split.ofSizes({ test: 500, validation: 250 }, { seed: 7 });
  const split = sizes.among(names, 'training');
  const counts = (own) =>
    own.parts.map((part) => new Set([...own.indicesOfKeys(part, names)].map((i) => names[i])).size);

  test('each part has its size, in any order of the keys', () => {
    assert.deepEqual(counts(split), [500, 250, 2250]);
    assert.equal(sizes.among(new Set(names).values(), 'training').recipe, split.recipe);
    assert.equal(sizes.among(names.toReversed(), 'training').recipe, split.recipe);
    assert.deepEqual(sizes.among(names).parts, ['test', 'validation', 'rest']);
    const larger = Split.ofSizes({ test: 600, validation: 250 }, { seed: 7 }).among(names, 'training');
    const [few, many] = [split, larger].map((own) => own.indicesOfKeys('test', names));
    assert([...few].every((at) => many.includes(at)) && many.length > few.length);
  });

  test('keys are numbers, too', () => {
    const exact = Split.ofSizes({ test: 1000 }).among(range(1_200_000));
    assert.equal(exact.indices('test', 1_200_000).length, 1000);
    assert.equal(
      Split.ofSizes({ test: 1000 }).among(Float64Array.from(range(1_200_000)).reverse()).recipe,
      exact.recipe,
    );
    assert.deepEqual([...Split.ofSizes({ a: 2 }).among([1n, 2, 2n]).partOf([1, 2])], [0, 0]);
  });

  test('what is refused', () => {
    refused(() => sizes.among(['a', 'b']), 'out-of-range', 'size');
    refused(() => split.among(names), 'contradiction', 'weights');
    refused(() => sizes.among(names, 'test'), 'contradiction', 'name');
    refused(() => sizes.among(names, 3), 'wrong-type', 'rest');
    refused(() => Split.ofSizes({ a: 1 }).among(['k4560557', 'k125374070']), 'contradiction', 'size');
    for (const keys of ['abc', 3, null, {}, ['a', 1]]) refused(() => sizes.among(keys), 'wrong-type', 'keys');
    refused(() => sizes.among(), 'missing', 'keys');
    refused(() => sizes.among([1, 'a']), 'wrong-type', 'ids');
    refused(() => sizes.among([1, 2 ** 53 - 1]), 'out-of-range', 'ids');
  });
});

describe('by weight', () => {
  const split = new Split(PARTS, { seed: 7 });

  test('every sample is in one part, whichever way it is asked', () => {
    assert.deepEqual(split.parts, ['test', 'validation', 'training']);
    const parts = split.partOf(range(10_000));
    assert(parts instanceof Uint32Array);
    const counts = [0, 0, 0];
    for (const part of parts) counts[part] += 1;
    for (const [part, weight] of [5, 15, 80].entries()) {
      assert(Math.abs(counts[part] - 100 * weight) < 200, `${counts}`);
      const own = range(10_000).filter((sample) => parts[sample] === part);
      assert.deepEqual(split.indices(part, 10_000), Uint32Array.from(own));
      assert.deepEqual(split.indices(split.parts[part], 10_000n), Uint32Array.from(own));
      const others = range(10_000).filter((sample) => parts[sample] !== part);
      assert.deepEqual(split.others(part, 10_000), Uint32Array.from(others));
    }
    assert.equal(split.nameOf(17), split.parts[parts[17]]);
  });

  test('data that are added change nothing', () => {
    const [few, many] = [10_000, 12_345].map((samples) => [...split.indices('test', samples)]);
    assert.deepEqual(
      many.filter((sample) => sample < 10_000),
      few,
    );
    assert(many.length > few.length);
  });

  test('weight that goes from a part to the one before moves samples there alone', () => {
    const more = new Split({ test: 5, validation: 25, training: 70 }, { seed: 7 });
    const [before, after] = [split, more].map((each) => each.partOf(range(20_000)));
    let moved = 0;
    for (const [sample, part] of before.entries()) {
      if (after[sample] === part) continue;
      assert.deepEqual([part, after[sample]], [2, 1], `sample ${sample}`);
      moved += 1;
    }
    assert(moved > 1500 && moved < 2500);
  });

  test('long lists are the windows that they are read in', () => {
    const samples = 2_500_000;
    const parts = split.partOf(Float64Array.from({ length: samples }, (_, i) => i));
    const [test, others] = [split.indices('test', samples), split.others('test', samples)];
    assert.equal(test.length + others.length, samples);
    assert(test.every((sample) => parts[sample] === 0) && others.every((sample) => parts[sample] !== 0));
    assert(test.every((sample, i) => i === 0 || sample > test[i - 1]));
  });

  test('ids may have 53 bits, and come in any list', () => {
    const ids = [0, 2 ** 40, 2 ** 53 - 2];
    const parts = split.partOf(ids);
    assert.deepEqual(split.partOf(ids.map(BigInt)), parts);
    assert.deepEqual(split.partOf(Float64Array.from(ids)), parts);
    assert.deepEqual(split.partOf([]), new Uint32Array(0));
    refused(() => split.partOf([3, 2 ** 53 - 1]), 'out-of-range', 'ids');
  });

  test('texts: each has one part, wherever it stands', () => {
    const keys = range(3000).map((i) => `patient-${i}-\u00e9\u{1f600}`);
    const parts = split.partOfKeys(keys);
    assert(parts instanceof Uint32Array);
    assert.deepEqual(split.partOfKeys(keys.toReversed()), parts.toReversed());
    for (const [number, name] of split.parts.entries()) {
      const own = [...parts.keys()].filter((i) => parts[i] === number);
      assert.deepEqual([...split.indicesOfKeys(name, keys)], own);
      assert.deepEqual(split.indicesOfKeys(number, keys), Uint32Array.from(own));
    }
    refused(() => split.indicesOfKeys('none', keys), 'unknown-name', 'part');
    refused(() => split.indicesOfKeys(99, keys), 'out-of-range', 'part');
    assert(new Set(parts).size === 3);
    assert.equal(split.nameOf(keys[17]), split.parts[parts[17]]);
    assert.deepEqual(split.partOfKeys(['', 'x'.repeat(5e6), 'y'.repeat(5e6), '', '']).length, 5);
    assert.deepEqual(split.partOfKeys([]), new Uint32Array(0));
    assert.deepEqual(split.partOfKeys(new Array(2 ** 20 + 5).fill('a')).at(-1), split.partOfKeys(['a'])[0]);
  });

  test('an order of a part', () => {
    const training = order('feistel', { samples: 1000, seed: 1 }).subset(split.indices('training', 1000));
    assert.deepEqual(
      [...new Sampler(training)].sort((a, b) => a - b),
      [...split.indices('training', 1000)],
    );
  });
});

describe('by size', () => {
  const split = Split.ofSizes(
    new Map([
      ['held', 100n],
      ['rest', 900],
    ]),
    { seed: -3n },
  );

  test('parts have exactly their sizes', () => {
    const [held, rest] = [split.indices('held'), split.indices('rest')];
    assert.deepEqual([held.length, rest.length], [100, 900]);
    assert.deepEqual(split.others('held'), rest);
    assert.deepEqual(
      [...held, ...rest].sort((a, b) => a - b),
      range(1000),
    );
    assert.deepEqual(
      split.indices(0, 500),
      held.filter((sample) => sample < 500),
    );
  });

  test('there are no other ids, and texts have none', () => {
    refused(() => split.partOf([1000]), 'out-of-range', 'ids');
    refused(() => split.indices('held', 1001), 'out-of-range', 'samples');
    refused(() => split.others('held', 1001), 'out-of-range', 'samples');
    refused(() => split.partOfKeys(['a']), 'contradiction', 'sizes');
    refused(() => split.partOfKeys([]), 'contradiction', 'sizes');
  });
});

test('folds: each sample is validated once', () => {
  const folds = Split.folds(5, { seed: 2 });
  assert.deepEqual(folds.parts, ['0', '1', '2', '3', '4']);
  const seen = [];
  for (const fold of range(5)) {
    const [own, others] = [folds.indices(fold, 1000), folds.others(fold, 1000)];
    assert.deepEqual(
      [...own, ...others].sort((a, b) => a - b),
      range(1000),
    );
    assert.deepEqual(folds.indices(String(fold), 1000), own);
    seen.push(...own);
  }
  assert.deepEqual(
    seen.sort((a, b) => a - b),
    range(1000),
  );
  refused(() => Split.folds(0), 'out-of-range', 'folds');
  refused(() => Split.folds(2 ** 16 + 1), 'out-of-range', 'folds');
  for (const value of NOT_WHOLE) refused(() => Split.folds(value), wrong(value), 'folds');
});

test('a recipe makes an equal split', () => {
  const split = new Split(PARTS, { seed: 2n ** 63n - 1n });
  const text =
    '{"samedeal":1,"split":{"seed":"9223372036854775807","parts":[{"name":"test","weight":5},' +
    '{"name":"validation","weight":15},{"name":"training","weight":80}]}}';
  assert.equal(split.recipe, text);
  const said = {
    split: { seed: 2n ** 63n - 1n, parts: Object.entries(PARTS).map(([name, weight]) => ({ name, weight })) },
  };
  for (const other of [
    Split.fromRecipe(text),
    Split.fromRecipe(said),
    Split.fromJSON(JSON.parse(JSON.stringify(split))),
  ]) {
    assert.deepEqual([other.recipe, other.recipeFingerprint()], [text, split.recipeFingerprint()]);
    assert.deepEqual(other.indices(1, 500), split.indices(1, 500));
    assert(other instanceof Split);
  }
  assert.match(split.recipeFingerprint(), /^[0-9a-f]{64}$/);
  const made = new Function('Split', `return ${split}`)(Split);
  assert.equal(made.recipe, text);
  assert.match(inspect(split), /^Split\.fromRecipe\('/);
  const sizes = Split.ofSizes({ a: 2, b: 3 });
  assert.equal(
    sizes.recipe,
    '{"samedeal":1,"split":{"seed":0,"samples":5,"parts":[{"name":"a","size":2},{"name":"b","size":3}]}}',
  );
  assert.equal(Split.fromRecipe(sizes.recipe).recipe, sizes.recipe);
});

test('a map keeps the order of names that are numbers', () => {
  assert.deepEqual(
    new Split(
      new Map([
        ['2', 1],
        ['1', 1],
      ]),
    ).parts,
    ['2', '1'],
  );
});

test('what is no split is refused', () => {
  const part = (name, value) => ({ split: { parts: [{ name, ...value }] } });
  for (const [call, kind, field, value] of [
    [() => new Split({}), 'missing', 'parts'],
    [() => new Split([['a', 1]]), 'wrong-type', 'parts'],
    [() => new Split(undefined), 'missing', 'parts'],
    [() => new Split('a'), 'wrong-type', 'parts'],
    [() => new Split({ a: 0, b: 0 }), 'out-of-range', 'weight'],
    [() => new Split({ a: -1 }), 'out-of-range', 'weight', '-1 (of part a)'],
    [() => new Split({ a: '0.5' }), 'wrong-type', 'weight', '"0.5" (of part a)'],
    [() => new Split({ a: Number.NaN }), 'wrong-type', 'weight', 'NaN (of part a)'],
    [() => new Split({ a: -0.5, b: 1 }), 'out-of-range', 'weight', '-0.5'],
    [() => new Split({ a: 1e-30, b: 1 }), 'out-of-range', 'weight', '1e-30'],
    [() => Split.ofSizes({ a: 1.5 }), 'wrong-type', 'size', '1.5 (of part a)'],
    [() => new Split({ a: 2 ** 53 - 1, b: 1 }), 'out-of-range', 'weight'],
    [() => new Split({ '': 1 }), 'out-of-range', 'name'],
    [() => new Split({ ['n'.repeat(257)]: 1 }), 'out-of-range', 'name'],
    [() => new Split({ ['\u00e9'.repeat(129)]: 1 }), 'out-of-range', 'name'],
    [() => new Split(new Map([[3, 1]])), 'wrong-type', 'part'],
    [() => Split.ofSizes({ a: 0 }), 'out-of-range', 'size'],
    [() => Split.ofSizes({ a: '3' }), 'wrong-type', 'size', '"3" (of part a)'],
    [() => new Split({ a: 1 }, { seed: 2n ** 63n }), 'out-of-range', 'seed'],
    [() => new Split({ a: 1 }, { seed: 1.5 }), 'wrong-type', 'seed'],
    [() => new Split({ a: 1 }, { sizes: { a: 1 } }), 'unknown-name', 'options', 'sizes'],
    [() => new Split({ a: 1 }, null), 'wrong-type', 'options'],
    [() => Split.fromRecipe({}), 'missing', 'split'],
    [() => Split.fromRecipe({ split: {} }), 'missing', 'parts'],
    [() => Split.fromRecipe({ split: { part: [] } }), 'unknown-member', 'split'],
    [() => Split.fromRecipe(part('a', { weigth: 1 })), 'unknown-member', 'parts'],
    [() => Split.fromRecipe(part('a', {})), 'missing', 'weight'],
    [() => Split.fromRecipe(part(undefined, { weight: 1 })), 'missing', 'name'],
    [() => Split.fromRecipe(part('a', { weight: 1, size: 1 })), 'contradiction', 'weight'],
    [() => Split.fromRecipe(part('a', { size: 1.5 })), 'wrong-type', 'size'],
    [() => Split.fromRecipe(part(Symbol('a'), { weight: 1 })), 'wrong-type', 'name'],
    [() => Split.fromRecipe(part(3, { weight: 1 })), 'wrong-type', 'name'],
    [() => Split.fromRecipe({ split: { samples: 4, parts: [{ name: 'a', size: 3 }] } }), 'contradiction', 'samples'],
    [() => Split.fromRecipe(new Sampler(3).recipe), 'contradiction', 'order'],
    [() => Split.fromRecipe('{'), 'wrong-type', 'recipe'],
    [() => Split.fromRecipe(7), 'wrong-type', 'recipe'],
    [() => Split.fromRecipe('x'.repeat(2 ** 24 + 1)), 'out-of-range', 'recipe'],
    [() => Split.fromJSON({ recipe: '{}', seed: 3 }), 'unknown-name', 'options'],
  ]) {
    refused(call, kind, field);
    if (value !== undefined) assert.throws(call, { value });
  }
  const name = 'n'.repeat(256);
  assert.deepEqual(new Split({ [name]: 1 }).parts, [name]);
  const twice = {
    split: {
      parts: [
        { name: 'a', weight: 1 },
        { name: 'a', weight: 1 },
      ],
    },
  };
  assert.throws(() => Split.fromRecipe(twice), { kind: 'contradiction', field: 'name', value: 'a' });
});

test('what is no id, part or key is refused, and the split is as before', () => {
  const split = new Split(PARTS);
  const before = split.indices(0, 300);
  for (const value of NOT_WHOLE) {
    if (!Array.isArray(value)) refused(() => split.partOf([3, value]), wrong(value), 'ids');
    refused(() => split.indices(0, value), wrong(value), 'samples');
    if (typeof value !== 'string') refused(() => split.indices(value, 3), wrong(value), 'part');
    if (typeof value !== 'string') refused(() => split.partOfKeys(['a', value]), wrong(value), 'keys');
  }
  for (const value of [-1, 3, 3n, 2 ** 32, 2n ** 64n]) refused(() => split.others(value, 0), 'out-of-range', 'part');
  assert.throws(() => split.indices('tests', 3), {
    kind: 'unknown-name',
    field: 'part',
    known: ['test', 'validation', 'training'],
  });
  assert.throws(() => split.indices('test'), { kind: 'missing', field: 'samples' });
  for (const value of [-1, 2 ** 53, 2n ** 64n]) refused(() => split.indices(0, value), 'out-of-range', 'samples');
  for (const samples of [1e10, 2 ** 30 + 1, 2 ** 53 - 1]) {
    for (const call of [() => split.indices(0, samples), () => split.others(0, samples)]) {
      refused(call, 'out-of-range', 'samples');
      assert.throws(call, { max: 2 ** 30, allowed: /partOf for some of them/ });
    }
  }
  for (const value of [undefined, null, 'ab', new Set(['a']), { length: 1 }, Uint8Array.of(1)]) {
    refused(() => split.partOfKeys(value), wrong(value), 'keys');
  }
  for (const text of ['\ud800', 'a\udfffb']) refused(() => split.partOfKeys(['a', text]), 'out-of-range', 'keys');
  assert.equal(split.partOfKeys(['\ud83d\ude00']).length, 1);
  refused(() => split.partOfKeys(['a', 'x'.repeat(2 ** 25 + 1)]), 'out-of-memory', 'keys');
  assert.deepEqual(split.indices(0, 300), before);
  split.dispose();
  assert.throws(() => split.parts.length + split.indices(0, 3), { message: 'this split has been disposed of' });
});

test('dispose gives memory back', () => {
  const bindings = componentInstances(limited)();
  const engine = new Engine(() => bindings);
  const Limited = over(BaseSplit, () => engine);
  const parts = new Map(range(20_000).map((i) => [`p${i}`, 1]));
  for (let i = 0; i < 40; i++) new Limited(parts).dispose();
});

test('a split whose instance is lost is made again', () => {
  let made = 0;
  const instances = componentInstances(compiled);
  const engine = new Engine(() => {
    made += 1;
    const { splits, ...others } = instances();
    return { ...others, splits: { ...splits, Split: overridden(splits.Split, () => ({ partOfKeys: trap })) } };
  });
  const split = new (over(BaseSplit, () => engine))(PARTS);
  const before = split.indices(1, 300);
  assert.throws(() => split.partOfKeys(['a']), { message: 'unreachable' });
  assert.deepEqual(split.indices(1, 300), before);
  assert.equal(made, 2);
});

test('a stack that overflows in a call ends the call, and nothing else', () => {
  const split = new Split(PARTS);
  const before = split.indices(1, 300);
  for (let round = 0; round < 30; round++) {
    const call = [() => split.partOf([1, 2]), () => split.partOfKeys(['a']), () => split.indices(0, 30)][round % 3];
    overflow(call);
    assert.deepEqual(split.indices(1, 300), before);
  }
});
