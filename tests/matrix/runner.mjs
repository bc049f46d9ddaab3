// Runs the golden cases on JavaScript engines, in Node and in pages: every call on the engine itself, and also on the
// public class if it has the call in the same form.
import { SamedealError } from '../../hosts/js/dist/errors.js';
import { callOwn, callRaw, kinds, wide } from './kinds.mjs';

/** Groups that a build does not support. The light build has samplers, meshes and launchers. */
const WITHOUT = {
  light: [
    ...['shards-plan', 'shards-stream', 'shards-verify', 'ledger', 'ledger-client', 'splits', 'steps', 'collation'],
    ...[
      'batches-bucket',
      'batches-budget',
      'batches-composed',
      'batches-default',
      'batches-index',
      'batches-pack',
      'batches-padded',
      'batches-window',
    ],
    ...['batches-state', 'batches-stream', 'readings', 'readings-composed', 'recipes-batch', 'recipes-shards'],
    ...['orders-composed', 'texts'],
  ],
};

/**
 * The largest processor time of a case, in milliseconds. Golden cases have no such limit, and a page cannot measure it.
 */
const bound = Number(globalThis.process?.env.SAMEDEAL_BOUND ?? Infinity);
const spent = () => (globalThis.process ? process.cpuUsage().user / 1000 : 0);

/**
 * The number of cases that pass on `engines`, and the errors of the others; `without` if the build does not support the
 * group.
 */
export function runGroup(build, engines, { group, cases, mostRepeated }) {
  if (WITHOUT[build]?.includes(group)) return { group, without: true };
  const errors = [];
  for (const golden of cases) {
    const started = spent();
    let error = runCase(engines, golden, mostRepeated);
    const took = spent() - started;
    if (!error && took > bound) error = `took ${took.toFixed(0)} ms of processor time`;
    if (error) errors.push(`${group}: ${golden.name}: ${error}`);
  }
  return { group, passed: cases.length - errors.length, errors };
}

/** The error of a case, or undefined. */
function runCase(engines, golden, mostRepeated) {
  const key = Object.keys(kinds).find((name) => name in golden);
  if (!key) return `a case of none of ${Object.keys(kinds)}`;
  const kind = kinds[key];
  golden[key] = inFull(golden[key], mostRepeated);
  if (!kind.engine) return runFunctions(kind, engines, golden);
  return runObject(kind, engines[kind.engine], golden[key], golden, mostRepeated);
}

/**
 * Arguments with their long lists in full. Cases write a long list as a short one that is repeated, and a count, which
 * is at most `most`.
 */
function inFull(given, most) {
  const full = (value) => {
    const { repeat, count } = value ?? {};
    if (!Array.isArray(repeat)) return value;
    if (!(count <= most)) throw new Error(`a list of ${count} items; allowed: at most ${most}`);
    if (repeat.length === 0) throw new Error('an empty list is repeated');
    return Array.from({ length: count }, (_, i) => repeat[i % repeat.length]);
  };
  return given && Object.fromEntries(Object.entries(given).map(([name, value]) => [name, full(value)]));
}

function runObject(kind, engine, given, { fails, calls = [], slow = false }, mostRepeated) {
  const recipe = kind.recipe(given);
  const owner = {};
  let [seat, own] = [];
  const onEngine = outcome(() => {
    seat = engine.open(owner, recipe);
    return null;
  });
  const onClass = outcome(() => {
    own = kind.make(engine, given);
    return null;
  });
  // The class cannot express every case. It then makes no object, and only the engine is tested.
  const unsaid = !own && !onClass.fails;
  const wrong =
    mismatch('the engine', onEngine, { fails }) ?? (unsaid ? undefined : mismatch('the class', onClass, { fails }));
  try {
    if (wrong || fails) return wrong;
    for (const [number, { call, args = {}, ...expected }] of calls.entries()) {
      const where = `call ${number}, ${call}(${JSON.stringify(args)})`;
      const moves = kind.moves?.includes(call);
      const whole = inFull(args, mostRepeated);
      const onSeat = () => {
        const ask = (raw) => supplied(raw, given, () => callRaw(kind, raw, call, whole));
        return moves ? engine.move(seat, recipe, ask, () => null) : engine.call(seat, recipe, ask);
      };
      const onOwn = () => {
        const made = callOwn(kind, own, call, wide(whole));
        if (!moves) return made;
        if (made !== own) own.dispose();
        own = made;
        return null;
      };
      // A slow case needs a large table. It runs on the engine alone, so that only one such table is made.
      const unasked = kind.rawOnly?.includes(call) || (expected.fails && kind.rawFailures.includes(call));
      const alone = unsaid || slow || unasked;
      const error =
        mismatch(`${where} on the engine`, outcome(onSeat), expected) ??
        (alone ? undefined : mismatch(`${where} on the class`, outcome(onOwn), expected));
      if (error) return error;
    }
  } finally {
    own?.dispose();
    if (seat) engine.close(seat);
  }
}

function runFunctions(kind, engines, { calls }) {
  for (const { call, args = {}, ...expected } of calls) {
    const said = kind.own[call] && (kind.sayable[call]?.(args) ?? true);
    for (const [where, functions] of Object.entries({ engine: kind.raw, public: said ? kind.own : {} })) {
      if (!functions[call]) continue;
      const error = mismatch(
        `${call}(${JSON.stringify(args)}), ${where}`,
        outcome(() => functions[call](engines, args)),
        expected,
      );
      if (error) return error;
    }
  }
}

/** The result of a call of a raw object, after it got the lengths that it asked for. */
function supplied(raw, { lengths }, call) {
  for (;;) {
    try {
      return call();
    } catch (error) {
      if (error?.kind !== 'wanted') throw error;
      raw.supply(Uint32Array.from(raw.wanted(), (sample) => lengths[Number(sample)]));
    }
  }
}

/** The result of a call, or the failure that it threw. Another error is thrown on. */
function outcome(call) {
  try {
    return { returns: call() };
  } catch (error) {
    if (error instanceof Error && !(error instanceof SamedealError)) throw error;
    const { kind, field, path, value, allowed, facts } = error;
    return { fails: { kind, field, path, value, allowed, facts: pairs(facts) } };
  }
}

/** The facts about allowed values in the notation of the cases. */
function pairs(facts) {
  if (Array.isArray(facts)) return facts.map(({ name, value }) => [name, value]);
  return Object.entries(facts).flatMap(([name, values]) => values.map((value) => [name, value]));
}

function mismatch(where, got, { fails, returns = null }) {
  const [is, should] = [got, fails ? { fails: { facts: [], path: fails.field, ...fails } } : { returns }].map(
    canonical,
  );
  return is === should ? undefined : `${where}: got ${is.slice(0, 1000)}, expected ${should.slice(0, 1000)}`;
}

/** Equal texts for equal values, whatever the type of a number and the order and spelling of keys. */
function canonical(value) {
  if (ArrayBuffer.isView(value) || Array.isArray(value)) return `[${Array.from(value, canonical)}]`;
  if (typeof value === 'object' && value !== null) {
    const named = Object.entries(value).map(([key, of]) => [key.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`), of]);
    const sorted = named.sort(([one], [other]) => (one < other ? -1 : 1));
    return `{${sorted.map(([key, of]) => `${key}: ${canonical(of)}`)}}`;
  }
  return String(value ?? null);
}
