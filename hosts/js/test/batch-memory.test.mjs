// Batchers if the memory is full, or if a call ends in the middle.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Batcher } from 'samedeal';
import { BaseBatcher } from '../dist/batch/batcher.js';
import { padWith } from '../dist/batch/collate.js';
import { componentInstances } from '../dist/engine/component.js';
import { Engine, over } from '../dist/engine.js';
import { some } from './batching.mjs';
import { compiled, LIMIT, limited, overridden, trap } from './limited.mjs';
import { overflow } from './values.mjs';

/** An engine with only one instance, which has little memory and is shared by all objects. */
function small() {
  const bindings = componentInstances(limited, LIMIT)();
  return new Engine(() => bindings);
}

test('a batcher that does not fit is an error, and those that do go on', () => {
  const engine = small();
  const Limited = over(BaseBatcher, () => engine);
  const kept = [];
  const fill = () => {
    for (;;) kept.push(new Limited(new Uint32Array(16_000).fill(3), { maxTokens: 600, worldSize: 2 }));
  };
  assert.throws(fill, { name: 'SamedealError', kind: 'out-of-memory' });
  assert(kept.length > 5 && kept.length < LIMIT / 64_000);
  for (const batcher of kept.splice(8)) batcher.dispose();
  for (const [epoch, batcher] of kept.entries()) {
    batcher.setEpoch(epoch);
    assert.equal(batcher.batch(20, 1).samples.length, 200);
  }
  for (const batcher of kept) batcher.dispose();
  for (let i = 0; i < 50; i++) new Limited(new Uint32Array(40_000).fill(3), { maxTokens: 600 }).dispose();
});

test('the garbage collector gives memory back', async () => {
  const engine = small();
  const Limited = over(BaseBatcher, () => engine);
  for (let i = 0; i < 200; i++) {
    new Limited(new Uint32Array(20_000).fill(3), { maxTokens: 600 });
    globalThis.gc();
    await setImmediate();
  }
});

test('steps that do not fit together are read one by one', () => {
  const bindings = componentInstances(limited, LIMIT)();
  const counts = new Set();
  const counting = (raw) => {
    const take = raw.take.bind(raw);
    return {
      take(rank, start, count) {
        counts.add(count);
        if (count > 1)
          throw { kind: 'out-of-memory', field: 'count', value: String(count), allowed: 'fewer', facts: [] };
        return take(rank, start, count);
      },
    };
  };
  const Counting = overridden(bindings.batches.Batcher, counting);
  const engine = new Engine(() => ({ ...bindings, batches: { ...bindings.batches, Batcher: Counting } }));
  const samples = 7000;
  const batcher = new (over(BaseBatcher, () => engine))(new Uint8Array(samples), {
    strategy: 'pad-to-max',
    maxBatchSize: 100,
  });
  const seen = new Uint8Array(samples);
  for (const batch of batcher) {
    for (const sample of batch.samples) seen[sample] += 1;
  }
  assert(seen.every((count) => count === 1));
  assert.deepEqual([...counts], [0, 64, 1]);
});

test('an epoch that does not fit leaves the old one', () => {
  const engine = small();
  const Limited = over(BaseBatcher, () => engine);
  const batcher = new Limited(new Uint32Array(300_000).fill(3), { maxTokens: 600, order: 'fisher-yates' });
  const before = batcher.fingerprint();
  const kept = [];
  assert.throws(
    () => {
      for (;;) kept.push(new Limited(new Uint32Array(20_000), { maxTokens: 600 }));
    },
    { kind: 'out-of-memory' },
  );
  assert.throws(() => batcher.setEpoch(1), { name: 'SamedealError', kind: 'out-of-memory' });
  assert.equal(batcher.epoch, 0);
  for (const other of kept) other.dispose();
  assert.equal(batcher.fingerprint(), before);
  batcher.setEpoch(1);
  assert.notEqual(batcher.fingerprint(), before);
});

test('cells that do not fit are an error, and fewer of them are not', () => {
  const engine = small();
  const rows = (count) => Array.from({ length: count }, () => Uint8Array.of(1));
  assert.throws(() => padWith(engine, rows(2), { width: 4 << 20 }), { name: 'SamedealError', kind: 'out-of-memory' });
  assert.equal(padWith(engine, rows(2), { width: 1 << 10 }).values.length, 1 << 11);
});

test('a batcher whose instance is lost is made again, where it was', () => {
  let made = 0;
  const instances = componentInstances(compiled);
  const trapping = (plan) => {
    const another = (call) => (value) => Object.assign(call.call(plan, value), trapping(plan));
    const { atEpoch, resume, replan } = plan;
    return { fingerprint: trap, atEpoch: another(atEpoch), resume: another(resume), replan: another(replan) };
  };
  const engine = new Engine(() => {
    made += 1;
    const { batches, ...others } = instances();
    return { ...others, batches: { ...batches, Batcher: overridden(batches.Batcher, trapping) } };
  });
  const batcher = new (over(BaseBatcher, () => engine))(some(500), { maxTokens: 300, worldSize: 2 });
  batcher.setEpoch(7);
  for (const lost of [0, 1]) {
    if (lost > 0) batcher.resume(batcher.state(3));
    const [before, { recipe }, state] = [[...batcher], batcher, batcher.state(0)];
    assert.throws(() => batcher.fingerprint(), { message: 'unreachable' });
    assert.deepEqual([[...batcher], batcher.recipe], [before, recipe]);
    assert.deepEqual([made, batcher.epoch, batcher.state(0)], [lost + 2, 7, state]);
  }
});

test('a stack that overflows ends the call, and nothing else', () => {
  const options = { strategy: 'pack', capacity: 200 };
  const batcher = new Batcher(some(200), options);
  const states = [1, 2, 3].map((worldSize) =>
    new Batcher(some(200), { ...options, worldSize, epoch: worldSize }).state(worldSize),
  );
  for (let round = 0; round < 40; round++) {
    const calls = [
      () => batcher.setEpoch(round),
      () => batcher.batch(1),
      () => [...batcher],
      () => batcher.fingerprint(),
      () => batcher.resume(states[round % 3]),
    ];
    overflow(calls[round % 5]);
    const mirror = Batcher.fromState(batcher.state(0), some(200));
    assert.deepEqual(batcher.metrics(), mirror.metrics());
    assert.equal(batcher.fingerprint(), mirror.fingerprint());
  }
});
