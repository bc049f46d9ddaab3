// Lists of whole numbers on their way in and out. Nothing else crosses in bulk.
import { COUNT, fail, integer, mostFacts, placed, type Range, u32, u53 } from './checks.js';
import { SamedealError } from './errors.js';
import type { Indices, Integer } from './types.js';

/** The longest list that crosses: no address comes near what the bindings can tell, nor a table near its memory. */
export const LONGEST = 2 ** 25;

/** How many ranks are asked, one after the other: a list of what they answer is no longer than others. */
export function fewRanks(worldSize: number): number {
  if (worldSize > LONGEST)
    fail('out-of-memory', 'world_size', worldSize, `up to ${LONGEST} ranks, each of which is asked`);
  return worldSize;
}

/** Holds what all ranks get at a step to as many samples as a list has; `most` is how many of its own a rank gets at most. */
export function fewSamples(worldSize: number, most: number, batchSize: unknown): void {
  if (most * fewRanks(worldSize) <= LONGEST) return;
  const least = Math.floor(LONGEST / worldSize);
  const allowed = `up to ${least} for each of ${worldSize} ranks, ${LONGEST} samples for all of them; or ask each rank for its batch`;
  fail('out-of-range', 'batch_size', batchSize, allowed, mostFacts(least));
}

/** An array or a typed array of at most so many elements, whatever is in it. */
export function list(field: string, value: unknown, most = LONGEST): ArrayLike<unknown> {
  const typed = ArrayBuffer.isView(value) && !(value instanceof DataView);
  if (!typed && !Array.isArray(value)) fail('wrong-type', field, value, 'an array of whole numbers, or a typed one');
  if (typed) attached(field, value);
  const { length } = value as ArrayLike<unknown>;
  // A proxy of an array may say anything.
  if (!Number.isInteger(length) || length < 0) fail('wrong-type', field, value, 'an array with a length');
  if (length > most) fail('out-of-memory', field, `${length} elements`, `up to ${most} of them`);
  return value as ArrayLike<unknown>;
}

/** A list that has to be there: a document leaves out what is undefined. */
export const required = (field: string, value: unknown): unknown => (value === undefined ? list(field, value) : value);

/** The answers of `ask` to each number of a list. An error tells which one it is about. */
export function each<T>(field: string, value: unknown, ask: (number: Integer) => T): T[] {
  return Array.from(list(field, value) as ArrayLike<Integer>, (number, i) =>
    placed(`at index ${i}`, () => ask(number)),
  );
}

/** The answer of `ask` to numbers of a list. An error about one of them tells where it is. */
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

// All methods of typed arrays throw where there is no memory below, as this one does.
const { keys } = Object.getPrototypeOf(Uint8Array.prototype) as Uint8Array;

/** Refuses a typed array whose memory was taken away: it would be an empty list. */
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
  // By halves: a `bigint` for each would cost many times that.
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

/** A list of numbers of 32 bits, copied; `range` is what an error tells. */
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

/** So many numbers of 32 bits, of anything; an error tells the place of the one that it is about. */
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

/** The numbers, all below 2^53, of 64-bit words, written over them. */
export function numbers(words: BigUint64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const halves = new Uint32Array(words.buffer, words.byteOffset, 2 * words.length);
  const out = new Float64Array(words.buffer, words.byteOffset, words.length);
  for (let i = 0; i < out.length; i++) {
    out[i] = (halves[2 * i] as number) + 2 ** 32 * (halves[2 * i + 1] as number);
  }
  return out;
}

/** So many numbers, of `read`, at most `most` of them at a time; `what` is what an error calls them. */
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

/** The answers of `ask` for each of so many ranks, for at most `most` of them at a time. */
export function ofRanks<T>(worldSize: number, most: number, ask: (first: number, count: number) => Iterable<T>): T[] {
  const all: T[] = [];
  while (all.length < worldSize) {
    for (const own of ask(all.length, Math.min(most, worldSize - all.length))) all.push(own);
  }
  return all;
}

/** Sample indices end to end: so many, of which each is below `samples`; `cause` is what an error tells where there is no memory. */
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

/** A list in an error or a log: the first ones of many. */
export function shown(list: ArrayLike<number | bigint>, most: number): string {
  const first = Array.from({ length: Math.min(list.length, most) }, (_, i) => String(list[i]));
  return `[${first.join(', ')}${list.length > most ? `, ... ${list.length - most} more` : ''}]`;
}
