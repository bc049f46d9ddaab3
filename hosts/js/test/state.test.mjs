// States of samplers: taken anywhere, resumed with any number of ranks.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { entries } from './entries.mjs';
import { changed, NO_STATES } from './states.mjs';
import { wrong } from './values.mjs';

const SIZES = [300, 0, 701, 2];

for (const [entry, { Sampler, SamedealError }] of Object.entries(entries)) {
  /** For each order: a function that makes a sampler of it. */
  const makers = {
    ...Object.fromEntries(
      ['feistel', 'torch', 'sequential'].map((order) => [order, (options) => new Sampler(1003, { order, ...options })]),
    ),
    sharded: (options) => Sampler.sharded(SIZES, { lanes: 6, shuffleWindow: 9, ...options }),
  };

  describe(entry, () => {
    for (const [order, make] of Object.entries(makers)) {
      test(`${order}: no sample is lost or seen twice, whatever the worlds`, () => {
        for (const worlds of [[8, 6, 5, 1], [1, 3], [4, 4, 4], [1003]]) {
          const options = { seed: 5, remainder: 'uneven' };
          const whole = [...make({ ...options, epoch: 2 }).indices()];
          const seen = [];
          let state = make({ ...options, epoch: 2 }).state(0);
          for (const [number, worldSize] of worlds.entries()) {
            const ranks = Array.from({ length: worldSize }, (_, rank) => make({ ...options, rank, worldSize }));
            for (const sampler of ranks) sampler.resume(state);
            const [{ length }] = ranks;
            const taken = number + 1 === worlds.length ? length : Math.floor(length / 3);
            const steps = ranks.map((sampler) => sampler.indices(0, Math.min(taken, sampler.length)));
            for (let step = 0; step < taken; step++) {
              seen.push(...steps.flatMap((of) => (step < of.length ? [of[step]] : [])));
            }
            const states = new Set(ranks.map((sampler) => sampler.state(taken)));
            assert.equal(states.size, 1);
            [state] = states;
          }
          assert.deepEqual(seen, whole);
          assert.equal(JSON.parse(state).consumed, 1003);
        }
      });
    }

    test('what is left is padded, or dropped, as a whole epoch is', () => {
      const options = { order: 'sequential', worldSize: 4, consumed: 3 };
      const [padded, dropped] = ['pad', 'drop'].map((remainder) => new Sampler(10, { ...options, remainder }));
      assert.deepEqual([padded.length, padded.numPositions, padded.numDropped], [2, 8, 0]);
      assert.deepEqual([dropped.length, dropped.numPositions, dropped.numDropped], [1, 4, 3]);
      padded.setRank(3);
      assert.deepEqual([[...padded], padded.numPadding], [[6, 0], 1]);
      assert.equal(padded.sampleAt(10), 0);
      assert.equal(padded.sampleAt(0), 0);
      assert.equal(padded.locate(2, 1), null);
      const end = new Sampler(10, { consumed: 10n, worldSize: 3 });
      assert.deepEqual([end.length, [...end], [...end.batches(2)], end.consumed], [0, [], [], 10]);
    });

    test('what a state changes, and what it does not', () => {
      const sampler = new Sampler(100, { worldSize: 4, rank: 1, epoch: 6 });
      const other = new Sampler(100, { worldSize: 3, rank: 2 });
      other.resume(sampler.state(5));
      const { epoch, consumed, worldSize, rank, length } = other;
      assert.deepEqual([epoch, consumed, worldSize, rank, length], [6, 20, 3, 2, 27]);
      assert.equal(other.numPositions, 81);
      assert.equal(other.toJSON().consumed, 20);
      assert.match(inspect(other), /, \{ epoch: 6, rank: 2, consumed: 20 \}\)$/);
      assert.doesNotMatch(String(sampler), /consumed/);
      const again = new Function('Sampler', `return ${other}`)(Sampler);
      for (const twin of [again, Sampler.fromJSON(JSON.parse(JSON.stringify(other)))]) {
        assert.deepEqual(twin.toJSON(), other.toJSON());
        assert.equal(twin.fingerprint(), other.fingerprint());
        assert.equal(twin.configFingerprint(), other.configFingerprint());
        assert.equal(twin.state(1), other.state(1));
      }
      assert.equal(other.sampleAt(3), sampler.sampleAt(3));
      assert.throws(() => other.placeOf(3, 1), { kind: 'out-of-range', field: 'position', allowed: '20 to 100' });
      other.setRank(0);
      other.setEpoch(6n);
      assert.deepEqual([other.consumed, other.length], [20, 27]);
      other.setEpoch(7);
      assert.deepEqual([other.consumed, other.length, [...other].length], [0, 34, 34]);
      other.resume(sampler.state(0));
      assert.deepEqual([other.epoch, other.consumed, other.length], [6, 0, 34]);
    });

    test('what is not in JSON has its default', () => {
      const { consumed, ...json } = new Sampler(10, { consumed: 3, worldSize: 2 }).toJSON();
      assert.equal(consumed, 3);
      assert.deepEqual([Sampler.fromJSON(json).consumed, Sampler.fromJSON(json).length], [0, 5]);
      assert.equal(Sampler.sharded(SIZES, { consumed: 1000n }).length, 3);
      assert.throws(() => Sampler.fromJSON({ ...json, consumed: 'all' }), { kind: 'wrong-type', field: 'consumed' });
    });

    test('an iteration notices that the sampler went on elsewhere', () => {
      const sampler = new Sampler(100, { worldSize: 2 });
      const elsewhere = new Sampler(100, { worldSize: 2, epoch: 1 });
      for (const [state, field] of [
        [sampler.state(7), 'consumed'],
        [elsewhere.state(0), 'epoch'],
        [elsewhere.state(7), 'epoch'],
      ]) {
        sampler.setEpoch(2);
        sampler.setEpoch(0);
        const started = [sampler[Symbol.iterator](), sampler.batches(4)];
        for (const iteration of started) iteration.next();
        const untouched = [sampler[Symbol.iterator](), sampler.batches(4)];
        sampler.resume(state);
        for (const iteration of [...started, ...untouched]) {
          assert.throws(() => iteration.next(), { name: 'SamedealError', kind: 'out-of-range', field });
        }
        assert.equal([...sampler].length, sampler.length);
      }
    });

    test('where it already is, an iteration goes on', () => {
      const sampler = new Sampler(10, { consumed: 4, epoch: 3 });
      const samples = sampler[Symbol.iterator]();
      const seen = [samples.next().value];
      sampler.resume(sampler.state(0));
      assert.deepEqual([...seen, ...samples], [...sampler]);
    });

    test('states of something else are refused', () => {
      const state = new Sampler(100, { seed: 3, epoch: 4 }).state(5);
      for (const [other, field] of [
        [new Sampler(101, { seed: 3 }), 'samples'],
        [new Sampler(100, { seed: 4 }), 'seed'],
        [new Sampler(100, { seed: 3, order: 'torch' }), 'name'],
        [Sampler.sharded([100], { seed: 3 }), 'name'],
      ]) {
        const before = other.toJSON();
        assert.throws(
          () => other.resume(state),
          (error) => {
            assert(error instanceof SamedealError);
            assert.deepEqual([error.kind, error.field], ['contradiction', field]);
            assert.equal(
              error.value,
              String({ name: other.order, samples: other.datasetSize, seed: other.seed }[field]),
            );
            return true;
          },
        );
        assert.deepEqual([other.consumed, other.epoch, other.length], [0, 0, other.datasetSize]);
        assert.deepEqual(other.toJSON(), before);
      }
      const shards = Sampler.sharded([100], { seed: 3 }).state(5);
      const refused = { kind: 'contradiction', field: 'shards' };
      assert.throws(() => Sampler.sharded([50, 50], { seed: 3 }).resume(shards), refused);
    });

    test('whatever else a text is, it is refused, and the sampler is where it was', () => {
      const sampler = new Sampler(100, { seed: 3, worldSize: 2, consumed: 9 });
      const state = sampler.state(5);
      const before = [...sampler];
      const others = [state.slice(0, -1), `${state}x`, `\ufeff${state}`, `[${state}]`, JSON.stringify(state)];
      for (const text of [...NO_STATES, ...others, state.replace('sampler', 'batcher')]) {
        assert.throws(() => sampler.resume(text), { name: 'SamedealError', kind: wrong(text), field: 'state' }, text);
      }
      // A text of a later format says so, and an unknown member is named.
      const later = state.replace(':1,', ':2,"newMember":null,');
      assert.throws(() => sampler.resume(later), { kind: 'out-of-range', field: 'samedeal', value: '2' });
      const unknown = state.replace('"seed"', '"new_member":null,"seed"');
      const named = { kind: 'unknown-member', path: 'recipe.order', value: 'new_member' };
      assert.throws(() => sampler.resume(unknown), named);
      for (const value of [
        undefined,
        null,
        3,
        3n,
        true,
        Uint8Array.of(0xff),
        JSON.parse(state),
        [state],
        Object(state),
      ]) {
        assert.throws(() => sampler.resume(value), { name: 'SamedealError', kind: wrong(value), field: 'state' });
      }
      for (const [text, bytes] of [
        [' '.repeat(2 ** 24 + 1), 2 ** 24 + 1],
        ['π'.repeat(2 ** 23 + 1), 2 ** 24 + 2],
        ['€'.repeat(2 ** 23), 3 * 2 ** 23],
        ['😀'.repeat(2 ** 22 + 1), 2 ** 24 + 4],
        ['\ud800'.repeat(2 ** 23), 3 * 2 ** 23],
        ['x'.repeat(2 ** 27), 2 ** 27],
      ]) {
        const told = { kind: 'out-of-range', field: 'state', value: `of ${bytes} bytes`, allowed: 'up to 16777216' };
        // A text that is much too long is not counted to its end.
        if (text.length > 2 ** 26) told.value = `of at least ${text.length} bytes`;
        assert.throws(() => sampler.resume(text), told);
      }
      assert.throws(() => sampler.resume('😀'.repeat(2 ** 22)), { kind: 'wrong-type', field: 'state' });
      assert.throws(() => sampler.resume(state.replace('"consumed":19', '"consumed":101')), { field: 'consumed' });
      assert.deepEqual([...sampler], before);
      sampler.resume(state + ' '.repeat(2 ** 24 - state.length));
      assert.equal(sampler.consumed, 19);
    });

    test('a state that was tampered with is refused, or says where to go on', () => {
      const sampler = new Sampler(1000, { seed: -3, worldSize: 3 });
      const state = sampler.state(100);
      let refusals = 0;
      for (const text of changed(state, 2000)) {
        const { epoch, consumed } = sampler;
        try {
          sampler.resume(text);
          const told = JSON.parse(text);
          assert.deepEqual(
            [BigInt(sampler.epoch), BigInt(sampler.consumed)],
            [BigInt(told.epoch), BigInt(told.consumed)],
          );
        } catch (error) {
          assert(error instanceof SamedealError, `${error} of ${text}`);
          assert.deepEqual([sampler.epoch, sampler.consumed], [epoch, consumed]);
          refusals += 1;
        }
        assert.equal(sampler.length, Math.ceil((1000 - sampler.consumed) / 3));
      }
      assert(refusals > 1000 && refusals < 2000);
    });

    test('a state beyond 2^53, to the last digit', () => {
      const [seed, epoch] = [2n ** 63n - 1n, 2n ** 64n - 1n];
      const samples = 2 ** 53 - 1;
      const sampler = new Sampler(samples, { seed, epoch, consumed: samples - 4 });
      const other = new Sampler(samples, { seed, remainder: 'uneven', worldSize: 2 });
      other.resume(sampler.state(1));
      assert.deepEqual([other.epoch, other.consumed, other.length], [epoch, samples - 3, 2]);
      assert.deepEqual(
        [other.indices()[0], other.sampleAt(samples - 1)],
        [...sampler.indices(1, 2), sampler.indices()[3]],
      );
    });

    test('contiguous runs of several ranks have states at both ends alone', () => {
      const sampler = new Sampler(100, { worldSize: 2, layout: 'contiguous', seed: 1 });
      assert.throws(() => sampler.state(3), { kind: 'contradiction', field: 'layout', value: 'contiguous' });
      sampler.resume(sampler.state(50));
      assert.deepEqual([sampler.consumed, sampler.length], [100, 0]);
      assert.throws(() => sampler.state(1), { kind: 'out-of-range', field: 'taken', allowed: '0 to 0' });
    });
  });
}

test('a state is the same text in both entries, and goes on in either', () => {
  const [one, other] = Object.values(entries).map(
    ({ Sampler }) => new Sampler(1000, { seed: 7, epoch: 3, worldSize: 4 }),
  );
  assert.equal(one.state(100), other.state(100));
  other.resume(one.state(100));
  one.resume(other.state(0));
  assert.equal(one.consumed, 400);
  assert.equal(one.fingerprint(), other.fingerprint());
});

test('a state is a text or its bytes, or what Python saved, in every class', async () => {
  const { Batcher, Reading, Sampler, Schedule } = await import('samedeal');
  for (const make of [
    () => new Sampler(10),
    () => new Batcher([3, 4, 5], { maxTokens: 9 }),
    () => new Reading([5, 6]),
    () => new Schedule(10, 2),
  ]) {
    const made = make();
    const state = made.state(1);
    const other = make();
    for (const saved of [
      { samedeal: state },
      JSON.stringify({ samedeal: state }),
      JSON.stringify({ samedeal: state }, null, 1),
      Buffer.from(state),
      new TextEncoder().encode(JSON.stringify({ samedeal: state })),
    ]) {
      const moved = other.resume(saved) ?? other;
      assert.equal(typeof moved === 'number' ? other.state(moved) : moved.state(0), state);
    }
    assert.throws(() => other.resume(JSON.parse(state)), {
      kind: 'wrong-type',
      message: 'state is an object; allowed: the text that `state` gave, as a text: JSON.parse was called with it',
    });
    assert.throws(() => other.resume(Buffer.from([0xff])), {
      kind: 'wrong-type',
      message: 'state is a Buffer; allowed: the text that `state` gave, or its bytes in UTF-8',
    });
    assert.throws(() => other.resume(new Uint8Array(2 ** 27)), { kind: 'out-of-range', value: 'of 134217728 bytes' });
    assert.throws(() => other.resume({}), { message: 'state is an object; allowed: the text that `state` gave' });
  }
});

test('a rank that is undefined is no rank 0', async () => {
  const { Sampler } = await import('samedeal');
  const { NO_SUCH_RANK } = process.env;
  assert.throws(() => new Sampler(10, { rank: NO_SUCH_RANK, worldSize: 8 }), {
    kind: 'missing',
    message: 'rank is missing; needed: a whole number, or no option `rank` at all',
  });
  assert.equal(new Sampler(10, { worldSize: 8 }).rank, 0);
});

test('a loop over batches has the state after those that it gave', async () => {
  const { Batcher, Sampler, Schedule } = await import('samedeal');
  const sampler = new Sampler(103, { seed: 3, worldSize: 2, remainder: 'uneven' });
  const batcher = new Batcher([3, 4, 5, 6, 7], { strategy: 'pad-to-max', maxBatchSize: 1 });
  const schedule = new Schedule(103, 4, { seed: 3, worldSize: 2 });
  for (const [loop, states] of [
    [sampler.batches(10), [0, 10, 20, 30, 40, 50, 52].map((taken) => sampler.state(taken))],
    [sampler.batches(10, { start: 4 }), [40, 50, 52].map((taken) => sampler.state(taken))],
    // After the last whole batch, a state has nothing left, although some samples were dropped.
    [sampler.batches(10, { start: 3, dropLast: true }), [30, 40, 52].map((taken) => sampler.state(taken))],
    [batcher.batches(2), [2, 3, 4, 5].map((steps) => batcher.state(steps))],
    [batcher[Symbol.iterator](), [0, 1, 2, 3, 4, 5].map((steps) => batcher.state(steps))],
    [schedule.batches(40, 43), [40, 41, 42, 43].map((step) => schedule.state(step))],
  ]) {
    const found = [loop.state()];
    for (const _ of loop) found.push(loop.state());
    assert.deepEqual([...found, loop.state()], [...states, states.at(-1)]);
  }
  // Ranks with fewer samples have the same states, also at the end of their loops.
  const states = [0, 1, 2, 3].map((rank) => {
    const uneven = new Sampler(10, { order: 'sequential', worldSize: 4, remainder: 'uneven', rank });
    const own = uneven.batches(1);
    own.next();
    own.next();
    assert.equal(own.state(), uneven.state(2));
    for (const _ of own);
    return JSON.parse(own.state()).consumed;
  });
  assert.deepEqual(states, [10, 10, 10, 10]);
  // The state does not change by other reads in between, and it is right after `break`.
  const loop = sampler.batches(10);
  for (const batch of loop) if (batch.includes(sampler.indices(25, 26)[0])) break;
  sampler.batch(5, 10);
  assert.equal(loop.state(), sampler.state(30));
  assert.deepEqual([...loop], []);
  const rest = Sampler.fromState(loop.state());
  assert.deepEqual([rest.consumed, rest.length], [60, 43]);
  // The loop belongs to the epoch in which it began, so it has no state in another epoch.
  sampler.setEpoch(1);
  assert.throws(() => loop.state(), { kind: 'out-of-range', field: 'epoch' });
});

test('an argument that is not given is missing, and a list is no number of samples', async () => {
  const { Mesh, order, Sampler, Schedule } = await import('samedeal');
  for (const call of [
    () => new Sampler(10).batch(0),
    () => new Sampler(10).numBatches(),
    () => new Sampler(10).locate(1),
  ])
    assert.throws(call, {
      kind: 'missing',
      message: 'batchSize is missing; needed: a whole number, 1 to 4294967295',
    });
  assert.throws(() => new Mesh(8), {
    message: 'axes is missing; needed: a plain object with a whole number for each name',
  });
  assert.throws(() => new Sampler(10).batch(0, 'undefined'), { message: /^batchSize is "undefined"; allowed: / });
  const allowed = 'the number of samples, or an order that `order`, `blend` and others made';
  for (const samples of [[1, 2], new Uint8Array(3), null, { samples: 3 }]) {
    const told = { kind: 'wrong-type', field: 'samples', allowed };
    assert.throws(() => new Sampler(samples), told);
    assert.throws(() => new Schedule(samples, 2), told);
  }
  assert.equal(new Sampler(order('feistel', { samples: 3 })).length, 3);
});

test('a state that is cut off is said to be', () => {
  for (const made of [
    new entries.samedeal.Sampler(100, { seed: 4 }),
    new entries.samedeal.Batcher([3, 4], { maxTokens: 4 }),
    new entries.samedeal.Schedule(100, 4),
    new entries.samedeal.Reading([30], { batchSize: 2 }),
  ]) {
    const state = made.state(0);
    for (const end of [1, 40, state.length - 1]) {
      assert.throws(() => made.constructor.fromState(state.slice(0, end)), {
        kind: 'wrong-type',
        message: /allowed: the text that `state` gave, in whole: this one ends too early$/,
      });
    }
    for (const wrong of ['{"samedeal":"x"}', '[', 'hello', '']) {
      assert.throws(() => made.constructor.fromState(wrong), { message: /allowed: the text that `state` gave$/ });
    }
  }
});
