// States of batchers, and where a batcher puts a sample.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Batcher, BatchStream, SamedealError, Sampler } from 'samedeal';
import { some, WAYS, windowed } from './batching.mjs';
import { changed, NO_STATES } from './states.mjs';
import { NOT_32_BITS, NOT_WHOLE, refused } from './values.mjs';

const all = (count) => Array.from({ length: count }, (_, sample) => sample);
const sorted = (samples) => samples.toSorted((one, other) => one - other);
/** The samples of all ranks at the steps from `start` on, before `end`. */
function samplesOf(batcher, start = 0, end = batcher.length) {
  const steps = all(end - start).map((step) => start + step);
  return steps.flatMap((step) => all(batcher.worldSize).flatMap((rank) => [...batcher.batch(step, rank).samples]));
}

describe('states', () => {
  for (const [way, options] of Object.entries(WAYS)) {
    const make = (others) => new Batcher(some(1000), { ...options, seed: 5, ...windowed(options, 300), ...others });

    test(`${way}: on the same number of ranks, the rest is the rest`, () => {
      const batcher = make({ worldSize: 2, rank: 1, epoch: 3 });
      const other = make({ worldSize: 2, rank: 1 });
      for (const taken of [0, 1, batcher.length >> 1, batcher.length - 1, batcher.length]) {
        other.resume(batcher.state(taken));
        assert.deepEqual([...other], [...batcher.batches(taken)]);
        assert.deepEqual([other.epoch, other.length], [3, batcher.length - taken]);
        assert.equal(other.metrics().steps, other.length);
        assert.equal(other.state(other.length), batcher.state(batcher.length));
      }
    });

    test(`${way}: on other worlds, no sample is lost or seen twice`, () => {
      const seen = [];
      let state = make({ epoch: 2 }).state(0);
      for (const [number, worldSize] of [8, 3, 3, 1, 2].entries()) {
        const batcher = make({ worldSize });
        batcher.resume(state);
        const taken = number === 4 ? batcher.length : batcher.length >> 1;
        seen.push(...samplesOf(batcher, 0, taken));
        state = batcher.state(taken);
        assert.equal(make({ worldSize, rank: worldSize - 1, epoch: 2, history: batcher.history }).state(taken), state);
      }
      assert.deepEqual(sorted(seen), all(1000));
    });
  }

  const make = (others) => new Batcher(some(500), { maxTokens: 300, ...others });

  test('what a state changes, and what it does not', () => {
    const batcher = make({ worldSize: 2, epoch: 3 });
    const rest = make({ worldSize: 2, rank: 1 });
    rest.resume(batcher.state(4));
    assert.deepEqual([rest.epoch, rest.rank, rest.history], [3, 1, [{ worldSize: 2, steps: 4 }]]);
    assert.deepEqual(rest.config, { ...batcher.config, rank: 1, history: [{ worldSize: 2, steps: 4 }] });
    assert.match(String(rest), /, \{ rank: 1, epoch: 3, history: \[\{ worldSize: 2, steps: 4 \}\] \}\)$/);
    assert.doesNotMatch(String(batcher), /history/);
    const twin = new Batcher(rest.lengths, rest.config);
    assert.equal(twin.fingerprint(), rest.fingerprint());
    assert.deepEqual([...twin], [...rest]);
    rest.setEpoch(3n);
    assert.deepEqual([rest.history.length, rest.length], [1, batcher.length - 4]);
    rest.setEpoch(4);
    assert.deepEqual([rest.history, rest.fingerprint()], [[], make({ worldSize: 2, epoch: 4 }).fingerprint()]);
    rest.resume(batcher.state(0));
    assert.deepEqual([rest.epoch, rest.history, rest.fingerprint()], [3, [], batcher.fingerprint()]);
  });

  test('a pass notices that the batcher went on elsewhere', () => {
    const batcher = make({ worldSize: 2 });
    const elsewhere = make({ worldSize: 2, epoch: 1 });
    for (const [state, field] of [
      [batcher.state(3), 'history'],
      [elsewhere.state(0), 'epoch'],
      [elsewhere.state(3), 'epoch'],
    ]) {
      batcher.setEpoch(2);
      batcher.setEpoch(0);
      const [started, untouched] = [batcher.batches(), batcher.batches(1, 1)];
      started.next();
      batcher.resume(state);
      for (const pass of [started, untouched]) refused(() => pass.next(), 'out-of-range', field);
      assert.equal([...batcher].length, batcher.length);
    }
    const pass = batcher.batches();
    const first = pass.next().value;
    batcher.resume(batcher.state(0));
    assert.deepEqual([first, ...pass], [...batcher]);
  });

  test('the histories that are given and got are not those that count', () => {
    const history = [
      { worldSize: 2n, steps: 4n },
      { worldSize: 3, steps: 1 },
    ];
    const batcher = make({ history });
    const before = batcher.fingerprint();
    history[0].steps = 5n;
    history.pop();
    batcher.history[0].steps = 5;
    batcher.config.history.pop();
    const was = [
      { worldSize: 2, steps: 4 },
      { worldSize: 3, steps: 1 },
    ];
    assert.deepEqual([batcher.history, batcher.config.history], [was, was]);
    assert.equal(make({ history: was }).fingerprint(), before);
    const frozen = Object.freeze([
      Object.freeze({ worldSize: 2, steps: 4 }),
      Object.freeze({ worldSize: 3, steps: 1 }),
    ]);
    assert.equal(make({ history: frozen }).fingerprint(), before);
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
      const places = all(batcher.length).flatMap((step) =>
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
    const past = (worldSize, steps) => make({ history: [{ worldSize, steps }] });
    for (const [field, outside, call] of [
      ['steps', [batcher.length + 1, 2n ** 64n - 1n, 2 ** 53, ...NOT_32_BITS], (value) => batcher.state(value)],
      ['sample', [100, 2n ** 64n - 1n, 2 ** 53, ...NOT_32_BITS], (value) => batcher.locate(value)],
      ['history', [0, 2 ** 20 + 1, ...NOT_32_BITS], (value) => past(value, 0)],
      ['history', [batcher.length + 1, 2n ** 64n - 1n, 2 ** 53, ...NOT_32_BITS], (value) => past(2, value)],
    ]) {
      for (const value of NOT_WHOLE) refused(() => call(value), 'wrong-type', field);
      for (const value of outside) refused(() => call(value), 'out-of-range', field);
    }
    for (const at of [-1, 100, 2n ** 64n]) {
      assert.throws(() => batcher.locate(at), { value: String(at), allowed: '0 to 99' });
      assert.throws(() => batcher.state(at), { value: String(at), allowed: `0 to ${batcher.length}` });
    }
    assert.equal(batcher.fingerprint(), before);
  });

  test('histories', () => {
    for (const history of [null, 3, 'history', {}, new Set(), { length: 1 }, [3], [null], [[2, 3]], ['2'], [{}]]) {
      refused(() => make({ history }), 'wrong-type', 'history');
    }
    refused(() => new BatchStream({ maxTokens: 3, history: [] }), 'unknown-name', 'options');
    refused(() => make({ history: [{ worldSize: 2 }] }), 'wrong-type', 'history');
    refused(() => make({ history: [{ worldSize: 2, steps: 1, rank: 0 }] }), 'unknown-name', 'options');
    // biome-ignore lint/suspicious/noSparseArray: what is not there is no segment
    refused(() => make({ history: [, { worldSize: 2, steps: 1 }] }), 'wrong-type', 'history');
    const none = { worldSize: 1, steps: 0 };
    assert.equal(make({ history: new Array(4096).fill(none) }).fingerprint(), make().fingerprint());
    refused(() => make({ history: new Array(4097).fill(none) }), 'out-of-range', 'history');
    refused(() => make({ history: new Array(2 ** 25).fill(none) }), 'out-of-range', 'history');
  });

  test('more worlds than there were', () => {
    const history = Array.from({ length: 64 }, (_, i) => ({ worldSize: 1 + (i % 2), steps: 1 }));
    const of = (worldSize) => new Batcher(some(3_000), { maxTokens: 300, seed: 3, history, worldSize });
    const batcher = of(3);
    assert.equal(batcher.history.length, 64);
    batcher.resume(batcher.state(1));
    assert.equal(batcher.history.length, 65);
    // A world that no state has room for is told before it takes a step.
    const most = Array.from({ length: 4096 }, (_, i) => ({ worldSize: 1 + (i % 2), steps: 1 }));
    refused(() => make({ history: most, worldSize: 1 }), 'out-of-range', 'history');
    // Who took nothing does not count, and who took twice counts once.
    const again = [history[0], history[0], { worldSize: 9, steps: 0 }, history[0]];
    assert.deepEqual(JSON.parse(make({ history: again }).state(0)).history, [{ world_size: 1, steps: 3 }]);
  });

  test('states of something else', () => {
    const batcher = make({ epoch: 4 });
    const state = batcher.state(2);
    for (const [other, field] of [
      [new Batcher(some(101), { maxTokens: 300, seed: 3 }), 'samples'],
      [make({ seed: 4 }), 'seed'],
      [make({ order: 'torch' }), 'order'],
      [new Batcher(some(100), { strategy: 'pack', capacity: 300, seed: 3 }), 'strategy'],
      [make({ maxTokens: 301 }), 'max-tokens'],
      [new Batcher(some(100).reverse(), { maxTokens: 300, seed: 3 }), 'lengths'],
    ]) {
      const before = other.fingerprint();
      refused(() => other.resume(state), 'contradiction', field);
      assert.deepEqual([other.epoch, other.history, other.fingerprint()], [0, [], before]);
    }
    refused(() => batcher.resume(new Sampler(100, { seed: 3 }).state(2)), 'wrong-type', 'state');
    refused(() => batcher.resume(state.replace('"steps":2', '"steps":2000')), 'out-of-range', 'history');
  });

  test('whatever else a text is', () => {
    const batcher = make({ history: [{ worldSize: 3, steps: 1 }] });
    const before = batcher.fingerprint();
    for (const text of NO_STATES) refused(() => batcher.resume(text), 'wrong-type', 'state');
    for (const value of [undefined, null, 3, {}, [], Uint8Array.of(0xff), Object(batcher.state(1))]) {
      refused(() => batcher.resume(value), 'wrong-type', 'state');
    }
    refused(() => batcher.resume('π'.repeat(2 ** 23 + 1)), 'out-of-range', 'state');
    assert.deepEqual([batcher.fingerprint(), batcher.history], [before, [{ worldSize: 3, steps: 1 }]]);
  });

  test('a state that was tampered with is refused, or says where to go on', () => {
    const batcher = make({ history: [{ worldSize: 3, steps: 1 }] });
    let refusals = 0;
    for (const text of changed(batcher.state(2), 1000)) {
      const before = [batcher.epoch, batcher.history, batcher.length];
      try {
        batcher.resume(text);
        const { epoch, history } = JSON.parse(text);
        const segments = history.map(({ world_size: worldSize, steps }) => ({ worldSize, steps }));
        assert.deepEqual([BigInt(batcher.epoch), batcher.history], [BigInt(epoch), segments]);
      } catch (error) {
        assert(error instanceof SamedealError, `${error} of ${text}`);
        assert.deepEqual([batcher.epoch, batcher.history, batcher.length], before);
        refusals += 1;
      }
    }
    assert(refusals > 500 && refusals < 1000);
    assert.equal([...batcher].length, batcher.length);
  });
});
