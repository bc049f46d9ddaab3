// Lists of whole numbers that are passed to the engine and returned by it. No other values are large.
import { COUNT, fail, integer, mostFacts, placed, type Range, u32, u53 } from './checks.js';
import { SamedealError } from './errors.js';
import type { Indices, Integer } from './types.js';

/** The longest list that is passed to the engine. With it, addresses and tables stay far below the memory limit. */
export const LONGEST = 2 ** 25;

/** Returns the number of ranks. Fails if a list of an answer for each rank would be longer than a list may be. */
export function fewRanks(worldSize: number): number {
  if (worldSize > LONGEST)
    fail('out-of-memory', 'world_size', worldSize, `up to ${LONGEST} ranks, each of which is asked`);
  return worldSize;
}

/**
 * Fails if all ranks together get more samples at a step than a list may have. `most` is the most samples of one rank.
 */
export function fewSamples(worldSize: number, most: number, batchSize: unknown): void {
  if (most * fewRanks(worldSize) <= LONGEST) return;
  const least = Math.floor(LONGEST / worldSize);
  const allowed = `up to ${least} for each of ${worldSize} ranks, ${LONGEST} samples for all of them; or ask each rank for its batch`;
  fail('out-of-range', 'batch_size', batchSize, allowed, mostFacts(least));
}

/** An array or a typed array of at most `most` elements. The elements are not checked. */
export function list(field: string, value: unknown, most = LONGEST, of = 'whole numbers'): ArrayLike<unknown> {
  const typed = ArrayBuffer.isView(value) && !(value instanceof DataView);
  if (!typed && !Array.isArray(value)) fail('wrong-type', field, value, `an array of ${of}, or a typed one`);
  if (typed) attached(field, value);
  const { length } = value as ArrayLike<unknown>;
  // A proxy of an array may return any length.
  if (!Number.isInteger(length) || length < 0) fail('wrong-type', field, value, 'an array with a length');
  if (length > most) fail('out-of-memory', field, `${length} elements`, `up to ${most} of them`);
  return value as ArrayLike<unknown>;
}

/** A list that has to be given. Without this check, a document would leave out an undefined list. */
export const required = (field: string, value: unknown): unknown => (value === undefined ? list(field, value) : value);

/** The answers of `ask` to each number of a list. An error says at which index its number is. */
export function each<T>(field: string, value: unknown, ask: (number: Integer) => T): T[] {
  return Array.from(list(field, value) as ArrayLike<Integer>, (number, i) =>
    placed(`at index ${i}`, () => ask(number)),
  );
}

/** The answer of `ask` to a whole list. An error about one of its numbers says at which index the number is. */
export function told<T>(field: string, list: readonly bigint[], ask: () => T): T {
  try {
    return ask();
  } catch (error) {
    if (!(error instanceof SamedealError) || error.field !== field) throw error;
    const at = list.findIndex((number) => `${number}` === error.value);
    return placed(`at index ${at}`, () => {
      throw error;
    });
  }
}

// The method by which `attached` tests an array: like all methods of typed arrays, it throws if the memory was taken
// away.
const { keys } = Object.getPrototypeOf(Uint8Array.prototype) as Uint8Array;

/** Refuses a typed array whose memory was taken away: it would pass for an empty list. */
export function attached(field: string, value: unknown): void {
  try {
    keys.call(value as Uint8Array);
  } catch {
    const allowed = 'one whose ArrayBuffer was neither transferred nor made smaller';
    throw new SamedealError({ kind: 'wrong-type', field, value: 'a detached typed array', allowed });
  }
}

/** A list of numbers of 64 bits, copied. */
export function words(field: string, value: unknown): BigUint64Array<ArrayBuffer> {
  const given = list(field, value);
  const out = new BigUint64Array(given.length);
  if (given instanceof BigUint64Array) {
    out.set(given);
    return out;
  }
  // Written as two halves of 32 bits each: to make a `bigint` for each number would cost many times as much.
  const halves = new Uint32Array(out.buffer);
  for (let i = 0; i < out.length; i++) {
    const element = given[i];
    if (typeof element === 'number' && Number.isSafeInteger(element) && element >= 0) {
      halves[2 * i] = element;
      halves[2 * i + 1] = element / 2 ** 32;
    } else {
      out[i] = placed(`at index ${i}`, () =>
        typeof element === 'bigint' ? u53(field, element) : integer(field, element, COUNT),
      );
    }
  }
  return out;
}

/** A list of numbers of 32 bits, copied. `range` is the range that errors state. */
export function words32(field: string, value: unknown, range: Range): Uint32Array<ArrayBuffer> {
  const given = list(field, value);
  if (given instanceof Uint32Array) return Uint32Array.from(given);
  return narrowed(
    field,
    given.length,
    (i) => given[i],
    range,
    (i) => `at index ${i}`,
  );
}

/** `count` numbers of 32 bits, which `element` returns. An error says by `place` where its number is. */
export function narrowed(
  field: string,
  count: number,
  element: (i: number) => unknown,
  range: Range,
  place: (i: number) => string,
): Uint32Array<ArrayBuffer> {
  const out = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    const own = element(i);
    const isPlain = typeof own === 'number' && own >= 0 && own <= 0xffff_ffff && Number.isInteger(own);
    out[i] = isPlain ? own : placed(place(i), () => u32(field, own, undefined, range));
  }
  return out;
}

/** The values of 64-bit words, all below 2^53. They are written into the memory of `words`, whose content is lost. */
export function numbers(words: BigUint64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const halves = new Uint32Array(words.buffer, words.byteOffset, 2 * words.length);
  const out = new Float64Array(words.buffer, words.byteOffset, words.length);
  for (let i = 0; i < out.length; i++) {
    out[i] = (halves[2 * i] as number) + 2 ** 32 * (halves[2 * i + 1] as number);
  }
  return out;
}

/** `count` numbers, read by `read`, at most `most` of them at a time. `what` is their name in errors. */
export function gathered<T extends { set(values: T, at: number): void }>(
  Type: new (length: number) => T,
  count: number,
  most: number,
  what: string,
  read: (start: number, count: number) => T,
): T {
  if (count <= most) return read(0, count);
  let out: T;
  try {
    out = new Type(count);
  } catch {
    fail('out-of-memory', 'count', count, `a shorter run of ${what}`);
  }
  for (let at = 0; at < count; at += most) out.set(read(at, Math.min(most, count - at)), at);
  return out;
}

/** The answers of `ask` for each rank; each call is about at most `most` ranks. */
export function ofRanks<T>(worldSize: number, most: number, ask: (first: number, count: number) => Iterable<T>): T[] {
  const all: T[] = [];
  while (all.length < worldSize) {
    for (const own of ask(all.length, Math.min(most, worldSize - all.length))) all.push(own);
  }
  return all;
}

/**
 * One array of the sample indices in all parts: `count` of them, each below `samples`. `cause` is the parameter and the
 * value in the error if there is no memory.
 */
export function joined(
  parts: Iterable<ArrayLike<number>>,
  count: number,
  samples: number | bigint,
  cause: readonly [field: string, value: unknown],
): Indices {
  let out: Indices;
  try {
    out = samples <= 2 ** 32 ? new Uint32Array(count) : new Float64Array(count);
  } catch {
    fail('out-of-memory', ...cause, 'fewer samples');
  }
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** A list as a text for an error or a log, with at most its first `most` numbers. */
export function shown(list: ArrayLike<number | bigint>, most: number): string {
  const first = Array.from({ length: Math.min(list.length, most) }, (_, i) => String(list[i]));
  return `[${first.join(', ')}${list.length > most ? `, ... ${list.length - most} more` : ''}]`;
}
