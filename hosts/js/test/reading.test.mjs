// Readings: the samples of every worker of every rank, and the rest after a state. The golden cases have the expected
// numbers.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { inspect } from 'node:util';
import { blend, Reading, SamedealError, Sampler, ShardPlan, sharded } from 'samedeal';
import { componentInstances } from '../dist/engine/component.js';
import { Engine, over } from '../dist/engine.js';
import { BaseReading } from '../dist/read/reading.js';
import { compiled, limited, overridden, trap } from './limited.mjs';
import { changed, NO_STATES } from './states.mjs';
import { NO_LIST, NOT_32_BITS, NOT_WHOLE, refused, wrong } from './values.mjs';

const SIZES = [300, 0, 701, 2];
const TOTAL = 1003;
const EVERY = [...Array(TOTAL).keys()];
const ascending = (samples) => samples.toSorted((a, b) => a - b);
const again = (value) => JSON.parse(JSON.stringify(value));

const DEALS = {
  samples: { lanes: 6, shuffleWindow: 9, remainder: 'uneven' },
  'stored samples': { shuffle: false, remainder: 'uneven' },
  shards: { deal: 'shards' },
  'stored shards': { deal: 'shards', shuffle: false, policy: 'round-robin', workerPolicy: 'round-robin' },
  'shards by bytes': {
    deal: 'shards',
    balanceBy: 'bytes',
    bytes: [7, 9, 2 ** 40, 4n],
    reshuffle: true,
    shuffleRows: false,
  },
};

/** The samples of each reader; the workers of rank 0 come first. */
function lists(reading, { worldSize = 1, workers = 1 }) {
  return Array.from({ length: worldSize * workers }, (_, i) => [
    ...reading.indices(Math.floor(i / workers), i % workers),
  ]);
}

/**
 * The samples that the loaders of all ranks give in `steps` steps. A loader takes a batch of each worker of its rank in
 * turn.
 */
function taken(reading, group, steps) {
  const { workers = 1, batchSize = 1 } = group;
  const all = lists(reading, group);
  const seen = [];
  for (let first = 0; first < all.length; first += workers) {
    const left = all.slice(first, first + workers).filter(({ length }) => length > 0);
    for (let step = 0; step < steps && left.length > 0; step++) {
      const list = left.shift();
      seen.push(...list.splice(0, batchSize));
      if (list.length > 0) left.push(list);
    }
  }
  return seen;
}

describe('Reading', () => {
  test('samples go to readers as a Sampler deals them', () => {
    for (const [given, make] of [
      [{ lanes: 6, shuffleWindow: 9 }, (options) => Sampler.sharded(SIZES, { lanes: 6, shuffleWindow: 9, ...options })],
      [{}, (options) => Sampler.sharded(SIZES, options)],
      [{ shuffle: false }, (options) => new Sampler(TOTAL, { order: 'sequential', ...options })],
    ]) {
      for (const remainder of ['pad', 'drop', 'uneven']) {
        const reading = new Reading(SIZES, { ...given, remainder, seed: -5, worldSize: 3, workers: 2 }).atEpoch(7);
        for (let reader = 0; reader < 6; reader++) {
          const [rank, worker] = [reader % 3, Math.floor(reader / 3)];
          const sampler = make({ remainder, seed: -5, epoch: 7, rank: reader, worldSize: 6 });
          assert.deepEqual([...reading.indices(rank, worker)], [...sampler.indices()]);
          assert.equal(reading.numSamples(rank, worker), sampler.length);
          assert.equal(reading.numPadding(rank, worker), sampler.numPadding);
        }
      }
    }
  });

  test('shards go to readers as a ShardPlan gives them', () => {
    const reading = new Reading(SIZES, { deal: 'shards', seed: 3, worldSize: 2, workers: 2, batchSize: 10 }).atEpoch(
      2n,
    );
    const plan = new ShardPlan(SIZES, { seed: 3, epoch: 2, worldSize: 2, workers: 2 });
    const bases = [0, 300, 300, 1001];
    for (const [rank, worker] of [[0], [0, 1], [1], [1, 1]]) {
      const shards = [...plan.shards(rank, worker)];
      assert.deepEqual([...reading.shards(rank, worker)], shards);
      assert.deepEqual(
        [...reading.indices(rank, worker)],
        shards.flatMap((shard) => Array.from(plan.rows(shard), (row) => bases[shard] + row)),
      );
    }
    assert.deepEqual(reading.steps, plan.steps(10));
    // Only three shards have samples, so one of the four readers is idle.
    assert.equal(reading.numIdleReaders, 1);
  });

  for (const [name, deal] of Object.entries(DEALS)) {
    test(`${name}: every sample once, whoever goes on from wherever`, () => {
      const of = (group) => new Reading(SIZES, { ...deal, seed: 9, ...group });
      for (const groups of [
        [{ worldSize: 2, workers: 2, batchSize: 8 }, { workers: 3, batchSize: 5 }, {}],
        [{ workers: 4, batchSize: 3 }, { worldSize: 3 }, { worldSize: 2, workers: 5, batchSize: 7 }],
        [
          { worldSize: 3, workers: 2, batchSize: 4 },
          { worldSize: 3, workers: 2, batchSize: 4 },
          { worldSize: 3, workers: 2, batchSize: 4 },
        ],
      ]) {
        let reading = of(groups[0]).atEpoch(4);
        const seen = [];
        let steps = 0;
        for (const [number, group] of groups.entries()) {
          if (number > 0) reading = of(group).resume(reading.state(steps));
          assert.equal(reading.isRest, number > 0);
          assert.equal(reading.epoch, 4);
          // If there are several workers, the group stops in the middle of a turn.
          steps = number === 2 ? reading.steps.max : Math.floor(reading.steps.max / 7) | 1;
          seen.push(...taken(reading, group, steps));
        }
        assert.deepEqual(ascending(seen), EVERY);
        const over = reading.resume(reading.state(steps));
        assert.deepEqual([over.steps, over.isRest], [{ min: 0, max: 0, equal: true }, true]);
        assert.deepEqual(lists(over, groups[2]).flat(), []);
        assert.deepEqual([...over.rounds(0)], []);
      }
    });

    test(`${name}: the same group goes on batch for batch`, () => {
      const group = { worldSize: 2, workers: 3, batchSize: 16 };
      const reading = new Reading(SIZES, { ...deal, ...group });
      for (const steps of [0, 1, 4, 6]) {
        const rest = reading.resume(reading.state(steps));
        const left = reading.steps.max;
        const both = [...taken(reading, group, steps), ...taken(rest, group, left)];
        assert.deepEqual(ascending(both), EVERY);
        assert.equal(rest.numSteps(1), Math.max(0, reading.numSteps(1) - steps));
        assert.equal(rest.state(0), reading.state(steps));
      }
    });

    test(`${name}: the rounds of a reader cover its samples`, () => {
      const bases = [0, 300, 300, 1001];
      const whole = new Reading(SIZES, { ...deal, worldSize: 2, workers: 2, batchSize: 10 });
      for (const reading of [whole, whole.resume(whole.state(5))]) {
        for (const [rank, worker] of [
          [0, 0],
          [0, 1],
          [1, 0],
          [1, 1],
        ]) {
          const samples = reading.indices(rank, worker);
          const rounds = [...reading.rounds(rank, worker)];
          let next = 0;
          for (const { start, count, spans } of rounds) {
            assert.equal(start, next);
            assert(count > 0);
            next += count;
            const stored = Array.from(spans.shard, (shard, i) => {
              const [first, many] = [spans.firstRow[i], spans.numRows[i]];
              assert(first + many <= SIZES[shard]);
              return Array.from({ length: many }, (_, row) => bases[shard] + first + row);
            }).flat();
            assert.equal(spans.lane.length, spans.shard.length);
            const own = samples.subarray(start, next);
            assert(own.every((sample) => stored.includes(sample)));
            const number = reading.roundOf(rank, worker, start);
            const found = reading.roundRows(rank, worker, number);
            assert.deepEqual(
              Array.from(found.rows, (row) => stored[row]),
              [...own],
            );
            const dealt = samples.length - reading.numPadding(rank, worker);
            assert.equal(found.numPadding, Math.max(0, next - Math.max(start, dealt)));
            assert.deepEqual(reading.roundRows(rank, worker, number, 1).rows, found.rows.slice(1));
          }
          assert.equal(next, samples.length);
          for (const at of [0, 1, Math.floor(next / 2), next - 1].filter((at) => at >= 0 && at < next)) {
            const number = reading.roundOf(rank, worker, at);
            const { start, count } = reading.round(rank, worker, number);
            assert(start <= at && at < start + count);
            assert.deepEqual(
              [...reading.rounds(rank, worker, at)],
              rounds.filter((round) => round.start >= start),
            );
          }
          assert.deepEqual([...reading.rounds(rank, worker, next)], []);
        }
      }
    });
  }

  test('a run of samples, by default all', () => {
    const length = 2 ** 20 + 5;
    const reading = new Reading([length], { lanes: 4 });
    const all = reading.indices(0);
    assert(all instanceof Float64Array);
    assert.equal(new Set(all).size, length);
    const [start, end] = [1, 2 ** 20 + 3];
    const run = reading.indices(0, 0, BigInt(start), end);
    assert(run.length === end - start && run.every((sample, i) => sample === all[start + i]));
    assert.deepEqual(reading.indices(0n, 0n, length), new Float64Array(0));
    const large = new Reading([2 ** 52, 5]).indices(0, 0, 2 ** 50, 2 ** 50 + 3);
    assert(large.every((sample) => Number.isSafeInteger(sample)) && new Set(large).size === 3);
  });

  test('what decides it, and how much is decoded twice', () => {
    const reading = new Reading(SIZES, { seed: -(2n ** 63n), worldSize: 3 });
    assert.equal(
      reading.recipe,
      '{"samedeal":1,"order":{"name":"sharded","samples":1003,"seed":"-9223372036854775808","lanes":64,"shuffle_window":256,' +
        '"shards":4,"sizes":[300,0,701,2]},"deal":{"world_size":3,"workers":1,"remainder":"pad"},' +
        '"batch":{"batch_size":1,"drop_last":false}}',
    );
    const { worldSize, workers, batchSize, seed } = reading.atEpoch(3);
    assert.deepEqual([worldSize, workers, batchSize, seed], [3, 1, 1, -(2n ** 63n)]);
    assert.equal(reading.readsPerRow, 3);
    assert.equal(new Reading(SIZES, { lanes: 6, worldSize: 3 }).readsPerRow, 1);
    assert.equal(reading.lanesReadOnce, 63);
    for (const none of [new Reading(SIZES, { shuffle: false }), new Reading(SIZES, { deal: 'shards' })]) {
      assert.deepEqual([none.lanesReadOnce, none.mixingAdvice], [undefined, undefined]);
    }
    assert.equal(reading.mixingAdvice, undefined);
    const advice = { lanesPerReader: 8, varianceRatio: 4, lanes: 128, shuffleWindow: 128 };
    assert.deepEqual(new Reading(SIZES, { worldSize: 8, batchSize: 32 }).mixingAdvice, advice);
    const suggested = { lanes: 96, shuffleWindow: 256, varianceRatio: 21 };
    assert.deepEqual(new Reading([400_000], { batchSize: 256 }).suggestedLanes(2_000, 8), suggested);
    const divides = { lanes: 80, shuffleWindow: 256, varianceRatio: 26 };
    const begun = new Reading([400_000], { batchSize: 256 });
    assert.deepEqual(begun.suggestedLanes(2_000, 8, [720, 1_200n, 400_000]), divides);
    assert.deepEqual(begun.suggestedLanes(2_000, 8, [721]), suggested);
    assert.equal(reading.suggestedLanes(2_000, 0), null);
    const failure = { kind: 'out-of-range', field: 'multiples' };
    assert.throws(() => begun.suggestedLanes(2_000, 8, [8, -1]), failure);
    assert.deepEqual([...reading.sizes], SIZES);
    reading.sizes.fill(1);
    assert.deepEqual([...reading.sizes], SIZES);
    assert.equal(reading.atEpoch(2n ** 64n - 1n).epoch, 2n ** 64n - 1n);
  });

  test('a reading is made again by its recipe', () => {
    for (const options of [...Object.values(DEALS), { worldSize: 2, workers: 3, batchSize: 4, dropLast: true }]) {
      const reading = new Reading(SIZES, { ...options, seed: -7 });
      const again = Reading.fromRecipe(reading.recipe);
      assert.deepEqual([again.recipe, again.indices(0)], [reading.recipe, reading.indices(0)]);
      assert.equal(Reading.fromRecipe(JSON.parse(reading.recipe)).recipeFingerprint(), reading.recipeFingerprint());
    }
    const sizes = new Array(300).fill(2);
    const { recipe } = new Reading(sizes);
    refused(() => Reading.fromRecipe(recipe), 'missing', 'sizes');
    assert.equal(Reading.fromRecipe(recipe, { sizes }).recipe, recipe);
    refused(
      () => Reading.fromRecipe({ order: { sizes: [1] }, deal: { layout: 'strided' } }),
      'contradiction',
      'layout',
    );
    refused(() => Reading.fromRecipe({ deal: {} }), 'missing', 'order');
    refused(() => Reading.fromRecipe(recipe, { size: [1] }), 'unknown-name', 'options');
  });

  test('JSON and source make an equal one', () => {
    const bytes = [7, 9, 2 ** 40, 4n];
    const given = {
      deal: 'shards',
      balanceBy: 'bytes',
      bytes,
      seed: 2n ** 60n,
      worldSize: 2,
      workers: 3,
      batchSize: 4,
      dropLast: true,
    };
    const reading = new Reading(BigUint64Array.from(SIZES, BigInt), given);
    const moved = [reading, reading.atEpoch(2n ** 64n - 1n), reading.resume(reading.atEpoch(3).state(2))];
    for (const one of [...moved, new Reading([]), new Reading([5], { shuffle: false })]) {
      const made = new Function('Reading', `return ${one}`)(Reading);
      for (const twin of [made, Reading.fromJSON(again(one))]) {
        assert(twin instanceof Reading);
        assert.deepEqual(again(twin), again(one));
        assert.equal(twin.state(0), one.state(0));
        assert.deepEqual([twin.recipe, twin.recipeFingerprint()], [one.recipe, one.recipeFingerprint()]);
      }
    }
    assert.deepEqual(again(moved[1]), {
      recipe:
        '{"shards":{"seed":"1152921504606846976","balance_by":"bytes"},"deal":{"world_size":2,"workers":3},' +
        '"batch":{"batch_size":4,"drop_last":true}}',
      sizes: SIZES,
      bytes: bytes.map(Number),
      epoch: String(2n ** 64n - 1n),
    });
    // The component has the defaults, so options that were not given are not written.
    assert.deepEqual(again(new Reading([5])), {
      recipe: '{"order":{"name":"sharded"}}',
      sizes: [5],
      epoch: '0',
    });
    const many = new Reading(new Array(100).fill(1), { seed: 3 }).atEpoch(1);
    assert.match(
      inspect(many),
      /^Reading\.fromRecipe\('.*', \{ sizes: \[(1, ){16}\.\.\. 84 more\] \}\)\.atEpoch\(1\)$/,
    );
    assert.match(inspect(moved[2]), /\.resume\('\{"samedeal":1,.{230,260}\.\.\.'\)$/);
    const { recipe } = again(many);
    refused(() => Reading.fromJSON({ recipe, sizes: ['five'] }), 'wrong-type', 'sizes');
    refused(() => Reading.fromJSON({ recipe }), 'missing', 'sizes');
    refused(() => Reading.fromJSON({ sizes: [5] }), 'missing', 'recipe');
    refused(() => Reading.fromJSON({ recipe, sizes: [5], epoch: '-1' }), 'out-of-range', 'epoch');
    refused(() => Reading.fromJSON({ recipe, sizes: [5], state: '{}' }), 'wrong-type', 'state');
    refused(() => Reading.fromJSON({ recipe, sizes: [5], size: 3 }), 'unknown-name', 'options');
    refused(() => Reading.fromJSON(null), 'wrong-type', 'options');
  });
});

describe('what is refused', () => {
  const reading = new Reading(SIZES, {
    lanes: 6,
    shuffleWindow: 9,
    worldSize: 2,
    workers: 2,
    batchSize: 8,
    remainder: 'uneven',
  });
  const [before, samples] = [reading.state(3), reading.indices(1, 1)];
  const unchanged = () => {
    assert.equal(reading.state(3), before);
    assert.deepEqual(reading.indices(1, 1), samples);
  };

  test('numbers', () => {
    const NOT_64_BITS = [-1, -1n, 2n ** 64n, 1e300];
    const as = (option) => (value) => new Reading(SIZES, { [option]: value });
    const length = samples.length;
    for (const [field, outside, call] of [
      ['seed', [2 ** 53, 2n ** 63n, 1e300], as('seed')],
      ['lanes', [0, 65_537, ...NOT_32_BITS], as('lanes')],
      ['shuffle_window', [0, 2 ** 20 + 1, ...NOT_32_BITS], as('shuffleWindow')],
      ['world_size', [0, 2 ** 22 + 1, ...NOT_32_BITS], as('worldSize')],
      ['workers', [0, 2 ** 16 + 1, ...NOT_32_BITS], as('workers')],
      ['batch_size', [0, ...NOT_32_BITS], as('batchSize')],
      ['epoch', NOT_64_BITS, (value) => reading.atEpoch(value)],
      ['steps', [reading.steps.max + 1, ...NOT_64_BITS], (value) => reading.state(value)],
      ['rank', [2, ...NOT_32_BITS], (value) => reading.numSteps(value)],
      ...['numSamples', 'numPadding', 'indices', 'numRounds', 'rounds', 'shards'].flatMap((name) => [
        ['rank', [2, ...NOT_32_BITS], (value) => reading[name](value)],
        ['worker', [2, ...NOT_32_BITS], (value) => reading[name](0, value)],
      ]),
      ['start', [length + 1, ...NOT_64_BITS], (value) => reading.indices(1, 1, value)],
      ['end', [length + 1, 4, ...NOT_64_BITS], (value) => reading.indices(1, 1, 5, value)],
      ['start', [length + 1, ...NOT_64_BITS], (value) => reading.rounds(1, 1, value)],
      ['number', [reading.numRounds(1, 1), ...NOT_64_BITS], (value) => reading.round(1, 1, value)],
      ['index', [length, ...NOT_64_BITS], (value) => reading.roundOf(1, 1, value)],
    ]) {
      for (const value of NOT_WHOLE) refused(() => call(value), wrong(value), field);
      for (const value of outside) refused(() => call(value), 'out-of-range', field);
      unchanged();
    }
    refused(() => reading.indices(), 'missing', 'rank');
    refused(() => reading.round(0, 0), 'missing', 'number');
    assert.throws(() => reading.state(-1), { allowed: `0 to ${reading.steps.max}` });
    assert.throws(() => reading.roundOf(1, 1, 2n ** 64n), { allowed: `0 to ${length - 1}` });
  });

  test('lists', () => {
    for (const value of NO_LIST) {
      refused(() => new Reading(value), wrong(value), 'sizes');
      if (value === undefined) continue;
      refused(() => new Reading(SIZES, { deal: 'shards', balanceBy: 'bytes', bytes: value }), wrong(value), 'bytes');
    }
    refused(() => new Reading([1, -1]), 'out-of-range', 'sizes');
    refused(() => new Reading([1, '1']), 'wrong-type', 'sizes');
    refused(() => new Reading([2 ** 52, 2 ** 52]), 'out-of-range', 'sizes');
    refused(() => new Reading([1], { deal: 'shards', balanceBy: 'bytes', bytes: [1, 2] }), 'contradiction', 'bytes');
  });

  test('names and switches', () => {
    const sharded = { deal: 'shards' };
    for (const [option, field, others] of [
      ['deal', 'deal', {}],
      ['remainder', 'remainder', {}],
      ['policy', 'policy', sharded],
      ['workerPolicy', 'worker_policy', sharded],
      ['balanceBy', 'balance_by', sharded],
    ]) {
      for (const value of [null, 3, true, {}, ['pad']]) {
        refused(() => new Reading(SIZES, { ...others, [option]: value }), 'wrong-type', field);
      }
      for (const value of ['', 'Samples', 'even ', '\ud800', 'x'.repeat(2 ** 24)]) {
        refused(() => new Reading(SIZES, { ...others, [option]: value }), 'unknown-name', field);
      }
    }
    for (const [option, field, others] of [
      ['shuffle', 'shuffle', {}],
      ['dropLast', 'drop_last', {}],
      ['shuffleRows', 'shuffle_rows', sharded],
      ['reshuffle', 'reshuffle', sharded],
    ]) {
      for (const value of [null, 0, 1, 'true', {}]) {
        refused(() => new Reading(SIZES, { ...others, [option]: value }), 'wrong-type', field);
      }
    }
  });

  test('options that the deal does not use, and unknown ones', () => {
    for (const [options, field] of [
      [{ shuffleRows: false }, 'shuffle_rows'],
      [{ reshuffle: false }, 'reshuffle'],
      [{ policy: 'size-aware' }, 'policy'],
      [{ workerPolicy: 'size-aware' }, 'worker_policy'],
      [{ balanceBy: 'samples' }, 'balance_by'],
      [{ bytes: [] }, 'lists'],
      [{ deal: 'shards', lanes: 64 }, 'lanes'],
      [{ deal: 'shards', shuffleWindow: 256 }, 'shuffle_window'],
      [{ deal: 'shards', remainder: 'pad' }, 'remainder'],
      [{ shuffle: false, lanes: 64 }, 'lanes'],
      [{ shuffle: false, shuffleWindow: 256 }, 'shuffle_window'],
      [{ deal: 'shards', bytes: [1, 2, 3, 4] }, 'bytes'],
    ]) {
      refused(() => new Reading(SIZES, options), 'contradiction', field);
    }
    refused(() => new Reading(SIZES, { deal: 'shards', balanceBy: 'bytes' }), 'missing', 'bytes');
    refused(() => new Reading(SIZES, { epoch: 3 }), 'unknown-name', 'options');
    refused(() => new Reading(SIZES, { drop_last: true }), 'unknown-name', 'options');
    for (const value of [null, 3, 'seed', []]) refused(() => new Reading(SIZES, value), 'wrong-type', 'options');
    // An option that is undefined counts as not given.
    const same = new Reading(SIZES, { lanes: undefined, policy: undefined, bytes: undefined });
    assert.equal(same.recipe, new Reading(SIZES).recipe);
  });

  test('states of anything else', () => {
    for (const text of NO_STATES) refused(() => reading.resume(text), wrong(text), 'state');
    for (const value of [
      undefined,
      null,
      3,
      {},
      [],
      { samedeal: 1 },
      { samedeal: null },
      Symbol('3'),
      JSON.parse(before),
    ]) {
      refused(() => reading.resume(value), wrong(value), 'state');
    }
    refused(() => reading.resume(before + ' '.repeat(2 ** 24)), 'out-of-range', 'state');
    refused(() => reading.resume('x'.repeat(2 ** 28)), 'out-of-range', 'state');
    refused(() => reading.resume(new Sampler(TOTAL).state(3)), 'wrong-type', 'state');
    const own = { lanes: 6, shuffleWindow: 9 };
    for (const [sizes, options, field] of [
      [SIZES, { ...own, seed: 1 }, 'seed'],
      [SIZES, { ...own, lanes: 7 }, 'lanes'],
      [SIZES, { ...own, shuffleWindow: 8 }, 'shuffle_window'],
      [SIZES, { shuffle: false }, 'name'],
      [SIZES, { deal: 'shards' }, 'recipe'],
      [[300, 0, 700, 3], own, 'sizes'],
      [[...SIZES, 0], own, 'shards'],
    ]) {
      refused(() => new Reading(sizes, options).resume(before), 'contradiction', field);
    }
    unchanged();
  });

  test('states with something else in one place are refused, or give a reading that answers', () => {
    let refusals = 0;
    for (const text of changed(before, 1500)) {
      try {
        const rest = reading.resume(text);
        assert(rest.isRest === true || rest.isRest === false);
        rest.state(rest.steps.max);
        rest.indices(1, 1);
        rest.dispose();
      } catch (error) {
        assert(error instanceof SamedealError, error.stack);
        refusals += 1;
      }
    }
    assert(refusals > 1000);
    unchanged();
  });

  test('the dictionary that Python saves is a state, its text in it', () => {
    const rest = reading.resume({ samedeal: before });
    assert.equal(rest.state(0), before);
    assert.deepEqual(rest.indices(0, 1), reading.resume(before).indices(0, 1));
    assert.equal(Reading.fromJSON(again(rest)).state(0), before);
    refused(() => reading.resume(Object.create({ samedeal: before })), 'wrong-type', 'state');
  });
});

describe('memory', () => {
  test('readings that do not fit are an error, and those that do go on', () => {
    // All readings share this one instance.
    const bindings = componentInstances(limited)();
    const Limited = over(BaseReading, () => new Engine(() => bindings));
    const kept = [];
    const fill = () => {
      for (;;) kept.push(new Limited(new Uint32Array(20_000).fill(3)));
    };
    assert.throws(fill, { name: 'SamedealError', kind: 'out-of-memory' });
    assert(kept.length > 5);
    for (const reading of kept) {
      assert.equal(reading.numSteps(0), 60_000);
      refused(() => reading.numSteps(1), 'out-of-range', 'rank');
    }
    for (const reading of kept) reading.dispose();
    // The memory for the options and for the reading of epoch 0 is freed with each reading.
    for (let epoch = 0; epoch < 100; epoch++) {
      const whole = new Limited(new Uint32Array(20_000).fill(3), { workers: 2 });
      const moved = whole.atEpoch(epoch);
      for (const reading of [whole, moved, moved.resume(moved.state(3))]) reading.dispose();
    }
  });

  test('the garbage collector gives memory back', async () => {
    const bindings = componentInstances(limited)();
    const engine = new Engine(() => bindings);
    const Limited = over(BaseReading, () => engine);
    for (let i = 0; i < 60; i++) {
      new Limited(new Uint32Array(20_000).fill(3)).atEpoch(i);
      globalThis.gc();
      await setImmediate();
    }
  });

  test('a reading whose instance is lost is made again, where it stood', () => {
    let made = 0;
    const instances = componentInstances(compiled);
    const engine = new Engine(() => {
      made += 1;
      const { readings, ...others } = instances();
      return {
        ...others,
        readings: { ...readings, Reading: overridden(readings.Reading, () => ({ numIdleReaders: trap })) },
      };
    });
    const Own = over(BaseReading, () => engine);
    const whole = new Own(SIZES, { lanes: 6, workers: 2, batchSize: 7 });
    const moved = whole.atEpoch(5);
    const all = [whole, moved, moved.resume(moved.state(3))];
    const before = all.map((reading) => [reading.state(1), reading.indices(0, 1)]);
    assert.throws(() => whole.numIdleReaders, { message: 'unreachable' });
    assert.deepEqual(
      all.map((reading) => [reading.state(1), reading.indices(0, 1)]),
      before,
    );
    assert.equal(made, 2);
  });

  test('a stack that overflows in a call ends the call, and nothing else', () => {
    const reading = new Reading(SIZES, { deal: 'shards', worldSize: 3, workers: 2, batchSize: 9 });
    const state = reading.atEpoch(8).state(5);
    const before = reading.indices(1, 1);
    const calls = [
      () => reading.resume(state),
      () => reading.indices(1, 1),
      () => reading.atEpoch(9),
      () => [...reading.rounds(2)],
      () => reading.state(4),
    ];
    let overflows = 0;
    const nearTheEnd = (call) => {
      try {
        nearTheEnd(call);
      } catch (error) {
        // The bindings may report the overflow as a task that ended early, but never as the failure of a value.
        assert(error instanceof Error && !(error instanceof SamedealError), String(error));
        overflows += 1;
        call();
      }
    };
    for (let round = 0; round < 2 * calls.length; round++) {
      try {
        nearTheEnd(calls[round % calls.length]);
      } catch (error) {
        assert(error instanceof Error && !(error instanceof SamedealError), String(error));
      }
      assert.deepEqual(reading.indices(1, 1), before);
    }
    assert(overflows >= 2 * calls.length);
    assert.equal(reading.resume(state).state(0), state);
  });

  test('a reading that was disposed of says so, and those made of it go on', () => {
    const reading = new Reading(SIZES);
    const [moved, rest] = [reading.atEpoch(3), reading.resume(reading.state(5))];
    reading[Symbol.dispose ?? Symbol.for('Symbol.dispose')]();
    reading.dispose();
    assert.throws(() => reading.indices(0), { message: 'this reading has been disposed of' });
    const recipe = '{"order":{"name":"sharded"}}';
    assert.equal(String(reading), `Reading.fromRecipe('${recipe}', { sizes: [300, 0, 701, 2] })`);
    assert.deepEqual([moved.numSamples(0), rest.numSamples(0)], [TOTAL, TOTAL - 5]);
  });
});

describe('orders that are made of others', () => {
  const mixed = blend(
    { web: [sharded([40, 30], { lanes: 4, shuffleWindow: 8 }), 7], code: [sharded([20], { lanes: 2 }), 3] },
    { samples: 200, seed: 5 },
  );

  test('come in place of the sizes', () => {
    const reading = new Reading(mixed, { worldSize: 2, workers: 2, batchSize: 8, remainder: 'uneven' });
    assert.deepEqual([...reading.sizes], [40, 30, 20]);
    const read = [0, 1].flatMap((rank) => [0, 1].flatMap((worker) => [...reading.indices(rank, worker)]));
    assert.deepEqual(ascending(read), ascending([...new Sampler(mixed)]));
    const same = Reading.fromRecipe(reading.recipe);
    assert.equal(same.recipeFingerprint(), reading.recipeFingerprint());
    assert.deepEqual(Reading.fromJSON(again(reading)).indices(1, 1), reading.indices(1, 1));
    const rest = new Reading(mixed, { workers: 3, remainder: 'uneven' }).resume(reading.state(3));
    assert.equal(rest.numSamples(0, 0) + rest.numSamples(0, 1) + rest.numSamples(0, 2), 200 - 2 * 3 * 8);
  });

  test('have lists by their paths', () => {
    const sizes = Array.from({ length: 300 }, (_, at) => at % 5);
    const view = sharded(sizes).exclude([1, 2, 3]);
    const reading = new Reading(view);
    const again = Reading.fromRecipe(reading.recipe, { lists: { 'of/sizes': sizes } });
    assert.deepEqual(again.indices(0), reading.indices(0));
    assert.deepEqual(Reading.fromJSON(JSON.parse(JSON.stringify(again))).indices(0), reading.indices(0));
    refused(() => Reading.fromRecipe(reading.recipe), 'missing', 'sizes');
    refused(() => new Reading(blend({ a: [13] })), 'contradiction', 'name');
    refused(() => new Reading(mixed, { lanes: 4 }), 'unknown-name', 'options');
  });
});
