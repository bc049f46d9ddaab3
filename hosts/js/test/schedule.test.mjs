// Schedules: the steps of a whole training in one sequence. The golden cases have the expected numbers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { blend, order, Sampler, Schedule, sharded } from 'samedeal';
import { componentInstances } from '../dist/engine/component.js';
import { Engine, over } from '../dist/engine.js';
import { BaseSchedule } from '../dist/steps/schedule.js';
import { compiled, limited, overridden, trap } from './limited.mjs';
import { NO_STATES } from './states.mjs';
import { NOT_32_BITS, NOT_WHOLE, overflow, refused, wrong } from './values.mjs';

const range = (count, first = 0) => Array.from({ length: count }, (_, i) => first + i);
/** The samples of several epochs, one after the other. */
const drawn = (what, epochs, options = {}) =>
  range(epochs).flatMap((epoch) => [...new Sampler(what, { epoch, ...options })]);
/** The samples of all ranks at each step, sorted within the step. */
const stepsOf = (schedule, count, first = 0) =>
  range(count, first).map((step) =>
    range(schedule.worldSize)
      .flatMap((rank) => [...schedule.atRank(rank).batch(step)])
      .sort((a, b) => a - b),
  );

test('a step takes the next samples, over the ends of epochs', () => {
  const whole = drawn(10, 4, { seed: 7 });
  const one = new Schedule(10, 4, { seed: 7 });
  assert.deepEqual([...one.indices(0, 10)], whole);
  assert.deepEqual([...one.batch(2)], whole.slice(8, 12));
  assert.deepEqual(one.placeOf(2), { epoch: 0, position: 8 });
  assert.deepEqual(one.placeOf(3), { epoch: 1, position: 2 });
  assert.deepEqual([one.stepOf(1, 0), one.stepOf(1, 2), one.stepOfConsumed(11), one.stepOfConsumed(12n)], [2, 3, 2, 3]);
  assert.deepEqual([one.samplesConsumed(3), one.globalBatchSize(3)], [12, 4]);
  const { worldSize, rank, datasetSize, seed, order: name, layout, unit } = one;
  assert.deepEqual([worldSize, rank, datasetSize, seed, name, layout, unit], [1, 0, 10, 7, 'feistel', 'strided', 1]);
});

test('the samples of a step do not depend on the number of ranks', () => {
  for (const what of [50, order('torch', { samples: 50, seed: 3 }), sharded([20, 0, 30], { lanes: 4 })]) {
    const alone = stepsOf(new Schedule(what, 24), 12);
    for (const options of [
      { worldSize: 2 },
      { worldSize: 8, layout: 'contiguous' },
      { worldSize: 3, layout: 'rotated', unit: 4 },
      { worldSize: 24 },
    ]) {
      assert.deepEqual(stepsOf(new Schedule(what, 24, options), 12), alone);
    }
  }
});

test('the batch size changes by stages', () => {
  const stages = [
    [0, 4],
    [3, 8],
    [5n, 2n],
  ];
  const schedule = new Schedule(10, stages, { seed: 1, worldSize: 2, rank: 1 });
  assert.deepEqual(
    range(7).map((step) => schedule.globalBatchSize(step)),
    [4, 4, 4, 8, 8, 2, 2],
  );
  assert.deepEqual(
    range(8).map((step) => schedule.samplesConsumed(step)),
    [0, 4, 8, 12, 20, 28, 30, 32],
  );
  assert.deepEqual(
    [...schedule.batches(0, 7)].map(({ length }) => length),
    [2, 2, 2, 4, 4, 1, 1],
  );
  assert.deepEqual(
    [...schedule.indices(2, 4)],
    [...schedule.batches(2, 6)].flatMap((batch) => [...batch]),
  );
  assert.deepEqual(JSON.parse(schedule.recipe).steps, {
    global_batch_size: 4,
    stages: [
      { from: 3, global_batch_size: 8 },
      { from: 5, global_batch_size: 2 },
    ],
  });
  assert.deepEqual(
    stepsOf(schedule, 7)
      .flat()
      .sort((a, b) => a - b),
    drawn(10, 4, { seed: 1 })
      .slice(0, 32)
      .sort((a, b) => a - b),
  );
});

test('iteration, also from a step', () => {
  const schedule = new Schedule(1000, 8, { worldSize: 2, rank: 1 });
  const seen = [];
  for (const batch of schedule) {
    seen.push(...batch);
    if (seen.length >= 12) break;
  }
  assert.deepEqual(seen, [...schedule.indices(0, 3)]);
  assert.deepEqual(
    [...schedule.batches(5, 8)],
    range(3, 5).map((step) => schedule.batch(step)),
  );
  assert.deepEqual([...schedule.batches(8, 8)], []);
  assert.deepEqual(schedule.indices(9, 0), new Uint32Array(0));
  assert.deepEqual(schedule.indices(9), schedule.batch(9));
});

test('long runs are the windows that they are read in', () => {
  const schedule = new Schedule(
    1e6,
    [
      [0, 3000],
      [50, 60_000],
      [60, 300],
    ],
    { worldSize: 3, rank: 2 },
  );
  const whole = schedule.indices(0, 3000);
  assert.equal(whole.length, 50 * 1000 + 10 * 20_000 + 2940 * 100);
  const one = [...schedule.batches(0, 3000)].flatMap((batch) => [...batch]);
  assert.deepEqual([...whole], one);
  // A step with more samples than fit into one window.
  const large = new Schedule(1e6, 200_000);
  assert.deepEqual(new Set(large.indices(0, 5)).size, 1e6);
});

test('more samples than 32 bits', () => {
  const schedule = new Schedule(2 ** 40, 4, { seed: 3 });
  const batch = schedule.batch(2 ** 30);
  assert(batch instanceof Float64Array && schedule.indices(0, 2) instanceof Float64Array);
  assert.deepEqual([...batch], [...new Sampler(2 ** 40, { seed: 3 }).indices(2 ** 32, 2 ** 32 + 4)]);
});

test('places of a sample', () => {
  const schedule = new Schedule(10, 4, { seed: 7, worldSize: 2 });
  const whole = drawn(10, 3, { seed: 7 });
  for (const sample of range(10)) {
    const place = schedule.locate(sample);
    assert.equal(place.samplesConsumed, whole.indexOf(sample));
    const own = schedule.atRank(place.rank);
    assert.equal(own.batch(place.step)[place.indexInBatch], sample);
    assert.equal(schedule.stepOf(place.epoch, place.position), place.step);
    const next = schedule.locate(sample, place.step + 1);
    assert(next.samplesConsumed > place.samplesConsumed && next.step > place.step);
  }
  const left = new Schedule(order('feistel', { samples: 10 }).exclude([3]), 4);
  assert.equal(left.locate(3), null);
});

test('units stay together, with composed orders', () => {
  const groups = order('feistel', { samples: 30, seed: 1 }).copies(8);
  const schedule = new Schedule(groups, 64, { worldSize: 4, unit: 8 });
  for (const rank of range(4)) {
    const own = schedule.atRank(rank);
    assert.equal(own.rank, rank);
    for (const step of range(10)) {
      const batch = own.batch(step);
      assert.deepEqual([batch.length, new Set(batch.subarray(0, 8)).size, new Set(batch.subarray(8)).size], [16, 1, 1]);
    }
  }
});

test('a run goes on after a state, on other ranks and with other batch sizes', () => {
  const first = new Schedule(100, 12, { seed: 5, worldSize: 4 });
  const state = first.state(20);
  for (const rank of range(4)) assert.equal(first.atRank(rank).state(20), state);
  const { epoch, consumed, step } = JSON.parse(state);
  assert.deepEqual([epoch, consumed, step], [2, 40, 20]);
  const more = new Schedule(
    100,
    [
      [0, 12],
      [20, 30],
    ],
    { seed: 5, worldSize: 3, rank: 1 },
  );
  const at = more.resume(state);
  assert.equal(at, 20);
  const seen = [stepsOf(first, 20), stepsOf(more, 6, at)].flat(2);
  assert.deepEqual(
    seen.slice(240).sort((a, b) => a - b),
    drawn(100, 5, { seed: 5 })
      .slice(240, 420)
      .sort((a, b) => a - b),
  );
  refused(() => new Schedule(100, 6, { seed: 5 }).resume(state), 'contradiction', 'global_batch_size');
  refused(
    () =>
      new Schedule(
        100,
        [
          [0, 12],
          [19, 30],
        ],
        { seed: 5 },
      ).resume(state),
    'contradiction',
    'stages',
  );
  refused(() => new Schedule(100, 12, { seed: 6 }).resume(state), 'contradiction', 'seed');
  refused(() => new Schedule(101, 12, { seed: 5 }).resume(state), 'contradiction', 'samples');
  refused(() => more.resume(new Sampler(100, { seed: 5 }).state(3)), 'wrong-type', 'state');
  for (const text of NO_STATES) refused(() => more.resume(text), wrong(text), 'state');
  for (const value of [undefined, null, 3, {}, JSON.parse(state)])
    refused(() => more.resume(value), wrong(value), 'state');
  refused(() => more.resume(' '.repeat(2 ** 24 + 1)), 'out-of-range', 'state');
  assert.equal(more.resume(state), 20);
});

test('the first batch sizes may be those of other ranks', () => {
  const sizes = [
    [0, 12],
    [20, 30],
  ];
  const state = new Schedule(100, 12, { worldSize: 4 }).state(20);
  const five = new Schedule(100, sizes, { worldSize: 5 });
  assert.equal(five.resume(state), 20);
  assert.deepEqual(stepsOf(five, 4, 20), stepsOf(new Schedule(100, sizes), 4, 20));
  assert.deepEqual([five.globalBatchSize(3), five.samplesConsumed(20), five.batch(20).length], [12, 240, 6]);
  for (const call of [() => five.batch(19), () => five.indices(0, 30), () => five.indices(19, 2)]) {
    assert.throws(call, { kind: 'contradiction', field: 'global_batch_size', value: '12' });
  }
  refused(() => five.locate([...five.batch(20)][0], 0), 'contradiction', 'global_batch_size');
  refused(() => new Schedule(100, [...sizes, [30, 12]], { worldSize: 5 }), 'contradiction', 'global_batch_size');
});

test('a blend that got a stage goes on', () => {
  const mixed = blend({ web: [1000, 3], code: [300, 1] }, { seed: 7, samples: 4000 });
  const state = new Schedule(mixed, 64, { worldSize: 8 }).state(10);
  const later = new Schedule(mixed.stage(700, [1, 1]), 64, { worldSize: 4 });
  assert.equal(later.resume(state), 10);
  assert.equal(later.layout, 'rotated');
  refused(() => new Schedule(mixed.stage(600, [1, 1]), 64).resume(state), 'contradiction', 'stages');
});

test('a recipe makes an equal schedule', () => {
  const plain = new Schedule(
    100,
    [
      [0, 12],
      [7, 24],
    ],
    { seed: 2n ** 63n - 1n, worldSize: 3, rank: 2, layout: 'contiguous', unit: 2 },
  );
  const text =
    '{"samedeal":1,"order":{"name":"feistel","samples":100,"seed":"9223372036854775807"},' +
    '"deal":{"world_size":3,"layout":"contiguous","unit":2},"steps":{"global_batch_size":12,"stages":[{"from":7,"global_batch_size":24}]}}';
  assert.equal(plain.recipe, text);
  const sizes = range(300).map((i) => 1 + (i % 9));
  const shards = new Schedule(sharded(sizes), 8, { worldSize: 2, rank: 1 });
  const composed = new Schedule(order('feistel', { samples: 1000 }).exclude(range(300)), 8);
  for (const [schedule, options] of [
    [plain, { rank: 2 }],
    [shards, { rank: 1, sizes }],
    [composed, { lists: { indices: Uint32Array.from(range(300)) } }],
  ]) {
    for (const other of [
      Schedule.fromRecipe(schedule.recipe, options),
      Schedule.fromRecipe(JSON.parse(schedule.recipe.replace('"9223372036854775807"', '7')), options),
      Schedule.fromJSON(JSON.parse(JSON.stringify(schedule))),
    ]) {
      assert(other instanceof Schedule);
      assert.deepEqual([other.rank, other.worldSize, other.unit], [schedule.rank, schedule.worldSize, schedule.unit]);
      if (other.seed !== schedule.seed) continue;
      assert.deepEqual([other.recipe, other.recipeFingerprint()], [schedule.recipe, schedule.recipeFingerprint()]);
      assert.deepEqual(other.indices(3, 9), schedule.indices(3, 9));
    }
    const made = new Function('Schedule', `return ${schedule}`)(Schedule);
    assert.deepEqual([made.recipe, made.rank], [schedule.recipe, schedule.rank]);
    assert.match(inspect(schedule), /^Schedule\.fromRecipe\('/);
  }
  refused(() => Schedule.fromRecipe(shards.recipe), 'missing', 'sizes');
});

test('what is no schedule is refused', () => {
  for (const [call, kind, field, value] of [
    [() => new Schedule(100, 6, { worldSize: 4 }), 'contradiction', 'global_batch_size', '6'],
    [() => new Schedule(100, 8, { worldSize: 4, unit: 4 }), 'contradiction', 'global_batch_size', '8'],
    [
      () =>
        new Schedule(
          100,
          [
            [0, 8],
            [5, 6],
          ],
          { worldSize: 4 },
        ),
      'contradiction',
      'global_batch_size',
      '6',
    ],
    [() => new Schedule(100, 0), 'out-of-range', 'global_batch_size', '0'],
    [() => new Schedule(100, 2 ** 32), 'out-of-range', 'global_batch_size', '4294967296'],
    [() => new Schedule(100, -1), 'out-of-range', 'global_batch_size', '-1'],
    [() => new Schedule(100, undefined), 'missing', 'global_batch_size'],
    [() => new Schedule(100, '8'), 'wrong-type', 'global_batch_size'],
    [() => new Schedule(100, { 0: 8 }), 'wrong-type', 'global_batch_size'],
    [() => new Schedule(100, []), 'missing', 'global_batch_size'],
    [() => new Schedule(100, [[5, 8]]), 'missing', 'global_batch_size'],
    [() => new Schedule(100, [8]), 'wrong-type', 'global_batch_size', '8 (at index 0)'],
    [() => new Schedule(100, [[0, 8], [5]]), 'wrong-type', 'global_batch_size', 'an array (at index 1)'],
    [
      () =>
        new Schedule(100, [
          [0, 8],
          [5, 1.5],
        ]),
      'wrong-type',
      'global_batch_size',
      '1.5 (at index 1)',
    ],
    [
      () =>
        new Schedule(100, [
          [0, 8],
          ['5', 8],
        ]),
      'wrong-type',
      'from',
      '"5" (at index 1)',
    ],
    [
      () =>
        new Schedule(100, [
          [0, 8],
          [5, 8],
          [5, 16],
        ]),
      'out-of-range',
      'from',
      '5',
    ],
    [
      () =>
        new Schedule(100, [
          [0, 8],
          [0, 16],
        ]),
      'out-of-range',
      'from',
      '0',
    ],
    [() => new Schedule(0, 8), 'out-of-range', 'samples', '0'],
    [() => new Schedule(-1, 8), 'out-of-range', 'samples'],
    [() => new Schedule('100', 8), 'wrong-type', 'samples'],
    [() => new Schedule(100, 8, { rank: 1 }), 'out-of-range', 'rank', '1'],
    [() => new Schedule(100, 8, { worldSize: 0 }), 'out-of-range', 'world_size', '0'],
    [() => new Schedule(100, 8, { unit: 0 }), 'out-of-range', 'unit', '0'],
    [() => new Schedule(100, 8, { order: 'shuffle' }), 'unknown-name', 'name', 'shuffle'],
    [() => new Schedule(100, 8, { layout: 'round' }), 'unknown-name', 'layout', 'round'],
    [() => new Schedule(100, 8, { remainder: 'pad' }), 'unknown-name', 'options', 'remainder'],
    [() => new Schedule(order('feistel', { samples: 3 }), 8, { seed: 3 }), 'unknown-name', 'options', 'seed'],
    [() => new Schedule(100, 8, null), 'wrong-type', 'options'],
    [() => Schedule.fromRecipe({ order: { samples: 3 } }), 'missing', 'steps'],
    [() => Schedule.fromRecipe({ order: { samples: 3 }, steps: {} }), 'missing', 'global_batch_size'],
    [() => Schedule.fromRecipe({ order: { samples: 3 }, steps: { size: 3 } }), 'unknown-member', 'steps'],
    [
      () => Schedule.fromRecipe({ order: { samples: 3 }, steps: { global_batch_size: 3, stages: [{ at: 3 }] } }),
      'unknown-member',
      'stages',
    ],
    [
      () => Schedule.fromRecipe({ order: { samples: 3 }, steps: { global_batch_size: 1.5 } }),
      'wrong-type',
      'global_batch_size',
    ],
    [
      () =>
        Schedule.fromRecipe({ order: { samples: 3 }, steps: { global_batch_size: 3, stages: [{ from: () => 3 }] } }),
      'wrong-type',
      'from',
    ],
    [
      () => Schedule.fromRecipe({ order: { samples: 3 }, deal: { remainder: 'pad' }, steps: { global_batch_size: 3 } }),
      'contradiction',
      'remainder',
    ],
    [() => Schedule.fromRecipe('{'), 'wrong-type', 'recipe'],
    [() => Schedule.fromRecipe(new Sampler(3).recipe), 'contradiction', 'remainder'],
    [() => Schedule.fromJSON({ recipe: '{}', epoch: '3' }), 'unknown-name', 'options'],
  ]) {
    refused(call, kind, field);
    if (value !== undefined) assert.throws(call, { value });
  }
});

test('what is no step, sample or rank is refused, and the schedule is as before', () => {
  const schedule = new Schedule(10, 4, { worldSize: 2 });
  const before = schedule.indices(0, 30);
  const { numSteps } = schedule;
  assert(numSteps > 2 ** 50 && Number.isSafeInteger(numSteps));
  for (const [field, call, past] of [
    ['step', (value) => schedule.globalBatchSize(value), numSteps],
    ['step', (value) => schedule.samplesConsumed(value), numSteps + 1],
    ['step', (value) => schedule.placeOf(value), numSteps],
    ['step', (value) => schedule.batch(value), numSteps],
    ['step', (value) => schedule.state(value), numSteps + 1],
    ['step', (value) => schedule.locate(0, value), numSteps + 1],
    ['sample', (value) => schedule.locate(value), 10],
    ['samples_consumed', (value) => schedule.stepOfConsumed(value), 4 * numSteps],
    ['position', (value) => schedule.stepOf(0, value), 10],
    ['start', (value) => schedule.indices(value, 0), numSteps + 1],
    ['count', (value) => schedule.indices(1, value), numSteps],
    ['start', (value) => schedule.batches(value), numSteps + 1],
    ['end', (value) => schedule.batches(0, value), numSteps + 1],
    ['rank', (value) => schedule.atRank(value), 2],
  ]) {
    for (const value of NOT_WHOLE) refused(() => call(value), wrong(value), field);
    for (const value of [-1, -1n, 2n ** 64n, past, BigInt(past)]) refused(() => call(value), 'out-of-range', field);
  }
  for (const value of NOT_WHOLE) refused(() => schedule.stepOf(value, 0), wrong(value), 'epoch');
  for (const value of [-1, 2n ** 64n, 2n ** 64n - 1n])
    refused(() => schedule.stepOf(value, 0), 'out-of-range', 'epoch');
  for (const value of NOT_32_BITS) refused(() => schedule.atRank(value), 'out-of-range', 'rank');
  refused(() => schedule.indices(0, numSteps), 'out-of-memory', 'count');
  refused(() => new Schedule(2 ** 30, 2 ** 21).batch(0), 'out-of-range', 'count');
  assert.deepEqual(schedule.indices(0, 30), before);
  schedule.dispose();
  assert.throws(() => schedule.batch(0), { message: 'this schedule has been disposed of' });
});

test('schedules that do not fit are an error, and those that do go on', () => {
  const bindings = componentInstances(limited)();
  const Limited = over(BaseSchedule, () => new Engine(() => bindings));
  const kept = [];
  const make = () => new Limited(order('feistel', { samples: 2 ** 20 }).subset(range(20_000)), 100);
  assert.throws(
    () => {
      for (;;) kept.push(make());
    },
    { name: 'SamedealError', kind: 'out-of-memory' },
  );
  assert(kept.length > 3);
  // The first call of a schedule needs memory for the positions of an epoch, so half of the schedules are freed first.
  for (const schedule of kept.splice(kept.length >> 1)) schedule.dispose();
  const first = kept[0].batch(3);
  for (const schedule of kept) assert.deepEqual(schedule.batch(3), first);
  for (const schedule of kept) schedule.dispose();
  for (let i = 0; i < 30; i++) make().dispose();
});

test('a schedule whose instance is lost is made again', () => {
  let made = 0;
  const instances = componentInstances(compiled);
  const engine = new Engine(() => {
    made += 1;
    const { steps, ...others } = instances();
    return { ...others, steps: { ...steps, Schedule: overridden(steps.Schedule, () => ({ locate: trap })) } };
  });
  const schedule = new (over(BaseSchedule, () => engine))(100, 8, { worldSize: 2, rank: 1 });
  const before = schedule.indices(1, 30);
  assert.throws(() => schedule.locate(3), { message: 'unreachable' });
  assert.deepEqual(schedule.indices(1, 30), before);
  assert.equal(made, 2);
});

test('a stack that overflows in a call ends the call, and nothing else', () => {
  const schedule = new Schedule(100, 8, { worldSize: 2, rank: 1 });
  const before = schedule.indices(1, 30);
  for (let round = 0; round < 30; round++) {
    const call = [() => schedule.indices(3, 4), () => schedule.locate(3), () => schedule.atRank(0)][round % 3];
    overflow(call);
    assert.deepEqual(schedule.indices(1, 30), before);
  }
});
