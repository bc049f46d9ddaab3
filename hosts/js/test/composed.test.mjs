// Composed orders on both engines: the promises of README.md and SPEC.md about each of them, and values that are
// refused.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import * as node from 'samedeal';
import { composed, entries } from './entries.mjs';
import { NO_LIST, NOT_WHOLE, refused, wrong } from './values.mjs';

const MILLION = 1e6;
const range = (count, first = 0) => Array.from({ length: count }, (_, i) => first + i);
const sorted = (samples) => [...samples].sort((one, other) => one - other);
const countOf = (samples) => {
  const counts = new Map();
  for (const sample of samples) counts.set(sample, (counts.get(sample) ?? 0) + 1);
  return counts;
};

for (const [entry, { Sampler, balance, blend, grown, order, sharded, weighted, windows }] of Object.entries(composed)) {
  /** The samples of an epoch, in the order of positions. */
  const epochOf = (what, epoch = 0) => [...new Sampler(what, { epoch, layout: 'strided' })];
  /** The samples of all ranks in an epoch, or in its rest after a state. */
  const dealt = (what, worldSize, state) => {
    const samples = [];
    for (let rank = 0; rank < worldSize; rank++) {
      const sampler = new Sampler(what, { rank, worldSize, remainder: 'uneven' });
      if (state) sampler.resume(state);
      samples.push(...sampler);
    }
    return samples;
  };

  describe(`${entry}: blend`, () => {
    const mixed = blend({ web: [1000, 5], code: [300, 2], talk: [120, 1] }, { seed: 7, samples: 4000 });
    const sampler = new Sampler(mixed, { worldSize: 4 });

    test('a sampler says what it is made of', () => {
      assert.deepEqual([sampler.order, sampler.seed, sampler.layout], ['blend', 7, 'rotated']);
      assert.deepEqual([sampler.datasetSize, sampler.epochLength, sampler.length], [1420, 4000, 1000]);
      assert.deepEqual(sampler.sources, ['web', 'code', 'talk']);
      assert.deepEqual(sampler.sourceOf(1299), { source: 1, index: 299 });
      assert.deepEqual(sampler.sourceOf(1300), { source: 2, index: 0 });
    });

    test('every prefix is near to exact proportion, and is counted', () => {
      const samples = epochOf(mixed);
      const bounds = sampler.sourceBounds;
      const counts = [0, 0, 0];
      for (const [n, sample] of samples.entries()) {
        counts[sampler.sourceOf(sample).source] += 1;
        for (const [source, weight] of [5, 2, 1].entries()) {
          const away = Math.abs(8 * counts[source] - weight * (n + 1)) * MILLION;
          assert(away <= 8 * bounds[source], `source ${source} at ${n}`);
        }
      }
      assert.deepEqual([...sampler.sourceCounts().count], counts);
      const part = sampler.sourceCounts(1000, 2500);
      const within = countOf(samples.slice(1000, 2500).map((sample) => sampler.sourceOf(sample).source));
      assert.deepEqual(
        [...part.count],
        range(3).map((source) => within.get(source)),
      );
      // The positions have 312 or 313 samples of the source with 120 samples: two passes, and a part of the third.
      assert.deepEqual([part.fromPass[2], part.toPass[2]], [1, 2]);
      assert.equal(part.toPass[2] * 120 + part.toPosition[2], part.first[2] + part.count[2]);
    });

    test('each source is read in whole passes, over the ends of epochs', () => {
      const drawn = range(3).flatMap((epoch) => epochOf(mixed, epoch));
      for (const [source, samples] of [1000, 300, 120].entries()) {
        const own = drawn.map((sample) => sampler.sourceOf(sample)).filter((place) => place.source === source);
        let passes = 0;
        for (let at = 0; at + samples <= own.length; at += samples, passes++) {
          assert.deepEqual(sorted(own.slice(at, at + samples).map(({ index }) => index)), range(samples));
        }
        assert(passes >= 3);
      }
    });

    test('all places of a sample are found', () => {
      const samples = epochOf(mixed);
      const whole = new Sampler(mixed, { worldSize: 4 });
      for (const sample of [3, 1001, 1300, 1419]) {
        const positions = samples.flatMap((each, position) => (each === sample ? [position] : []));
        const found = [];
        for (let place = whole.locate(sample, 8); place; place = whole.locateFrom(sample, place.position + 1, 8)) {
          found.push(place.position);
          const own = new Sampler(mixed, { worldSize: 4, rank: place.rank });
          assert.equal(own.batch(place.batch, 8)[place.indexInBatch], sample);
        }
        assert.deepEqual(found, positions);
      }
      assert.equal(whole.locateFrom(3, 4000, 8), null);
    });

    test('a run goes on with a stage more on another world size', () => {
      const before = new Sampler(mixed, { worldSize: 4 });
      const state = before.state(300);
      const more = mixed.stage(2000, { talk: 4, web: 1, code: 1 });
      const whole = epochOf(more);
      assert.deepEqual(whole.slice(0, 2000), epochOf(mixed).slice(0, 2000));
      assert.notDeepEqual(whole, epochOf(mixed));
      assert.deepEqual(sorted(dealt(more, 3, state)), sorted(whole.slice(1200)));
      const { count } = new Sampler(more).sourceCounts(2000, 4000);
      assert(Math.abs(count[2] - 1333) <= 2 && Math.abs(count[0] - 333) <= 2);
      // A stage cannot begin before the position of the state, because these positions were dealt already.
      refused(() => new Sampler(mixed.stage(1100, [1, 1, 1])).resume(state), 'contradiction', 'stages');
      assert.deepEqual(
        epochOf(mixed),
        epochOf(blend({ web: [1000, 5], code: [300, 2], talk: [120, 1] }, { seed: 7, samples: 4000 })),
      );
    });

    test('a source with weight 0 at first changes nothing until its stage', () => {
      const options = { seed: 7, samples: 4000 };
      const later = { ...options, stages: [{ from: 3000, weights: [5, 2, 1, 8] }] };
      const added = blend({ web: [1000, 5], code: [300, 2], talk: [120, 1], maths: [50, 0n] }, later);
      assert.deepEqual(epochOf(added).slice(0, 3000), epochOf(mixed).slice(0, 3000));
      assert.deepEqual([...new Sampler(added).sourceCounts(0, 3000).count].at(-1), 0);
      assert.equal(new Sampler(added).sourceCounts(3000, 4000).count[3], 500);
      const state = new Sampler(mixed, { worldSize: 2 }).state(1500);
      assert.deepEqual(sorted(dealt(added, 5, state)), sorted(epochOf(added).slice(3000)));
    });

    test('exact: the counts of every prefix are the nearest there are', () => {
      const exact = blend({ a: [70, 3], b: [70, 1], c: [70, 1] }, { exact: true, samples: 500 });
      const made = new Sampler(exact);
      assert.equal(made.order, 'blend-exact');
      assert.deepEqual([...made.sourceBounds], [750_000, 750_000, 750_000]);
      for (let end = 0; end <= 500; end += 5) {
        assert.deepEqual([...made.sourceCounts(0, end).count], [(3 * end) / 5, end / 5, end / 5]);
      }
    });

    test('sources that end', () => {
      const sources = { a: [10, 1], b: [30, 1] };
      const made = (exhaustion, others) => new Sampler(blend(sources, { exhaustion, ...others }));
      const whole = made('renormalize', { maxPasses: 2 });
      assert.equal(whole.epochLength, 80);
      assert.deepEqual([...countOf(whole).values()], new Array(40).fill(2));
      assert.deepEqual([...made('renormalize').sourceCounts().count], [10, 30]);
      const { count } = made('stop').sourceCounts();
      assert.equal(count[0], 10);
      assert(Math.abs(count[1] - 10) <= 1);
      assert.equal(made('fail', { samples: 16 }).epochLength, 16);
      refused(() => made('fail'), 'missing', 'samples');
      refused(() => made('fail', { samples: 40 }), 'out-of-range', 'samples');
      refused(() => made('repeat', { maxPasses: 1 }), 'contradiction', 'max_passes');
      refused(() => made('stop', { stages: [{ from: 3, weights: [1, 1] }] }), 'contradiction', 'stages');
    });

    test('batches of one source', () => {
      const order = blend({ a: [100, 3], b: [60, 1] }, { runLength: 5, samples: 400 });
      for (const rank of [0, 1]) {
        const made = new Sampler(order, { worldSize: 2, rank, unit: 5 });
        for (const batch of made.batches(5)) {
          const sources = [...batch].map((sample) => made.sourceOf(sample).source);
          assert.deepEqual(sources, new Array(5).fill(sources[0]));
        }
      }
      refused(() => new Sampler(blend({ a: [9, 1] }, { runLength: 2, samples: 7 })), 'contradiction', 'samples');
    });

    test('sources of one dataset', () => {
      const easy = order('feistel', { samples: 100 }).subset(range(30));
      const made = new Sampler(blend({ easy: [easy, 1], all: [100, 1] }, { indexSpace: 'shared', samples: 60 }));
      assert.equal(made.datasetSize, 100);
      assert.deepEqual(sorted(new Set([...made].filter((sample) => sample < 30))), range(30));
      refused(() => made.sourceOf(3), 'contradiction', 'index_space');
    });

    test('a map keeps the order of names that are numbers', () => {
      const sources = new Map([
        ['2', [10, 1]],
        ['1', [20, 2]],
      ]);
      const stage = {
        from: 5,
        weights: new Map([
          ['1', 3],
          ['2', 4],
        ]),
      };
      const made = blend(sources, { stages: [stage] });
      assert.deepEqual(new Sampler(made).sources, ['2', '1']);
      assert.deepEqual(JSON.parse(new Sampler(made).recipe).order.stages, [{ from: 5, weights: [4, 3] }]);
      const long = blend({ [`${'n'.repeat(400)}`]: [3, 1], [`${'n'.repeat(400)}x`]: [3, 1] });
      assert.deepEqual(
        new Sampler(long).sources.map(({ length }) => length),
        [400, 401],
      );
    });

    test('other orders have no sources', () => {
      const plain = new Sampler(10);
      for (const call of [
        () => plain.sources,
        () => plain.sourceCounts(),
        () => plain.sourceBounds,
        () => plain.sourceOf(3),
      ]) {
        refused(call, 'contradiction', 'name');
      }
    });
  });

  describe(`${entry}: other orders`, () => {
    test('plain ones are those of a sampler', () => {
      for (const name of node.plainOrders()) {
        assert.deepEqual(epochOf(order(name, { samples: 101, seed: 3 }), 2), [
          ...new Sampler(101, { order: name, seed: 3, epoch: 2 }),
        ]);
      }
      const options = { lanes: 4, shuffleWindow: 8, seed: -3n };
      const shards = Sampler.sharded([40, 25, 35], { ...options, worldSize: 2, rank: 1 });
      const same = new Sampler(sharded([40, 25, 35], options), { worldSize: 2, rank: 1 });
      assert.equal(same.recipe, shards.recipe);
      assert.deepEqual([same.indices(), same.round(0)], [shards.indices(), shards.round(0)]);
    });

    test('grown: a dataset that grows in the middle of an epoch is seen exactly once', () => {
      const before = order('feistel', { samples: 1000, seed: 5 });
      const state = new Sampler(before, { epoch: 2, worldSize: 4 }).state(100);
      const after = before.grow(2, 400, 1300);
      assert.deepEqual(after.recipe, grown(1000, [{ epoch: 2, consumed: 400, samples: 1300 }], { seed: 5 }).recipe);
      const seen = epochOf(before, 2).slice(0, 400);
      assert.deepEqual(epochOf(after, 2).slice(0, 400), seen);
      assert.deepEqual(sorted([...seen, ...dealt(after, 6, state)]), range(1300));
      assert.deepEqual(epochOf(after, 1), epochOf(before, 1));
      assert.deepEqual(epochOf(after, 3), epochOf(order('feistel', { samples: 1300, seed: 5 }), 3));
      // The order grows once more in the same epoch, and continues from a state in its rest.
      const rest = new Sampler(after, { worldSize: 3 });
      rest.resume(state);
      const later = after.grow(2, 700, 1301);
      assert.deepEqual(sorted([...epochOf(after, 2).slice(0, 700), ...dealt(later, 2, rest.state(100))]), range(1301));
      assert.deepEqual(new Sampler(later, { epoch: 1 }).epochLength, 1000);
      refused(() => new Sampler(before.grow(2, 300, 1300)).resume(state), 'contradiction', 'growth');
    });

    test('exclude and subset keep the order of what is left', () => {
      const all = order('feistel', { samples: 500, seed: 9 });
      const bad = range(100).map((i) => 5 * i + 2);
      for (const epoch of [0, 1, 7]) {
        const whole = epochOf(all, epoch);
        assert.deepEqual(
          epochOf(all.exclude(bad), epoch),
          whole.filter((sample) => !bad.includes(sample)),
        );
        assert.deepEqual(
          epochOf(all.subset(bad), epoch),
          whole.filter((sample) => bad.includes(sample)),
        );
      }
      const left = new Sampler(all.exclude(bad), { worldSize: 3 });
      assert.deepEqual([left.datasetSize, left.epochLength, left.layout], [500, 400, 'strided']);
      assert.equal(left.locate(7, 4), null);
      assert.equal(left.sampleAt(left.locate(8, 4).position), 8);
      assert.deepEqual(epochOf(order('torch', { samples: 50, seed: 1 }).exclude([3, 4])).length, 48);
      assert.deepEqual(sorted(epochOf(all.exclude([]).subset([499]))), [499]);
    });

    test('exclude: a million of a billion', () => {
      const bad = Float64Array.from({ length: 1e6 }, (_, i) => 1000 * i + 17);
      const left = new Sampler(order('feistel', { samples: 1e9, seed: 1 }).exclude(bad), { worldSize: 512, rank: 3 });
      assert.equal(left.epochLength, 999_000_000);
      assert.equal(left.locate(17, 1), null);
      const place = left.locate(18, 32);
      assert.equal(left.sampleAt(place.position), 18);
      assert(left.indices(0, 10_000).every((sample) => sample % 1000 !== 17));
      left.setEpoch(1);
      const all = new Sampler(1e9, { seed: 1, epoch: 1 });
      const first = [...all.indices(0, 600)].filter((sample) => sample % 1000 !== 17);
      assert.deepEqual(
        range(500).map((position) => left.sampleAt(position)),
        first.slice(0, 500),
      );
      assert(left.toString().length > 1e6 && inspect(left).length < 1000);
    });

    test('skip: positions are left out, and a run goes on with them', () => {
      const all = order('feistel', { samples: 200, seed: 2 });
      const state = new Sampler(all, { worldSize: 2 }).state(30);
      const left = all.skip([
        { epoch: 0, start: 60, count: 16 },
        { epoch: 0, start: 100n, count: 4 },
        { epoch: 3, start: 0, count: 200 },
      ]);
      const whole = epochOf(all);
      assert.deepEqual(epochOf(left), [...whole.slice(0, 60), ...whole.slice(76, 100), ...whole.slice(104)]);
      assert.deepEqual([epochOf(left, 1), epochOf(left, 3)], [epochOf(all, 1), []]);
      assert.equal(new Sampler(left, { epoch: 3 }).epochLength, 0);
      assert.deepEqual(sorted(dealt(left, 3, state)), sorted(epochOf(left).slice(60)));
      const few = new Sampler(left, { worldSize: 4, epoch: 2 }).state(25);
      const more = all.skip([...JSON.parse(left.recipe).order.ranges, { epoch: 3, start: 200, count: 0 }]);
      assert.deepEqual(sorted(dealt(more, 3, few)), sorted(epochOf(all, 2).slice(100)));
      refused(
        () => new Sampler(all.skip([{ epoch: 0, start: 59, count: 1 }])).resume(state),
        'contradiction',
        'ranges',
      );
    });

    test('copies: every sample several times in a row', () => {
      const groups = order('feistel', { samples: 30, seed: 4 }).copies(4n);
      assert.deepEqual(
        epochOf(groups, 1),
        epochOf(order('feistel', { samples: 30, seed: 4 }), 1).flatMap((sample) => new Array(4).fill(sample)),
      );
      const sampler = new Sampler(groups, { worldSize: 8 });
      assert.deepEqual([sampler.datasetSize, sampler.epochLength, sampler.length], [30, 120, 15]);
    });

    test('windows: each one once, within its episode', () => {
      const clips = windows([30, 5, 21], 8, { stride: 4, seed: 1 });
      const starts = [...range(6).map((t) => 4 * t), ...range(4).map((t) => 35 + 4 * t)];
      assert.deepEqual(sorted(epochOf(clips)), starts);
      assert.notDeepEqual(epochOf(clips), epochOf(clips, 1));
      assert.deepEqual(sorted(epochOf(windows(Uint32Array.of(30, 5, 21), 8))), [0, 8, 16, 35, 43]);
    });

    test('balance: as often as factors say, exactly over epochs', () => {
      const classes = range(300).map((i) => (i % 10 === 0 ? 1 : i % 7 === 0 ? 2 : 0));
      const factors = [1, 2.5, 0.3];
      const even = balance(classes, Float64Array.from(factors), { seed: 6 });
      assert.deepEqual(JSON.parse(even.recipe).order.factors, [MILLION, 2_500_000, 300_000]);
      const counts = new Array(300).fill(0);
      for (let epoch = 0; epoch < 10; epoch++) {
        const own = countOf(epochOf(even, epoch));
        for (const [sample, of] of classes.entries()) {
          const count = own.get(sample) ?? 0;
          const factor = factors[of];
          assert(count >= Math.floor(factor) && count <= Math.ceil(factor));
          counts[sample] += count;
          assert(Math.abs(counts[sample] - (epoch + 1) * factor) < 1 + 1e-9, `sample ${sample}, epoch ${epoch}`);
        }
      }
      const number = (of) => classes.filter((each) => each === of).length;
      const sums = range(3).map((of) => counts.filter((_, sample) => classes[sample] === of).reduce((a, b) => a + b));
      assert.deepEqual(sums, [10 * number(0), 25 * number(1), 3 * number(2)]);
    });

    test('weighted: as often as weights say, rounded, in every epoch', () => {
      const weights = [4, 1, 1, 2, 0, 12];
      const often = weighted(weights, { samples: 15, seed: 6 });
      const once = weighted(BigUint64Array.from(weights, BigInt), { samples: 3, seed: 6, replacement: false });
      for (let epoch = 0; epoch < 10; epoch++) {
        const own = countOf(epochOf(often, epoch));
        for (const [sample, weight] of weights.entries()) {
          const share = (15 * weight) / 20;
          const count = own.get(sample) ?? 0;
          assert(count >= Math.floor(share) && count <= Math.ceil(share), `sample ${sample}, epoch ${epoch}`);
        }
        const few = [...countOf(epochOf(once, epoch))];
        // Sample 5 comes in every epoch, because 3 * 12 > 20.
        assert(few.length === 3 && few.every(([, count]) => count === 1) && few.some(([sample]) => sample === 5));
      }
      assert.equal(new Sampler(weighted([3, 1])).length, 2);
      refused(() => new Sampler(weighted([0, 0])), 'out-of-range', 'weights');
      refused(() => new Sampler(weighted([1, 0, 2], { replacement: false })), 'contradiction', 'samples');
      refused(() => weighted([1], { replacement: 1 }), 'wrong-type', 'replacement');
    });

    test('rotated: each row goes to all ranks, and a run goes on at any of them', () => {
      const options = { worldSize: 4, remainder: 'uneven', layout: 'rotated', seed: 3 };
      const ranks = range(4).map((rank) => new Sampler(103, { ...options, rank }));
      const whole = epochOf(order('feistel', { samples: 103, seed: 3 }));
      const firsts = new Set();
      for (let row = 0; row < 25; row++) {
        const own = ranks.map((sampler) => sampler.indices(row, row + 1)[0]);
        assert.deepEqual(sorted(own), sorted(whole.slice(4 * row, 4 * row + 4)));
        firsts.add(own.indexOf(whole[4 * row]));
      }
      assert.equal(firsts.size, 4);
      const state = ranks[2].state(7);
      const rest = range(3).flatMap((rank) => {
        const sampler = new Sampler(103, { ...options, worldSize: 3, rank });
        sampler.resume(state);
        return [...sampler];
      });
      assert.deepEqual(sorted(rest), sorted(whole.slice(28)));
    });
  });

  describe(`${entry}: orders are values`, () => {
    const indices = range(300).map((i) => 3 * i);
    const sizes = range(300).map((i) => 1 + (i % 5));
    const nested = blend(
      {
        web: [order('feistel', { samples: 1000 }).exclude(indices), 2],
        clips: [windows(sizes, 2).subset(range(10)), 1],
        code: [50, 1],
      },
      { seed: 2 },
    ).skip([{ epoch: 0, start: 5, count: 2 }]);

    test('long lists come beside the recipe, by their paths', () => {
      assert.deepEqual(Object.keys(nested.lists), ['of/sources/web/indices', 'of/sources/clips/of/sizes']);
      assert.deepEqual(nested.lists['of/sources/web/indices'], Float64Array.from(indices));
      const { of } = JSON.parse(nested.recipe).order;
      assert.equal(of.sources[0].order.indices, undefined);
      assert.deepEqual(of.sources[1].order.indices, range(10));
      assert.deepEqual(order('feistel', { samples: 1000 }).exclude(range(256)).lists, {});
      assert.deepEqual(Object.keys(order('feistel', { samples: 1000 }).exclude(range(257)).lists), ['indices']);
      assert.deepEqual(Object.keys(balance(sizes, new Array(300).fill(1)).lists), ['classes', 'factors']);
    });

    test('a sampler is made again by its recipe and the lists, by its text, and by JSON', () => {
      const sampler = new Sampler(nested, { worldSize: 3, rank: 1, epoch: 1 });
      const place = { rank: 1, epoch: 1 };
      const { lists } = nested;
      for (const recipe of [sampler.recipe, { ...JSON.parse(nested.recipe), deal: { world_size: 3 } }]) {
        const again = Sampler.fromRecipe(recipe, { ...place, lists });
        if (recipe === sampler.recipe) assert.equal(again.recipe, recipe);
        assert.equal(again.sampleAt(30), sampler.sampleAt(30));
      }
      const text = new Function('Sampler', `return ${sampler}`)(Sampler);
      const copy = Sampler.fromJSON(JSON.parse(JSON.stringify(sampler)));
      for (const again of [text, copy]) {
        assert.deepEqual([again.recipe, again.indices()], [sampler.recipe, sampler.indices()]);
        assert.equal(again.configFingerprint(), sampler.configFingerprint());
      }
      const alone = Sampler.fromJSON(JSON.parse(JSON.stringify(nested)));
      assert.equal(alone.recipe, new Sampler(nested).recipe);
      assert.deepEqual(JSON.parse(nested.recipe), JSON.parse(String(nested)));
      assert(inspect(nested).includes('of/sources/web/indices: 300 numbers'));
    });

    test('lists are not those of the recipe', () => {
      const sampler = new Sampler(nested);
      const { lists } = nested;
      refused(() => Sampler.fromRecipe(sampler.recipe), 'missing', 'indices');
      refused(
        () => Sampler.fromRecipe(sampler.recipe, { lists: { ...lists, 'of/sources/web/indices': [1] } }),
        'contradiction',
        'indices',
      );
      refused(
        () => Sampler.fromRecipe(nested.recipe, { lists: { ...lists, indices: [1] } }),
        'contradiction',
        'indices',
      );
      refused(
        () => Sampler.fromRecipe(nested.recipe, { lists: { ...lists, 'of/lengths': [1] } }),
        'unknown-name',
        'lists',
      );
      refused(
        () => Sampler.fromRecipe(nested.recipe, { lists: { 'of/sources/web/indices': [1.5] } }),
        'wrong-type',
        'indices',
      );
      for (const value of [null, 3, 'x', [1], new Uint32Array(3)]) {
        refused(() => Sampler.fromRecipe(nested.recipe, { lists: value }), 'wrong-type', 'lists');
      }
      const half = new Uint32Array(2 ** 24 + 1);
      refused(
        () => Sampler.fromRecipe(nested.recipe, { lists: { indices: half, classes: half } }),
        'out-of-memory',
        'lists',
      );
    });

    test('nothing changes one', () => {
      const bad = Uint32Array.from(range(300));
      const all = order('feistel', { samples: 1000, seed: 1 });
      const left = all.exclude(bad);
      const text = [all.recipe, left.recipe];
      const samples = epochOf(left);
      bad.fill(999);
      left.lists.indices.fill(998);
      all.grow(0, 3, 1001);
      left.copies(2).copies(3);
      const mixed = blend({ a: [all, 1], b: [left, 2] });
      mixed.stage(3, [1, 1]);
      assert.deepEqual([all.recipe, left.recipe], text);
      assert.deepEqual(epochOf(left), samples);
      assert.equal(JSON.parse(mixed.recipe).order.stages, undefined);
      assert.deepEqual(mixed.stage(3, [1, 1]).stage(4, [2, 1]).lists, mixed.lists);
    });

    test('a source without a seed has one of its own', () => {
      const { order: of } = JSON.parse(
        new Sampler(blend({ a: [10, 1], b: [order('feistel', { samples: 10, seed: 0 }), 1] })).recipe,
      );
      assert.notEqual(of.sources[0].order.seed, 0);
      assert.equal(of.sources[1].order.seed, 0);
      const wide = order('feistel', { samples: 10, seed: -(2n ** 63n) });
      assert.equal(new Sampler(wide.copies(2)).seed, -(2n ** 63n));
    });
  });

  describe(`${entry}: what is refused`, () => {
    const plain = order('feistel', { samples: 10 });
    const mixed = blend({ a: [10, 1], b: [10, 1] });

    test('values of the wrong type', () => {
      for (const [field, call] of [
        ['samples', (value) => order('feistel', { samples: value })],
        ['lanes', (value) => sharded([1], { lanes: value })],
        ['shuffle_window', (value) => sharded([1], { shuffleWindow: value })],
        ['samples', (value) => blend({ a: [value, 1] })],
        ['weight', (value) => blend({ a: [3, value] })],
        ['samples', (value) => blend({ a: [3] }, { samples: value })],
        ['max_passes', (value) => blend({ a: [3] }, { maxPasses: value })],
        ['run_length', (value) => blend({ a: [3] }, { runLength: value })],
        ['from', (value) => blend({ a: [3] }, { stages: [{ from: value, weights: [1] }] })],
        ['weights', (value) => blend({ a: [3] }, { stages: [{ from: 1, weights: [value] }] })],
        ['weights', (value) => mixed.stage(1, { a: 1, b: value })],
        ['from', (value) => mixed.stage(value, [1, 1])],
        ['samples', (value) => grown(value, [])],
        ['epoch', (value) => grown(3, [{ epoch: value, consumed: 0, samples: 4 }])],
        ['consumed', (value) => plain.grow(0, value, 11)],
        ['samples', (value) => plain.grow(0, 0, value)],
        ['length', (value) => windows([3], value)],
        ['stride', (value) => windows([3], 1, { stride: value })],
        ['copies', (value) => plain.copies(value)],
        ['start', (value) => plain.skip([{ epoch: 0, start: value, count: 1 }])],
        ['indices', (value) => plain.exclude([value])],
        ['indices', (value) => plain.subset([value])],
        ['classes', (value) => balance([value], [1])],
        ['sizes', (value) => windows([value], 1)],
        ['position', (value) => new Sampler(mixed).locateFrom(0, value, 1)],
        ['sample', (value) => new Sampler(mixed).locateFrom(value, 0, 1)],
        ['batch_size', (value) => new Sampler(mixed).locateFrom(0, 0, value)],
        ['start', (value) => new Sampler(mixed).sourceCounts(value, 3)],
        ['end', (value) => new Sampler(mixed).sourceCounts(0, value)],
        ['sample', (value) => new Sampler(mixed).sourceOf(value)],
      ]) {
        for (const value of NOT_WHOLE) {
          // A weight may be a decimal fraction.
          if (!field.startsWith('weight') || !Number.isFinite(value)) refused(() => call(value), wrong(value), field);
        }
        for (const value of [-1, -1n, 2n ** 64n]) refused(() => call(value), 'out-of-range', field);
      }
      for (const value of [null, '1', 1n, {}, [1]]) refused(() => balance([0], [value]), 'wrong-type', 'factors');
      for (const value of [-1, 0.1234567, 1 / 3, NaN, Infinity, 4295])
        refused(() => balance([0], [value]), 'out-of-range', 'factors');
      for (const make of [(seed) => order('feistel', { samples: 3, seed }), (seed) => blend({ a: [3] }, { seed })]) {
        for (const value of NOT_WHOLE) refused(() => make(value), wrong(value), 'seed');
        for (const value of [2 ** 53, 2n ** 63n]) refused(() => make(value), 'out-of-range', 'seed');
      }
      for (const value of NO_LIST) {
        refused(() => plain.exclude(value), wrong(value), 'indices');
        refused(() => windows(value, 3), wrong(value), 'sizes');
        refused(() => sharded(value), wrong(value), 'sizes');
        refused(() => balance(value, [1]), wrong(value), 'classes');
        refused(() => balance([0], value), wrong(value), 'factors');
        refused(() => plain.skip(value), wrong(value), 'ranges');
        refused(() => grown(3, value), wrong(value), 'growth');
        // Without stages, a blend has none.
        if (value !== undefined) refused(() => blend({ a: [3] }, { stages: value }), wrong(value), 'stages');
      }
      for (const [members, call] of [
        ['from, weights', (value) => blend({ a: [3] }, { stages: value })],
        ['epoch, consumed, samples', (value) => grown(3, value)],
        ['epoch, start, count', (value) => plain.skip(value)],
      ]) {
        for (const value of [5, 'x', null, new Uint8Array(1)])
          assert.throws(() => call(value), { allowed: `an array of plain objects with ${members}` });
        for (const value of [[5], [null]])
          assert.throws(() => call(value), { allowed: `a plain object with ${members}` });
      }
      for (const value of [null, 3, 'x', [['a', [3]]], new Uint32Array(3), new Set(['a'])]) {
        refused(() => blend(value), 'wrong-type', 'sources');
      }
      for (const value of [null, 3, 'x', {}, [], [3, 1, 1], plain])
        refused(() => blend({ a: value }), 'wrong-type', 'sources');
      for (const value of [null, 3, true]) {
        refused(() => order(value, { samples: 3 }), 'wrong-type', 'order');
        refused(() => blend({ a: [3] }, { exhaustion: value }), 'wrong-type', 'exhaustion');
        refused(() => blend({ a: [3] }, { indexSpace: value }), 'wrong-type', 'index_space');
        refused(() => blend({ a: [3] }, { exact: value === true ? 1 : value }), 'wrong-type', 'exact');
        refused(() => plain.skip([value]), 'wrong-type', 'ranges');
        refused(() => grown(3, [value]), 'wrong-type', 'growth');
        refused(() => blend({ a: [3] }, { stages: [value] }), 'wrong-type', 'stages');
        refused(() => mixed.stage(3, value), 'wrong-type', 'weights');
      }
      refused(() => blend(new Map([[3, [3, 1]]])), 'wrong-type', 'source');
      const shares = { a: [8, 0.7], b: [4, 3e-1] };
      const recipeOf = (order) => new Sampler(order).recipe;
      for (const weights of [[0.25, 0.75], { a: 0.5, b: 1.5 }, new Float64Array([0.1, 0.3])]) {
        const whole = blend({ a: [8, 7], b: [4, 3] }).stage(3, [1, 3]);
        assert.equal(recipeOf(blend(shares).stage(3, weights)), recipeOf(whole));
      }
      refused(() => blend({ a: [3, Number.NaN] }), 'wrong-type', 'weight');
      refused(() => new Sampler(blend({ a: [3, -0.5], b: [3, 1] })), 'out-of-range', 'weight');
      refused(() => new Sampler(blend({ a: [3, 1e-30], b: [3, 1] })), 'out-of-range', 'weight');
      refused(() => mixed.stage(3, { a: 1 }), 'missing', 'weights');
      refused(() => mixed.stage(3, { a: 1, b: 1, c: 1 }), 'unknown-name', 'weights');
      refused(() => plain.stage(3, [1]), 'contradiction', 'order');
      refused(() => mixed.stage(3, [1, 1], { c: [5, 0] }), 'wrong-type', 'options');
      // The component refuses growth of other orders, as in all hosts.
      for (const other of [mixed, plain.exclude([1])]) {
        refused(() => new Sampler(other.grow(0, 1, 30)), 'contradiction', 'growth');
      }
    });

    test('options of other names', () => {
      for (const call of [
        () => order('feistel', { samples: 3, epoch: 0 }),
        () => blend({ a: [3] }, { weights: [1] }),
        () => windows([3], 1, { samples: 1 }),
        () => plain.skip([{ epoch: 0, start: 0, end: 3 }]),
        () => grown(3, [{ epoch: 0, consumed: 0, samples: 3, seed: 1 }]),
        // These options belong to the order, and not to the sampler.
        () => new Sampler(plain, { seed: 3 }),
        () => new Sampler(plain, { order: 'torch' }),
      ]) {
        refused(call, 'unknown-name', 'options');
      }
    });

    test('what does not fit together is told when a sampler is made', () => {
      for (const [made, kind, field] of [
        [order('fiestel', { samples: 3 }), 'unknown-name', 'name'],
        [order('sharded', { samples: 3 }), 'missing', 'sizes'],
        [plain.exclude([3, 2]), 'contradiction', 'indices'],
        [plain.exclude([10]), 'out-of-range', 'indices'],
        [mixed.exclude([3]), 'contradiction', 'of'],
        [plain.skip([{ epoch: 0, start: 9, count: 2 }]), 'out-of-range', 'count'],
        [plain.copies(0), 'out-of-range', 'copies'],
        [windows([3], 0), 'out-of-range', 'length'],
        [balance([1], [1]), 'out-of-range', 'classes'],
        [plain.grow(0, 11, 12), 'out-of-range', 'consumed'],
        [plain.grow(0, 3, 10), 'out-of-range', 'samples'],
        [blend({}), 'missing', 'sources'],
        [blend({ a: [3, 0] }), 'out-of-range', 'weight'],
        [blend({ 'a/b': [3] }), 'out-of-range', 'name'],
        [blend({ 'a/b': [order('feistel', { samples: 400 }).exclude(range(300))] }), 'out-of-range', 'name'],
        [blend({ '\ud800': [3], '\ud801': [3] }), 'contradiction', 'name'],
        [blend({ a: [order('torch', { samples: 3 })] }), 'contradiction', 'name'],
        [blend({ a: [3] }, { exhaustion: 'end' }), 'unknown-name', 'exhaustion'],
        [mixed.stage(4, [1, 1]).stage(4, [1, 1]), 'out-of-range', 'from'],
        [mixed.stage(4, [1, 1, 1]), 'contradiction', 'weights'],
        [range(24).reduce((of) => of.copies(1), plain), 'out-of-range', 'recipe'],
        [range(300).reduce((of) => of.copies(1), plain), 'wrong-type', 'recipe'],
        [plain.skip(range(600_000).map((epoch) => ({ epoch, start: 0, count: 1 }))), 'out-of-range', 'recipe'],
      ]) {
        refused(() => new Sampler(made), kind, field);
      }
      refused(() => new Sampler(mixed, { epoch: 2n ** 60n }), 'out-of-range', 'epoch');
      const sampler = new Sampler(mixed);
      refused(() => sampler.setEpoch(2n ** 60n), 'out-of-range', 'epoch');
      refused(() => sampler.sourceCounts(3, 21), 'out-of-range', 'end');
      refused(() => sampler.sourceCounts(4, 3), 'out-of-range', 'end');
      refused(() => sampler.sourceCounts(21), 'out-of-range', 'start');
      refused(() => sampler.locateFrom(20, 0, 1), 'out-of-range', 'sample');
      refused(() => sampler.locateFrom(0, 21, 1), 'out-of-range', 'position');
      refused(() => sampler.sourceOf(20), 'out-of-range', 'sample');
      assert.equal(sampler.length, 20);
    });

    test('a recipe as an object: members are told by their names', () => {
      for (const [made, kind, field] of [
        [{ name: 'copies', of: { samples: Number.NaN } }, 'wrong-type', 'samples'],
        [{ name: 'blend', sources: [{ name: 'a', samples: 3, weight: 2 ** 53 }] }, 'out-of-range', 'weight'],
        [{ name: 'blend', sources: [{ name: Symbol('a'), samples: 3 }] }, 'wrong-type', 'name'],
        [{ name: 'blend', sources: [{ name: 'a', order: { samples: 3, lane: 1 } }] }, 'unknown-member', 'order'],
        [{ name: 'blend', sources: [{ name: 'a', size: 3 }] }, 'unknown-member', 'sources'],
        [{ name: 'copies', of: { samples: 3, seed: {} }, copies: 1 }, 'wrong-type', 'seed'],
      ]) {
        refused(() => Sampler.fromRecipe({ order: made }), kind, field);
      }
      const deep = `${'{"name":"copies","copies":1,"of":'.repeat(20_000)}{"samples":1}${'}'.repeat(20_000)}`;
      refused(() => Sampler.fromRecipe(`{"order":${deep}}`), 'out-of-range', 'recipe');
    });
  });
}

test('the examples of the documentation run', () => {
  const { Sampler, balance, blend, grown, order, sharded, weighted, windows } = node;
  const names = { Sampler, balance, blend, grown, order, sharded, weighted, windows };
  let count = 0;
  for (const file of ['make', 'order']) {
    const text = readFileSync(new URL(`../src/order/${file}.ts`, import.meta.url), 'utf8');
    for (const [, block] of text.matchAll(/@example\n((?: +\* .*\n)+?) +\*\//g)) {
      const code = block.replaceAll(/^ +\* /gm, '');
      const last = /const (\w+) = .*\n$/.exec(code)[1];
      const made = new Function(...Object.keys(names), `${code}return ${last};`)(...Object.values(names));
      const sampler = made instanceof Sampler ? made : new Sampler(made);
      assert.equal(sampler.indices().length, sampler.length, code);
      count += 1;
    }
  }
  assert.equal(count, 13);
});

test('samedeal/light has none, and says so', () => {
  const { Sampler } = entries['samedeal/light'];
  for (const made of [node.blend({ a: [3] }), node.order('feistel', { samples: 1000 }).exclude(range(300))]) {
    assert.throws(
      () => new Sampler(made),
      (error) => {
        assert(error instanceof node.SamedealError);
        assert.deepEqual([error.kind, error.field, error.value], ['contradiction', 'name', made.name]);
        assert.match(error.allowed, /samedeal\/light has no others/);
        return true;
      },
    );
  }
  const plain = new Sampler(node.order('torch', { samples: 10, seed: 3 }), { layout: 'rotated', worldSize: 2 });
  assert.deepEqual([plain.epochLength, plain.layout, plain.length], [10, 'rotated', 5]);
  refused(() => plain.sources, 'contradiction', 'name');
});

test('by lane, each reader has its own lanes of every source, and the shares', () => {
  const sources = { web: [node.sharded([70, 90], { lanes: 8 }), 3], code: [node.sharded([50], { lanes: 8 }), 1] };
  const mixed = node.blend(sources, { byLane: true, samples: 160 });
  const seen = new Set();
  for (let rank = 0; rank < 2; rank++) {
    const reading = new node.Reading(mixed, { worldSize: 2, workers: 2 });
    assert.equal(reading.readsPerRow, 1);
    for (let worker = 0; worker < 2; worker++) {
      const own = reading.indices(rank, worker, 0, reading.numSamples(rank, worker));
      assert.equal(own.filter((sample) => Number(sample) < 160).length, 30);
      const lanes = new Set([...reading.rounds(rank, worker)].flatMap(({ spans }) => [...spans.lane]));
      for (const lane of lanes) assert.ok(!seen.has(lane) && seen.add(lane), `lane ${lane} has two readers`);
    }
  }
  assert.equal(seen.size, 16);
});

test('a ledger of a blend: each position has one reader', async () => {
  const { blend, MemoryLog, openLedger, replayLedger, Sampler } = node;
  const mixed = blend({ web: [100, 3], code: [40, 1] }, { seed: 1, samples: 200 });
  const sampler = new Sampler(mixed);
  const log = new MemoryLog();
  const readers = await Promise.all([0, 1].map((reader) => openLedger(sampler, log, { reader, blockSize: 16 })));
  const seen = [];
  for (let turn = 0; ; turn++) {
    const claim = await readers[turn % 2].claim();
    if (!claim) break;
    seen.push(...claim.samples());
    await claim.commit();
  }
  assert.deepEqual(sorted(seen), sorted(sampler));
  const schedule = range(2).flatMap((reader) => [
    ...replayLedger(log.entries, { reader, readers: 2 }).samples(sampler),
  ]);
  assert.deepEqual(sorted(schedule), sorted(sampler));
});

test('weights where there are no sources', async () => {
  const { blend } = await import('samedeal');
  const allowed = 'no name, there are no sources';
  assert.throws(() => blend({}, { stages: [{ from: 9, weights: { a: 1 } }] }), { name: 'SamedealError', allowed });
});

test('floats become whole numbers in their proportions', () => {
  const { weighted, wholeWeights } = node;
  assert.deepEqual(wholeWeights([0.7, 0.25, -0]), new BigUint64Array([14n, 5n, 0n]));
  assert.deepEqual(wholeWeights(new Float32Array([0.5, 1.5])), new BigUint64Array([1n, 3n]));
  assert.equal(weighted(wholeWeights([0.7, 0.3]), { samples: 10 }).recipe, weighted([7, 3], { samples: 10 }).recipe);
  for (const [wrong, kind] of [
    [[0.5, -1], 'out-of-range'],
    [[NaN], 'out-of-range'],
    [[1, 1e-20], 'out-of-range'],
    [[0.5, 1n], 'wrong-type'],
    [['0.5'], 'wrong-type'],
    [0.5, 'wrong-type'],
    [undefined, 'missing'],
  ]) {
    assert.throws(() => wholeWeights(wrong), { kind, field: 'weights' });
  }
});
