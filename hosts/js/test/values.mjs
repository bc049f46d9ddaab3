// Values that fit nowhere, for the tests of all classes.
import assert from 'node:assert/strict';
import { SamedealError } from 'samedeal';

/** No whole numbers at all, whatever the parameter. */
export const NOT_WHOLE = [Number.NaN, Number.POSITIVE_INFINITY, 1.7, '3', null, true, {}, [3], Symbol('3'), () => 3];
/** Whole, and beyond 32 bits or negative. */
export const NOT_32_BITS = [-1, -1n, 2 ** 32, 2n ** 32n, 1e300, 2n ** 64n];
/** No lists of whole numbers. */
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

/** Holds `call` to a typed error about `field`. */
export function refused(call, kind, field) {
  assert.throws(call, (error) => {
    assert(error instanceof SamedealError, String(error));
    assert.deepEqual([error.kind, error.field], [kind, field], error.message);
    return true;
  });
}

/** Makes a call near the end of the stack, again and again: in the middle of it the stack overflows. */
export function overflow(call) {
  let overflows = 0;
  const nearTheEnd = () => {
    try {
      nearTheEnd();
    } catch (error) {
      // The bindings may say of the overflow that a task ended early; no failure of a value comes of it.
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

/** The kind of error of a value that has no type that could be taken: nothing was given, or something else. */
export const wrong = (value) => (value === undefined ? 'missing' : 'wrong-type');
