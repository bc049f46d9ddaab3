// Programs of calls: how they are made, run and judged.
import { writeSync } from 'node:fs';
import { RECEIVERS } from './calls.mjs';
import * as h from './hostile.mjs';
import { Broken, check, control } from './laws.mjs';
import { fc } from './packages.mjs';
import { run as evaluate } from './surface.mjs';
import { wild } from './values.mjs';

/** The size above which an object is not asked for answers whose cost grows with its size. */
const MOST = 2 ** 20;
const LINEAR = {
  'Sampler#fingerprint': (own) => own.length,
  'Sampler#indices': (own) => (own.length < 2 ** 34 ? own.length : 0),
  'Sampler#step': (own) => (own.worldSize > 2 ** 25 ? 0 : 2 ** 8 * own.worldSize),
  'Reading#indices': (own) => own.numSamples(0),
  'Schedule#batch': (own) => own.globalBatchSize(0),
  'Schedule#step': (own) => (own.worldSize > 2 ** 25 ? 0 : own.globalBatchSize(0) + 2 ** 8 * own.worldSize),
};
/** Calls whose cost grows with their arguments: no large arguments. */
const COSTLY = ['Split#indices', 'Split#others'];
/**
 * Errors that the documentation allows although their class is not the package's own: a message, and the calls that may
 * throw it.
 */
const DOCUMENTED = [
  // JavaScript itself throws these if an object only pretends to be of a class.
  [/private member/, /./],
  [/has been disposed of$/, /./],
  [/^(AbortError|The operation was aborted|This operation was aborted)/, /^read|^find/],
  [/ENOENT|not a parquet|Parquet|parquet|folder|file|none|rows/i, /^read|^find|ShardFiles/],
];

/** A failure: its signature, by which two failures count as the same, and its message. */
export class Failure extends Error {
  constructor(kind, what, told) {
    super(`${kind}: ${what}: ${told}`);
    Object.assign(this, { kind, what, told, signature: `${kind}|${what}` });
  }
}

/** Programs of up to `maxLength` calls of these targets. */
export function programs(targets, maxLength = 10) {
  const statements = targets.map((target) => {
    const given = target.parameters ?? [];
    return fc.record({
      target: fc.constant(target),
      receiver: fc.nat(7),
      // Sometimes one argument fewer than required.
      count: fc.oneof(
        { weight: 30, arbitrary: fc.integer({ min: target.required ?? 0, max: given.length }) },
        fc.nat(given.length),
      ),
      given: fc.tuple(...given.map(wild)),
    });
  });
  const some = fc.array(fc.oneof({ withCrossShrink: false }, ...statements), { minLength: 1, maxLength });
  return fc.record({ statements: some, laws: fc.nat(3) });
}

/** Runs programs, and counts. */
export class Runner {
  calls = 0;
  errors = {};
  called = new Set();
  slowest = [0, ''];

  constructor(scope, prototypes, limit, file) {
    Object.assign(this, { scope, prototypes, limit, file });
  }

  /** Runs a program; throws a `Failure`. Returns its script. */
  async run({ statements, laws }) {
    const state = { scope: Object.create(this.scope), pool: {}, lines: [], begun: process.cpuUsage() };
    this.script = state.lines;
    this.at = 0;
    for (const { target, receiver, count, given } of statements) {
      let { head } = target;
      let own;
      if (target.of !== undefined) {
        const held = await this.#held(state, target.of);
        const name = held[receiver % held.length];
        own = state.scope[name];
        if (!isSmall(LINEAR[target.what], own)) continue;
        head = head.replaceAll('{}', name);
      }
      const texts = [];
      for (const text of given.slice(0, count)) texts.push(await this.#resolved(state, text, receiver));
      const text = target.parameters === undefined ? head : `${head}(${texts.join(', ')})`;
      this.called.add(target.what);
      if (COSTLY.includes(target.what) && /\d(n? \*\* |e)\d/.test(text)) continue;
      await this.#step(state, target.what, text, texts.length > 0 ? target.of : undefined, own);
    }
    if (laws > 1) return;
    for (const [kind, names] of Object.entries(state.pool)) {
      const own = state.scope[names.at(-1)];
      this.calls += 1;
      this.#mark(`laws.check('${kind}', ${names.at(-1)})`, state);
      try {
        check(kind, own);
      } catch (error) {
        if (error instanceof Broken) throw new Failure('law', kind, error.message);
        this.#judge(`${kind} laws`, `laws.check('${kind}', ${names.at(-1)})`, error);
      }
    }
  }

  /** A text with names of objects in place of `@Class`. */
  async #resolved(state, text, receiver) {
    let out = text;
    for (const [mark, kind] of text.matchAll(/@(\w+)/g)) {
      const names = await this.#held(state, kind);
      out = out.replace(mark, names[(receiver + out.length) % names.length]);
    }
    return out;
  }

  async #held(state, kind) {
    if (!(kind in state.pool)) await this.#step(state, kind, RECEIVERS[kind], undefined, undefined, 60_000);
    return state.pool[kind];
  }

  #mark(line, state) {
    state.lines.push(line);
    if (this.file === undefined) return;
    const text = Buffer.from(`${line.slice(0, 20_000)}\n\0`);
    writeSync(this.file, text, 0, text.length, this.at);
    this.at += text.length - 1;
  }

  async #step(state, what, text, kind, own, patience = 50) {
    const name = `v${state.lines.length}`;
    const before = kind === undefined ? undefined : control(kind, own);
    this.#mark(`const ${name} = await ${text};`, state);
    this.calls += 1;
    const started = performance.now();
    let value;
    let thrown;
    let failed = false;
    try {
      value = evaluate(text, state.scope);
      if (value instanceof Promise) value = await within(value, patience);
      else if (typeof value?.next === 'function') {
        value = h.take(value, 3);
        if (value instanceof Promise) value = await within(value, patience);
      }
    } catch (error) {
      [thrown, failed] = [error, true];
    }
    const wall = performance.now() - started;
    if (wall > this.slowest[0]) {
      const { user, system } = process.cpuUsage(state.begun);
      const spent = Math.min(wall, (user + system) / 1000);
      if (spent > this.slowest[0]) this.slowest = [spent, text.slice(0, 300)];
      if (spent > this.limit + size(value) * 2e-3) throw new Failure('slow', what, `${text}: ${spent} ms`);
    }
    const counted = failed ? (thrown?.kind ?? thrown?.name ?? typeof thrown) : 'none';
    this.errors[counted] = (this.errors[counted] ?? 0) + 1;
    if (failed) {
      this.#judge(what, text, thrown);
      if (kind !== undefined && control(kind, own) !== before) throw new Failure('changed by a failure', what, text);
    }
    state.scope[name] = value;
    const of = typeof value === 'object' && value !== null ? this.#kindOf(value) : undefined;
    if (of !== undefined) state.pool[of] = [...(state.pool[of] ?? []), name];
  }

  #kindOf(value) {
    try {
      return this.prototypes.get(Object.getPrototypeOf(value));
    } catch {
      return undefined;
    }
  }

  #judge(what, text, error) {
    if (error instanceof h.Planted || error instanceof this.scope.samedeal.SamedealError)
      return this.#message(what, error);
    const told = error instanceof Error ? error.message : String(error);
    // A caller's own value caused this error: a proxy that was revoked.
    if (/proxy that has been revoked/.test(told)) return;
    // JavaScript itself throws other errors for the text of an argument, or for an operation that the result of an
    // earlier call does not have. No function of the package is in their stack, except in a trap of WebAssembly.
    if (error instanceof Error && !/hosts\/js\/dist\//.test(error.stack?.split('\n').slice(1).join('\n') ?? '')) {
      if (!(error instanceof WebAssembly.RuntimeError)) return;
    }
    if (DOCUMENTED.some(([message, of]) => message.test(told) && of.test(what))) return;
    const place = /at (?:async )?(?:new )?([\w.#<>]+) .*\/dist\/([\w/.-]+):/.exec(error?.stack ?? '');
    throw new Failure(
      `${error?.name} in ${place?.[2]}:${place?.[1]}`,
      what,
      `${text.slice(0, 300)}: ${told.slice(0, 300)}`,
    );
  }

  #message(what, error) {
    if (error instanceof h.Planted) return;
    const { kind, field, value, allowed, message } = error;
    const good =
      [kind, field, value, allowed].every((part) => typeof part === 'string') &&
      kind &&
      field &&
      allowed &&
      message.length < 3000;
    if (!good) throw new Failure('message', what, message.slice(0, 300));
  }
}

function isSmall(size, own) {
  try {
    return size === undefined || size(own) <= MOST;
  } catch {
    return true;
  }
}

/** The value of a promise, if it comes within `patience`: a claim may wait for other readers. */
function within(promise, patience) {
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, patience);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

function size(value) {
  if (typeof value === 'string' || ArrayBuffer.isView(value)) return value.length ?? 0;
  if (Array.isArray(value)) return value.length + value.slice(0, 1000).reduce((sum, own) => sum + size(own), 0);
  return 0;
}
