// What becomes of an engine that fails.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Engine } from '../dist/engine.js';
import { SamedealError } from '../dist/errors.js';

test('a failure leaves the engine as it was, anything else stops it', () => {
  const engine = new Engine({ orders: () => ['feistel'] });
  const orders = () => engine.run((bindings) => bindings.orders());
  const failure = { kind: 'out-of-range', field: 'drop-last', value: '3', allowed: 'less' };
  const failing = () =>
    engine.run(() => {
      throw failure;
    });
  assert.throws(failing, (error) => error instanceof SamedealError && error.message === 'dropLast is 3; allowed: less');
  assert.deepEqual(orders(), ['feistel']);

  const trap = new WebAssembly.RuntimeError('unreachable');
  const stopped = { message: /^the samedeal engine stopped after an internal error/, cause: trap };
  assert.throws(
    () =>
      engine.run(() => {
        throw trap;
      }),
    stopped,
  );
  assert.throws(orders, stopped);
});
