// The instances in which samplers are, and the samplers of an instance that is lost.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SamplerRecipe } from '../dist/deal/recipe.js';
import { Engine } from '../dist/engine.js';
import { SamedealError } from '../dist/errors.js';
import { entries } from './entries.mjs';

const recipe = (samples, order = 'feistel') => SamplerRecipe.of(samples, { order });

/**
 * An engine whose samplers tell the number of their instance. An instance has room for `most` samplers. `instances` has
 * the samplers of each one.
 */
function counting(most = Number.POSITIVE_INFINITY) {
  const instances = [];
  const engine = new Engine(() => {
    const there = new Set();
    const number = instances.push(there) - 1;
    return {
      plainOrders: () => ['feistel'],
      sampler(text, _, epoch) {
        const { samples } = JSON.parse(text).order;
        const at = (epoch) => {
          if (there.size >= most) throw { kind: 'out-of-memory', field: 'samples', value: '1', allowed: 'fewer' };
          const raw = { instance: () => number, datasetSize: () => samples, epoch: () => epoch, atEpoch: at };
          there.add(raw);
          return raw;
        };
        return at(epoch);
      },
      release: (raw) => assert(there.delete(raw)),
    };
  });
  const open = (samples, order) => {
    const of = recipe(samples, order);
    const seat = engine.open({}, of);
    const setEpoch = (epoch) =>
      engine.move(
        seat,
        of,
        (raw) => raw.atEpoch(epoch),
        (raw) => raw.epoch(),
      );
    return { close: () => engine.close(seat), call: (call) => engine.call(seat, of, call), setEpoch };
  };
  return { engine, instances, open };
}

test('samplers share instances, and large tables have one each', () => {
  const { engine, instances, open } = counting();
  for (let i = 0; i < 10_000; i++) open(2 ** 40);
  assert.deepEqual(
    engine.once(['plainOrders', 0], 0, ({ plainOrders }) => plainOrders()),
    ['feistel'],
  );
  assert.equal(instances.length, 1);
  open(2 ** 20, 'fisher-yates');
  open(2 ** 31, 'torch');
  assert.equal(instances.length, 3);
  open(10, 'torch');
  assert.equal(instances.length, 3);
});

test('what shares an instance stays far below 1 GiB', () => {
  const { instances, open } = counting();
  for (let i = 0; i < 1000; i++) open(2 ** 19, 'fisher-yates');
  assert(instances.length > 20);
  assert(instances.every((there) => there.size * 2 ** 21 <= 2 ** 27));
});

test('what is disposed of makes room', () => {
  const { instances, open } = counting();
  for (let i = 0; i < 1000; i++) open(2 ** 19, 'fisher-yates').close();
  assert.deepEqual(instances, [new Set()]);
});

test('an object that moves frees the one before it, after it is made; a large table is dropped before', () => {
  const { instances, open } = counting(2);
  const small = open(1000);
  assert.equal(small.setEpoch(7), 7);
  assert.equal(instances[0].size, 1);
  open(3);
  assert.throws(() => small.setEpoch(8), { name: 'SamedealError', kind: 'out-of-memory' });
  assert.deepEqual([small.call((raw) => raw.epoch()), instances[0].size], [7, 2]);

  const large = open(2 ** 27, 'torch');
  const [before] = instances[1];
  let seen;
  before.atEpoch = () => assert.fail('it lies before its table');
  assert.equal(large.setEpoch(5), 5);
  large.call((raw) => {
    seen = raw;
  });
  assert.deepEqual([...instances[1]], [seen]);
  assert.equal(instances.length, 2);
});

test('a failure changes nothing, anything else replaces the instance', () => {
  const { instances, open } = counting();
  const [one, other] = [open(1), open(2)];
  const throwing = (error) => () => {
    throw error;
  };
  const failure = { kind: 'out-of-range', field: 'drop_last', value: '3', allowed: 'less' };
  assert.throws(
    () => one.call(throwing(failure)),
    (error) => error instanceof SamedealError && error.message === 'dropLast is 3; allowed: less',
  );
  assert.equal(
    one.call((raw) => raw.instance()),
    0,
  );

  for (const error of [new WebAssembly.RuntimeError('unreachable'), new RangeError('stack'), undefined, 'text']) {
    const before = instances.length - 1;
    try {
      one.call(throwing(error));
      assert.fail();
    } catch (thrown) {
      assert.equal(thrown, error);
    }
    assert.equal(
      other.call((raw) => raw.instance()),
      before + 1,
    );
    assert.equal(
      one.call((raw) => raw.instance()),
      before + 1,
    );
    assert.deepEqual([one.call((raw) => raw.datasetSize()), other.call((raw) => raw.datasetSize())], [1, 2]);
  }
  // No call reaches a lost instance, not even to free an object.
  const lost = instances.at(-1).size;
  assert.throws(() => one.call(throwing(new Error('lost'))));
  other.close();
  assert.equal(instances.at(-1).size, lost);
});

test('no address space is an error like any other', () => {
  const engine = new Engine(() => {
    throw new RangeError('WebAssembly.Instance(): Out of memory: Cannot allocate Wasm memory for new instance');
  });
  assert.throws(() => engine.open({}, recipe(3)), { name: 'SamedealError', kind: 'out-of-memory' });
  const broken = new Engine(() => {
    throw new RangeError('Maximum call stack size exceeded');
  });
  assert.throws(() => broken.open({}, recipe(3)), { name: 'RangeError' });
});

for (const [entry, { Sampler }] of Object.entries(entries)) {
  const expected = (options) => new Sampler(1000, options).indices();

  test(`${entry}: a stack that overflows in a call ends the call, and nothing else`, () => {
    const moved = new Sampler(1000, { seed: 1, worldSize: 3 });
    const others = ['feistel', 'torch'].map((order) => new Sampler(1000, { seed: 2, order }));
    const states = [0, 1, 2].map((epoch) => new Sampler(1000, { seed: 1, worldSize: 5, epoch }).state(70 * epoch));
    const iterated = new Sampler(1000, { seed: 3 });
    const iterator = iterated[Symbol.iterator]();
    const seen = [];
    const calls = [
      () => moved.batch(0, 32),
      () => moved.setEpoch(Number(moved.epoch) + 1),
      () => moved.setRank((moved.rank + 1) % 3),
      () => new Sampler(50, { order: 'torch' }).indices(),
      () => seen.push(iterator.next().value),
      () => others[0].fingerprint(),
      () => moved.toJSON(),
      () => moved.resume(states[overflows % 3]),
    ];
    let overflows = 0;
    for (let round = 0; round < 6 * calls.length; round++) {
      const call = calls[round % calls.length];
      // The depth at which the stack ends depends on the size of the frames, so the size varies.
      const deeper = (...frame) => {
        deeper(...frame);
      };
      const callNearTheEnd = () => {
        try {
          callNearTheEnd();
        } catch (error) {
          // The bindings may report the overflow as a task that ended early, but never as the failure of a value.
          assert(error instanceof Error && !(error instanceof SamedealError), String(error));
          overflows++;
          call();
        }
      };
      try {
        if (round % 2) deeper(...new Array(6 * round));
        callNearTheEnd();
      } catch (error) {
        assert(error instanceof Error && !(error instanceof SamedealError), String(error));
        overflows++;
        try {
          callNearTheEnd();
        } catch {}
      }
      const { seed, epoch, rank, worldSize, consumed } = moved;
      assert.deepEqual(moved.indices(), expected({ seed, epoch, rank, worldSize, consumed }));
      assert.equal(moved.length, moved.indices().length);
    }
    assert(overflows > 6 * calls.length);
    for (const sampler of others) assert.deepEqual(sampler.indices(), expected({ seed: 2, order: sampler.order }));
    for (const sample of iterator) seen.push(sample);
    assert.deepEqual(
      seen.filter((sample) => sample !== undefined),
      [...iterated],
    );
  });

  test(`${entry}: thousands of samplers at a time`, () => {
    const made = Array.from(
      { length: 5000 },
      (_, seed) => new Sampler(1000, { seed, order: seed % 2 ? 'torch' : 'feistel' }),
    );
    for (const sampler of made) sampler.sampleAt(0);
    for (const seed of [0, 1, 4998, 4999])
      assert.deepEqual(made[seed].indices(), expected({ seed, order: made[seed].order }));
  });
}
