// States of batchers, and the places of samples in batches.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Batcher, SamedealError, Sampler } from 'samedeal';
import { some, WAYS, windowed } from './batching.mjs';
import { changed, NO_STATES } from './states.mjs';
import { NOT_32_BITS, NOT_WHOLE, refused, wrong } from './values.mjs';

const all = (count) => Array.from({ length: count }, (_, sample) => sample);
const sorted = (samples) => samples.toSorted((one, other) => one - other);
/** The samples of all ranks at the steps from `start` on, before `end`. */
function samplesOf(batcher, start = 0, end = batcher.numSteps()) {
  const steps = all(end - start).map((step) => start + step);
  return steps.flatMap((step) => all(batcher.worldSize).flatMap((rank) => [...batcher.batch(step, rank).samples]));
}

describe('states', () => {
  for (const [way, options] of Object.entries(WAYS)) {
    const make = (others) => new Batcher(some(1000), { ...options, seed: 5, ...windowed(options, 300), ...others });

    test(`${way}: on the same number of ranks, the rest is the rest`, () => {
      const batcher = make({ worldSize: 2, rank: 1, epoch: 3 });
      const other = make({ worldSize: 2, rank: 1 });
      for (const taken of [0, 1, batcher.numSteps() >> 1, batcher.numSteps() - 1, batcher.numSteps()]) {
        other.resume(batcher.state(taken));
        assert.deepEqual([...other], [...batcher.batches(taken)]);
        assert.deepEqual([other.epoch, other.numSteps()], [3, batcher.numSteps() - taken]);
        assert.equal(other.metrics().steps, other.numSteps());
        assert.equal(other.state(other.numSteps()), batcher.state(batcher.numSteps()));
      }
    });

    test(`${way}: on other worlds, no sample is lost or seen twice`, () => {
      const seen = [];
      let state = make({ epoch: 2 }).state(0);
      for (const [number, worldSize] of [8, 3, 3, 1, 2].entries()) {
        const batcher = make({ worldSize });
        batcher.resume(state);
        const taken = number === 4 ? batcher.numSteps() : batcher.numSteps() >> 1;
        seen.push(...samplesOf(batcher, 0, taken));
        state = batcher.state(taken);
        const twin = make({ worldSize, rank: worldSize - 1 });
        twin.resume(batcher.state(0));
        assert.equal(twin.state(taken), state);
      }
      assert.deepEqual(sorted(seen), all(1000));
    });
  }

  const make = (others) => new Batcher(some(500), { maxTokens: 300, ...others });

  test('what a state changes, and what it does not', () => {
    const batcher = make({ worldSize: 2, epoch: 3 });
    const rest = make({ worldSize: 2, rank: 1 });
    rest.resume(batcher.state(4));
    assert.deepEqual([rest.epoch, rest.rank, rest.state(0)], [3, 1, batcher.state(4)]);
    assert.deepEqual(rest.config, { ...batcher.config, rank: 1 });
    assert.match(String(rest), /, \{ rank: 1, state: '\{.*\}' \}\)$/);
    assert.doesNotMatch(String(batcher), /state:/);
    const twin = Batcher.fromJSON(JSON.stringify(rest));
    assert.equal(twin.fingerprint(), rest.fingerprint());
    assert.deepEqual([...twin], [...rest]);
    rest.setEpoch(3n);
    assert.equal(rest.numSteps(), batcher.numSteps() - 4);
    rest.setEpoch(4);
    assert.equal(rest.fingerprint(), make({ worldSize: 2, epoch: 4 }).fingerprint());
    rest.resume(batcher.state(0));
    assert.deepEqual([rest.epoch, rest.fingerprint()], [3, batcher.fingerprint()]);
  });

  test('other options go on where they are asked for', () => {
    const batcher = make({ worldSize: 2 });
    const smaller = make({ worldSize: 3, maxTokens: 150 });
    const state = batcher.state(4);
    refused(() => smaller.resume(state), 'contradiction', 'max_tokens');
    smaller.resume(state, { replan: true });
    assert.deepEqual(sorted([...samplesOf(batcher, 0, 4), ...samplesOf(smaller)]), all(500));
    const again = make({ worldSize: 3, maxTokens: 150 });
    again.resume(smaller.state(2));
    assert.deepEqual([...again], [...smaller.batches(2)]);
    assert.throws(() => smaller.resume(state, { replan: 1 }), { kind: 'wrong-type', field: 'replan' });
  });

  test('a pass notices that the batcher went on elsewhere', () => {
    const batcher = make({ worldSize: 2 });
    const elsewhere = make({ worldSize: 2, epoch: 1 });
    for (const [state, field] of [
      [batcher.state(3), 'state'],
      [elsewhere.state(0), 'epoch'],
      [elsewhere.state(3), 'epoch'],
    ]) {
      batcher.setEpoch(2);
      batcher.setEpoch(0);
      const [started, untouched] = [batcher.batches(), batcher.batches(1, 1)];
      started.next();
      batcher.resume(state);
      for (const pass of [started, untouched]) refused(() => pass.next(), 'out-of-range', field);
      assert.equal([...batcher].length, batcher.numSteps());
    }
    const pass = batcher.batches();
    const first = pass.next().value;
    batcher.resume(batcher.state(0));
    assert.deepEqual([first, ...pass], [...batcher]);
  });

  test('quantiles are those of all samples, also for the rest of them', () => {
    const options = { strategy: 'bucket', quantiles: 5, worldSize: 2 };
    const batcher = new Batcher(some(500), options);
    const rest = new Batcher(some(500), options);
    rest.resume(batcher.state(3));
    assert.equal(rest.config.quantiles, 5);
    assert.deepEqual([...rest], [...batcher.batches(3)]);
  });
});

describe('places', () => {
  for (const [way, options] of Object.entries(WAYS)) {
    test(`${way}: a sample is where it is said to be, and nowhere else`, () => {
      const batcher = new Batcher(some(400), {
        ...options,
        worldSize: 3,
        tail: 'duplicate',
        seed: 2,
        ...windowed(options, 100),
      });
      const found = Array.from({ length: 400 }, (_, sample) => batcher.locate(BigInt(sample)));
      const places = all(batcher.numSteps()).flatMap((step) =>
        all(3).flatMap((rank) => {
          const { samples, starts, rowEnds } = batcher.batch(step, rank);
          const rowOf = (item) => rowEnds.findIndex((end) => item < end);
          return Array.from(samples, (sample, item) => {
            const row = rowOf(item);
            return {
              sample,
              place: { step, rank, row, indexInRow: item - (rowEnds[row - 1] ?? 0), start: starts[item] },
            };
          });
        }),
      );
      for (const [sample, of] of found.entries()) {
        const there = places.filter((item) => item.sample === sample).map(({ place }) => place);
        assert.deepEqual(of, there, `sample ${sample}`);
      }
    });
  }

  test('parts, what is left out, and what was taken', () => {
    const options = { strategy: 'pad-to-max', maxLength: 4, order: 'sequential' };
    const split = new Batcher([10, 3], { ...options, tooLong: 'split' });
    assert.deepEqual(
      split
        .locate(0)
        .map(({ start }) => start)
        .toSorted(),
      [0, 4, 8],
    );
    assert.deepEqual(new Batcher([10, 3], { ...options, tooLong: 'drop' }).locate(0), []);
    const batcher = new Batcher(some(100), { maxTokens: 300 });
    const [{ step }] = batcher.locate(5);
    assert.deepEqual(batcher.batch(step).samples.includes(5), true);
    batcher.resume(batcher.state(step));
    assert.equal(batcher.locate(5)[0].step, 0);
    batcher.resume(batcher.state(1));
    assert.deepEqual(batcher.locate(5), []);
  });
});

describe('refusals', () => {
  const make = (others) => new Batcher(some(100), { maxTokens: 300, worldSize: 2, seed: 3, ...others });

  test('numbers that do not fit, and the batcher is as good as before', () => {
    const batcher = make();
    const before = batcher.fingerprint();
    for (const [field, outside, call] of [
      ['steps', [batcher.numSteps() + 1, 2n ** 64n - 1n, 2 ** 53, ...NOT_32_BITS], (value) => batcher.state(value)],
      ['sample', [100, 2n ** 64n - 1n, 2 ** 53, ...NOT_32_BITS], (value) => batcher.locate(value)],
    ]) {
      for (const value of NOT_WHOLE) refused(() => call(value), wrong(value), field);
      for (const value of outside) refused(() => call(value), 'out-of-range', field);
    }
    for (const at of [-1, 100, 2n ** 64n]) {
      assert.throws(() => batcher.locate(at), { value: String(at), allowed: '0 to 99' });
      assert.throws(() => batcher.state(at), { value: String(at), allowed: `0 to ${batcher.numSteps()}` });
    }
    assert.equal(batcher.fingerprint(), before);
  });

  test('states of something else', () => {
    const batcher = make({ epoch: 4 });
    const state = batcher.state(2);
    for (const [other, field] of [
      [new Batcher(some(101), { maxTokens: 300, seed: 3 }), 'samples'],
      [make({ seed: 4 }), 'seed'],
      [make({ order: 'torch' }), 'name'],
      [new Batcher(some(100), { strategy: 'pack', capacity: 300, seed: 3 }), 'strategy'],
      [make({ maxTokens: 301 }), 'max_tokens'],
      [new Batcher(some(100).reverse(), { maxTokens: 300, seed: 3 }), 'lengths'],
    ]) {
      const before = other.fingerprint();
      refused(() => other.resume(state), 'contradiction', field);
      assert.deepEqual([other.epoch, other.fingerprint()], [0, before]);
    }
    refused(() => batcher.resume(new Sampler(100, { seed: 3 }).state(2)), 'wrong-type', 'state');
    batcher.resume(state.replace('"steps":2', '"steps":2000'));
    refused(() => batcher.numSteps(), 'out-of-range', 'history');
  });

  test('whatever else a text is', () => {
    const batcher = make();
    batcher.resume(make({ worldSize: 3 }).state(1));
    const before = batcher.fingerprint();
    for (const text of NO_STATES) refused(() => batcher.resume(text), wrong(text), 'state');
    for (const value of [undefined, null, 3, {}, [], Uint8Array.of(0xff), Object(batcher.state(1))]) {
      refused(() => batcher.resume(value), wrong(value), 'state');
    }
    refused(() => batcher.resume('π'.repeat(2 ** 23 + 1)), 'out-of-range', 'state');
    assert.equal(batcher.fingerprint(), before);
  });

  test('a state that was tampered with is refused, or says where to go on', () => {
    const batcher = make();
    batcher.resume(make({ worldSize: 3 }).state(1));
    let refusals = 0;
    for (const text of changed(batcher.state(2), 1000)) {
      const before = batcher.state(0);
      try {
        batcher.resume(text);
        assert.equal(BigInt(batcher.epoch), BigInt(JSON.parse(text).epoch));
        // Only the planning of the window finds a history with more steps than the window has, or a checksum of other
        // lengths.
        batcher.batch(0);
      } catch (error) {
        assert(error instanceof SamedealError, `${error} of ${text}`);
        if (['history', 'lengths', 'step'].includes(error.field)) batcher.resume(before);
        assert.equal(batcher.state(0), before);
        refusals += 1;
      }
    }
    assert(refusals > 500 && refusals < 1000);
    assert.equal([...batcher].length, batcher.numSteps());
  });
});
