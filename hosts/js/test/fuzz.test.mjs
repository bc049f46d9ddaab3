// A short run of tests/fuzz/javascript, and checks that it finds planted faults.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { CALLS } from '../../../tests/fuzz/javascript/calls.mjs';
import { run } from '../../../tests/fuzz/javascript/fuzz.mjs';
import { Runner } from '../../../tests/fuzz/javascript/program.mjs';
import { targets } from '../../../tests/fuzz/javascript/surface.mjs';
import { scopeOf } from '../../../tests/fuzz/javascript/worker.mjs';

let scope;
let found;
let prototypes;
const folder = mkdtempSync(join(tmpdir(), 'samedeal-fuzz-test-'));
before(async () => {
  scope = await scopeOf('samedeal', folder);
  ({ found, prototypes } = await targets(scope));
});
after(() => rmSync(folder, { recursive: true }));

/** A program with these calls of one object, each with its arguments. */
const program = (...calls) => ({
  statements: calls.map(([what, ...given]) => {
    const target = found.find((each) => each.what === what);
    return { target, receiver: 0, count: given.length, given };
  }),
  laws: 0,
});

const runner = (limit = 1e6) => new Runner(scope, prototypes, limit);

/** Runs `call` while another method replaces one of a class. */
async function broken(of, name, method, call) {
  const { prototype } = of;
  assert(name in prototype && !Object.hasOwn(prototype, name), `${name} is not where this test looks for it`);
  Object.defineProperty(prototype, name, { value: method, configurable: true });
  try {
    await call();
  } finally {
    delete prototype[name];
  }
}

for (const entry of ['samedeal', 'samedeal/web']) {
  test(`every public name of ${entry} is called, and nothing fails`, async () => {
    const result = await run({ seed: 1, calls: 5000, entry });
    assert.deepEqual(result.failures, []);
    assert.equal(result.called, result.of);
    assert(result.calls >= 5000);
  });
}

test('a public name without arguments is an error', async () => {
  const { 'Sampler#batch': own } = CALLS;
  delete CALLS['Sampler#batch'];
  try {
    await assert.rejects(targets(scope), /nothing makes arguments for Sampler#batch/);
  } finally {
    CALLS['Sampler#batch'] = own;
  }
});

test('what is right is no failure', async () => {
  await runner().run(program(['Sampler#batch', '0', '3'], ['Sampler#batch', '-1', '0'], ['Sampler#batch']));
});

test('an error from the inside is a failure', async () => {
  await broken(scope.samedeal.Split, 'nameOf', scope.samedeal.Split.prototype.indices.bind(undefined), async () => {
    await assert.rejects(runner().run(program(['Split#nameOf', '0'])), {
      what: 'Split#nameOf',
      kind: /^TypeError in /,
    });
  });
});

test('a wrong result is a failure', async () => {
  const wrong = () => 0;
  await broken(scope.samedeal.Sampler, 'sampleAt', wrong, async () => {
    const own = runner();
    await assert.rejects(own.run(program(['Sampler#epoch'])), { kind: 'law', message: /a place has its sample/ });
    assert.match(own.script[0], /^const v0 = await new samedeal.Sampler\(/);
  });
});

test('a call that takes too long is a failure', async () => {
  await assert.rejects(runner(-1).run(program(['plainOrders'])), { kind: 'slow' });
});

test('a failure that changes an object is found', async () => {
  function moving() {
    this.setEpoch(7);
    return this.setRank(-1);
  }
  await broken(scope.samedeal.Sampler, 'state', moving, async () => {
    await assert.rejects(runner().run(program(['Sampler#state', '99'])), { kind: 'changed by a failure' });
  });
});
