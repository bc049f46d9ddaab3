// Steps of all ranks, calls for many samples at a time, and objects that are made from a state alone.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { composed } from './entries.mjs';

const SIZES = [40, 25, 35];
const LENGTHS = Array.from({ length: 200 }, (_, i) => 1 + ((i * 37) % 90));
const LARGEST = 2n ** 63n - 1n;
const lists = (all) => all.map((list) => Array.from(list));

for (const [entry, samedeal] of Object.entries(composed)) {
  const { Batcher, BatchStream, blend, Reading, Sampler, SamedealError, Schedule } = samedeal;
  const refused = (call, kind, field, part = '') => {
    assert.throws(call, (error) => {
      assert(error instanceof SamedealError, error.stack);
      assert.deepEqual([error.kind, error.field], [kind, field], error.message);
      assert(error.message.includes(part), error.message);
      return true;
    });
  };
  /** An equal object for every rank. */
  const ranks = (worldSize, make) => Array.from({ length: worldSize }, (_, rank) => make({ worldSize, rank }));

  describe(`${entry}: a step of all ranks`, () => {
    test('of more ranks than a list has is refused at once', () => {
      const worldSize = 2 ** 32 - 1;
      refused(() => new Sampler(10, { worldSize }).step(0, 1), 'out-of-memory', 'world_size');
      refused(() => new Schedule(10, worldSize, { worldSize }).step(0), 'out-of-memory', 'world_size');
    });

    test('of samplers, also with a table, and where some have no such batch', () => {
      for (const order of ['feistel', 'torch']) {
        for (const options of [
          { remainder: 'pad' },
          { remainder: 'uneven' },
          { layout: 'contiguous', remainder: 'uneven' },
        ]) {
          const all = ranks(3, (place) => new Sampler(50, { order, seed: 3, ...options, ...place }));
          for (let batch = 0; batch < 5; batch++) {
            for (const dropLast of [false, true]) {
              const counts = all.map((sampler) => sampler.numBatches(4, { dropLast }));
              if (batch >= Math.max(...counts)) continue;
              const expected = all.map((sampler, i) =>
                batch < counts[i] ? sampler.batch(batch, 4, { dropLast }) : [],
              );
              assert.deepEqual(lists(all[1].step(batch, 4, { dropLast })), lists(expected));
            }
          }
          assert.equal(all[1].rank, 1);
          refused(() => all[1].step(5, 4), 'out-of-range', 'step', '0 to 4');
        }
      }
      // Rank 0 has two batches, rank 1 has one.
      const uneven = new Sampler(9, { worldSize: 2, remainder: 'uneven', order: 'sequential' });
      assert.deepEqual(lists(uneven.step(1, 4)), [[8], []]);
      assert(new Sampler(2 ** 40, { worldSize: 2 }).step(3, 2).every((batch) => batch instanceof Float64Array));
      refused(() => new Sampler(0).step(0, 2), 'out-of-range', 'step');
      refused(() => uneven.step(0, 0), 'out-of-range', 'batch_size');
      refused(() => uneven.step(0.5, 2), 'wrong-type', 'step');
    });

    test('of batchers and schedules', () => {
      const batchers = ranks(3, (place) => new Batcher(LENGTHS, { maxTokens: 300, ...place }));
      assert.deepEqual(
        batchers[2].step(1),
        batchers.map((batcher) => batcher.batch(1)),
      );
      refused(() => batchers[0].step(batchers[0].numSteps()), 'out-of-range', 'step');
      const schedules = ranks(
        2,
        (place) =>
          new Schedule(
            100,
            [
              [0, 8],
              [3, 16],
            ],
            { order: 'torch', ...place },
          ),
      );
      for (const step of [0, 2, 3, 40]) {
        assert.deepEqual(
          schedules[1].step(step),
          schedules.map((schedule) => schedule.batch(step)),
        );
      }
      refused(() => schedules[0].step(-1), 'out-of-range', 'step');
    });

    test('of readings', () => {
      const reading = new Reading(SIZES, {
        lanes: 4,
        worldSize: 3,
        workers: 2,
        batchSize: 5,
        remainder: 'uneven',
      }).atEpoch(2);
      const seen = [];
      for (let step = 0; step < reading.steps.max; step++) {
        for (const [rank, batch] of reading.step(step).entries()) {
          if (batch === null) {
            assert(step >= reading.numSteps(rank));
            continue;
          }
          assert.deepEqual(batch, reading.batchAt(rank, step));
          const { worker, number, samples, numPadding: padding } = batch;
          assert.deepEqual([batch.step, padding], [step, 0]);
          assert.deepEqual(samples, reading.indices(rank, worker).slice(5 * number, 5 * number + samples.length));
          seen.push(...samples);
        }
      }
      assert.deepEqual(
        seen.sort((one, other) => one - other),
        [...Array(100).keys()],
      );
      const torn = new Reading([7], { shuffle: false, worldSize: 2, batchSize: 2, remainder: 'uneven' });
      assert.deepEqual(
        torn.step(0).map((batch) => [...batch.samples]),
        [
          [0, 2],
          [1, 3],
        ],
      );
      const shards = new Reading([7, 1], { deal: 'shards', shuffle: false, worldSize: 2, batchSize: 2 });
      assert.equal(shards.step(2).filter((batch) => batch === null).length, 1);
      refused(() => shards.step(4), 'out-of-range', 'step', '0 to 3');
      refused(() => shards.batchAt(2, 0), 'out-of-range', 'rank');
      refused(() => shards.batchAt(0, 9), 'out-of-range', 'step');
      const padded = new Reading([7], { shuffle: false, worldSize: 2, batchSize: 4 }).step(0);
      assert.deepEqual(
        padded.map(({ numPadding }) => numPadding),
        [0, 1],
      );
    });
  });

  test(`${entry}: many samples are located at a time`, () => {
    const samples = [7, 3n, 99, 7, 0];
    const sampler = new Sampler(100, { seed: 3, worldSize: 3, remainder: 'drop' });
    assert.deepEqual(
      sampler.locateAll(samples, 8),
      samples.map((sample) => sampler.locate(sample, 8)),
    );
    const every = sampler.locateAll([...Array(100).keys()], 8);
    assert.equal(every.filter((found) => found === null).length, 1);
    const batcher = new Batcher(LENGTHS, { maxTokens: 300, worldSize: 3 });
    assert.deepEqual(
      batcher.locateAll(Uint32Array.from(samples, Number)),
      samples.map((sample) => batcher.locate(sample)),
    );
    const schedule = new Schedule(100, 8, { worldSize: 2 });
    assert.deepEqual(
      schedule.locateAll(samples, 5),
      samples.map((sample) => schedule.locate(sample, 5)),
    );
    assert.deepEqual(sampler.locateAll([], 8), []);
    for (const call of [
      (list) => sampler.locateAll(list, 8),
      (list) => batcher.locateAll(list),
      (list) => schedule.locateAll(list),
    ]) {
      refused(() => call([3, -1]), 'out-of-range', 'sample', 'at index 1');
      refused(() => call([3, 200]), 'out-of-range', 'sample');
      refused(() => call([0.5]), 'wrong-type', 'sample', 'at index 0');
      refused(() => call(3), 'wrong-type', 'sample');
    }
  });

  describe(`${entry}: from a state`, () => {
    test('samplers', () => {
      for (const order of ['feistel', 'torch']) {
        const state = new Sampler(1000, { order, seed: LARGEST, epoch: 5n, worldSize: 8, rank: 2 }).state(64);
        const expected = new Sampler(1000, {
          order,
          seed: LARGEST,
          worldSize: 6,
          rank: 5,
          remainder: 'uneven',
          unit: 2,
        });
        expected.resume(state);
        const made = Sampler.fromState(state, { worldSize: 6, rank: 5, remainder: 'uneven', unit: 2 });
        assert.deepEqual([...made], [...expected]);
        assert.deepEqual([made.epoch, made.consumed, made.seed, made.recipe], [5, 512, LARGEST, expected.recipe]);
        assert.equal(Sampler.fromState(state).length, 488);
      }
      const many = new Array(300).fill(3);
      const hashed = Sampler.sharded(many, { lanes: 4 }).state(100);
      assert.equal(Sampler.fromState(hashed, { sizes: many }).length, 800);
      refused(() => Sampler.fromState(hashed), 'missing', 'sizes');
      const mixed = blend({ 'a }{, ]': [100, 3], ':recipe:{': [40, 1] }, { seed: 1, samples: 200 });
      const state = new Sampler(mixed).state(50);
      assert.deepEqual([...Sampler.fromState(state)], [...new Sampler(mixed).indices(50)]);
    });

    test('batchers', () => {
      const state = new Batcher(LENGTHS, { maxTokens: 300, worldSize: 4, seed: LARGEST, epoch: 3 }).state(2);
      const expected = new Batcher(LENGTHS, { maxTokens: 300, worldSize: 3, seed: LARGEST });
      expected.resume(state);
      const made = Batcher.fromState(state, undefined, { worldSize: 3, rank: 2 });
      assert.deepEqual([made.rank, made.epoch, made.state(0)], [2, 3, expected.state(0)]);
      assert.equal(made.fingerprint(), expected.fingerprint());
      const more = [...LENGTHS, ...LENGTHS];
      const hashed = new Batcher(more, { maxTokens: 300 }).state(1);
      assert.equal(Batcher.fromState(hashed, more).epoch, 0);
      refused(() => Batcher.fromState(hashed), 'missing', 'lengths');
    });

    test('readings and schedules', () => {
      const options = { lanes: 4, seed: LARGEST, batchSize: 8, remainder: 'uneven' };
      const state = new Reading(SIZES, { ...options, worldSize: 2 }).atEpoch(7).state(3);
      const deal = { worldSize: 3, batchSize: 8, remainder: 'uneven' };
      const expected = new Reading(SIZES, { ...options, worldSize: 3 }).resume(state);
      const made = Reading.fromState(state, deal);
      assert.deepEqual(made.indices(2), expected.indices(2));
      assert.deepEqual([made.recipe, made.epoch, made.isRest], [expected.recipe, 7, true]);
      assert.deepEqual(Reading.fromState({ samedeal: state }, deal).indices(0), expected.indices(0));
      const shards = new Reading(SIZES, { deal: 'shards', worldSize: 2 }).state(3);
      assert.equal(Reading.fromState(shards, { worldSize: 2 }).isRest, true);

      const schedule = new Schedule(
        1000,
        [
          [0, 64],
          [10, 128],
        ],
        { seed: LARGEST, worldSize: 8 },
      );
      const next = Schedule.fromState(schedule.state(12), { worldSize: 16, rank: 3 });
      assert.equal(next.resume(schedule.state(12)), 12);
      assert.deepEqual(
        next.batch(12),
        new Schedule(
          1000,
          [
            [0, 64],
            [10, 128],
          ],
          { seed: LARGEST, worldSize: 16, rank: 3 },
        ).batch(12),
      );
    });

    test('a state is written as JSON is, by whoever wrote it', () => {
      const state = new Sampler(100, { seed: 3, epoch: 2 }).state(10);
      const { recipe, ...others } = JSON.parse(state);
      for (const text of [JSON.stringify({ recipe, ...others }, null, 3), ` \n${state}\t`]) {
        assert.deepEqual([...Sampler.fromState(text)], [...Sampler.fromState(state)], text);
      }
    });

    test('what is no state', () => {
      const state = new Sampler(100, { seed: 3 }).state(10);
      for (const wrong of [
        '',
        '{}',
        '[]',
        '3',
        'null',
        '{"recipe":3}',
        '{"recipe":"{}"}',
        '{',
        state.slice(0, -1),
        3,
        {},
      ]) {
        for (const made of [Sampler, Batcher, Reading, Schedule]) {
          refused(() => made.fromState(wrong), 'wrong-type', 'state');
        }
      }
      for (const made of [Sampler, Batcher, Reading, Schedule]) refused(() => made.fromState(), 'missing', 'state');
      refused(() => Sampler.fromState(`{"recipe":{}${' '.repeat(2 ** 24)}}`), 'out-of-range', 'state');
      refused(() => Sampler.fromState(state, { epoch: 3 }), 'unknown-name', 'options');
      assert.throws(() => Sampler.fromState(new Schedule(100, 8).state(3)), SamedealError);
      assert.throws(() => Schedule.fromState(state), SamedealError);
      assert.throws(() => Sampler.fromState(state.replace('"consumed":10', '"consumed":1000')), { field: 'consumed' });
      assert.throws(() => Sampler.fromState(state, { rank: 3 }), { field: 'rank' });
    });
  });

  test(`${entry}: JSON of a stream and of an error`, () => {
    const stream = new BatchStream({ maxTokens: 100, batchWindow: 16, rank: 1, worldSize: 2, epoch: LARGEST });
    const copy = BatchStream.fromJSON(JSON.parse(JSON.stringify(stream)));
    assert.deepEqual([copy.recipe, copy.rank, copy.epoch], [stream.recipe, 1, LARGEST]);
    refused(() => BatchStream.fromJSON({ recipe: '{}', lengths: [3] }), 'unknown-name', 'options');
    try {
      new Sampler(10, { rank: 4, worldSize: 4 });
      assert.fail();
    } catch (error) {
      assert.deepEqual(JSON.parse(JSON.stringify(error)), {
        name: 'SamedealError',
        message: 'rank is 4; allowed: 0 to 3',
        kind: 'out-of-range',
        field: 'rank',
        path: 'rank',
        value: '4',
        allowed: '0 to 3',
        facts: { min: ['0'], max: ['3'] },
      });
    }
  });
}

test('a step of more samples than a list has is refused at once, and says how many are allowed', () => {
  for (const { Sampler, Schedule, SamedealError } of Object.values(composed)) {
    const sampler = new Sampler(1e12, { worldSize: 4096 });
    const schedule = new Schedule(1e12, 4096 * 8193, { worldSize: 4096 });
    for (const [call, value] of [
      [() => sampler.step(0, 1e6), '1000000'],
      [() => sampler.step(0, 8193), '8193'],
      [() => schedule.step(0), String(4096 * 8193)],
    ]) {
      assert.throws(call, (error) => {
        assert(error instanceof SamedealError);
        assert.deepEqual(
          [error.kind, error.field, error.value, error.max],
          ['out-of-range', 'batch_size', value, 8192],
        );
        return true;
      });
    }
    // A batch is never larger than the samples of its rank.
    assert.equal(new Sampler(4096 * 3, { worldSize: 4096 }).step(0, 1e6).length, 4096);
  }
});
