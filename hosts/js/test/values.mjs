// Values that no parameter accepts, for the tests of all classes.
import assert from 'node:assert/strict';
import { SamedealError } from 'samedeal';

/** Values that are no whole numbers, for any parameter. */
export const NOT_WHOLE = [Number.NaN, Number.POSITIVE_INFINITY, 1.7, '3', null, true, {}, [3], Symbol('3'), () => 3];
/** Whole numbers that are negative or beyond 32 bits. */
export const NOT_32_BITS = [-1, -1n, 2 ** 32, 2n ** 32n, 1e300, 2n ** 64n];
/** Values that are no lists of whole numbers. */
export const NO_LIST = [
  undefined,
  null,
  3,
  'x',
  {},
  new Set([3]),
  new DataView(new ArrayBuffer(4)),
  new ArrayBuffer(4),
];

/** Checks that `call` throws a typed error about `field`. */
export function refused(call, kind, field) {
  assert.throws(call, (error) => {
    assert(error instanceof SamedealError, String(error));
    assert.deepEqual([error.kind, error.field], [kind, field], error.message);
    return true;
  });
}

/**
 * Calls a function near the end of the stack again and again, so that the stack overflows in the middle of the call.
 */
export function overflow(call) {
  let overflows = 0;
  const nearTheEnd = () => {
    try {
      nearTheEnd();
    } catch (error) {
      // The bindings may report the overflow as a task that ended early, but never as the failure of a value.
      assert(error instanceof Error && !(error instanceof SamedealError), String(error));
      overflows += 1;
      call();
    }
  };
  try {
    nearTheEnd();
  } catch (error) {
    assert(error instanceof Error && !(error instanceof SamedealError), String(error));
  }
  assert(overflows > 0);
}

/** The kind of the error for a value of a wrong type: `missing` if it is undefined, otherwise `wrong-type`. */
export const wrong = (value) => (value === undefined ? 'missing' : 'wrong-type');
