// Values that no caller should pass, and helpers for the scripts that reproduce failures.

/** Thrown by the values of this file: a caller's own error, which the package may let through. */
export class Planted extends Error {}

const thrower = (what) => () => {
  throw new Planted(what);
};

/** An object that throws wherever it is touched. */
export const odd = () => ({
  valueOf: thrower('valueOf'),
  toString: thrower('toString'),
  toJSON: thrower('toJSON'),
  [Symbol.toPrimitive]: thrower('toPrimitive'),
  get [Symbol.toStringTag]() {
    throw new Planted('toStringTag');
  },
  get length() {
    throw new Planted('length');
  },
  [Symbol.iterator]: thrower('iterator'),
});

/** A proxy with throwing traps: all of them, or only the trap `only`. */
export function trapped(target, only) {
  const names = ['get', 'has', 'ownKeys', 'getOwnPropertyDescriptor', 'getPrototypeOf', 'set', 'defineProperty'];
  return new Proxy(
    target,
    Object.fromEntries(names.filter((name) => !only || name === only).map((n) => [n, thrower(n)])),
  );
}

/** A proxy that was revoked. */
export function revoked(target) {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

/** A proxy of an array that returns another length. */
export const lying = (items, length) =>
  new Proxy(items, { get: (own, key) => (key === 'length' ? length : Reflect.get(own, key)) });

/** An object with a member whose value differs at each read. */
export function changing(name, ...values) {
  let at = 0;
  return {
    get [name]() {
      return values[at++ % values.length];
    },
  };
}

/** A typed array whose memory was detached. */
export function detached(Type) {
  const own = new Type(4);
  structuredClone(own.buffer, { transfer: [own.buffer] });
  return own;
}

/** A typed array over shared memory. */
export const shared = (Type) => new Type(new SharedArrayBuffer(4 * Type.BYTES_PER_ELEMENT));

/** A typed array over memory that has shrunk below its size. */
export function shrunk(Type) {
  const buffer = new ArrayBuffer(64, { maxByteLength: 64 });
  const own = new Type(buffer, 32, 2);
  buffer.resize(8);
  return own;
}

export class Numbers extends Array {
  static get [Symbol.species]() {
    throw new Planted('species');
  }
}

export class Words extends Uint32Array {
  get length() {
    return 2 ** 40;
  }
}

/** An array or an object that contains itself. */
export function recursive() {
  const own = { order: { samples: 3 } };
  own.deal = own;
  return own;
}

export function deep(depth) {
  let own = [];
  for (let i = 0; i < depth; i++) own = [own];
  return own;
}

export function* raising(...items) {
  yield* items;
  throw new Planted('a generator');
}

/** A text with a few changes: in its characters, or in a member of its JSON. */
export function mutated(text, seed) {
  if (typeof text !== 'string') return text;
  let state = seed >>> 0;
  const below = (most) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
  if (seed % 2) {
    try {
      return JSON.stringify(member(JSON.parse(text), below));
    } catch {
      // The text is no JSON.
    }
  }
  const at = below(text.length + 1);
  const letter = [...'0159-.eE"{}[],:\\\0\ud800é '][below(22)];
  if (below(2)) return text.slice(0, at) + letter + text.slice(at);
  return text.slice(0, at) + text.slice(at + 1 + below(5));
}

const WRONG = [null, true, -1, 0, 1, 2 ** 32, 2 ** 53, 1e300, 0.5, '', 'x', [], [1], {}, { a: 1 }, [[]]];

function member(value, below) {
  if (Array.isArray(value) && value.length > 0 && below(8)) {
    const at = below(value.length);
    return value.map((each, i) => (i === at ? member(each, below) : each));
  }
  if (typeof value === 'object' && value !== null && below(8)) {
    const keys = Object.keys(value);
    if (keys.length === 0) return WRONG[below(WRONG.length)];
    const key = keys[below(keys.length)];
    const { [key]: own, ...others } = value;
    if (below(8) === 0) return others;
    if (below(8) === 0) return { ...value, [['x', 'name', 'seed', 'of', '\0'][below(5)]]: WRONG[below(WRONG.length)] };
    return { ...value, [key]: member(own, below) };
  }
  if (typeof value === 'number' && below(2)) return value + [-1, 1, -value, 2 ** 32, 2 ** 53][below(5)];
  return WRONG[below(WRONG.length)];
}

/** The value of a JSON text, or the text if it is no JSON. */
export function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export const raise = thrower('raise');

/** The first items of an iteration. */
export function take(items, count = 5) {
  if (typeof items?.[Symbol.asyncIterator] === 'function') return takeAsync(items, count);
  const found = [];
  const each = items[Symbol.iterator]();
  for (let i = 0; i < count; i++) {
    const { value, done } = each.next();
    if (done) break;
    found.push(value);
  }
  each.return?.();
  return found;
}

async function takeAsync(items, count) {
  const found = [];
  for await (const item of items) {
    found.push(item);
    if (found.length >= count) break;
  }
  return found;
}

/** A claim of a new ledger. */
export async function claim({ MemoryLog, openLedger, Sampler }) {
  return (await openLedger(new Sampler(9), new MemoryLog(), { reader: 0, blockSize: 3 })).claim();
}

/** The schedule of a log with a few runs. */
export async function replayed({ MemoryLog, openLedger, replayLedger, Sampler }) {
  const log = new MemoryLog();
  for await (const run of await openLedger(new Sampler(9), log, { reader: 0, blockSize: 3 })) run.samples();
  return replayLedger(log.entries);
}

/** The error that a call throws. */
export function error(call) {
  try {
    call();
  } catch (thrown) {
    return thrown;
  }
}
