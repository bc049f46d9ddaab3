import { type Fact, type Failure, type Kind, SamedealError } from './errors.js';
import { MAX_TEXT } from './generated/limits.js';
import { placeOf } from './json.js';

/** Whole numbers from the first to the second, both included. */
export type Range = readonly [least: bigint, most: bigint];

export const U32: Range = [0n, 0xffff_ffffn];
export const FROM_ONE: Range = [1n, 0xffff_ffffn];
export const S64: Range = [-(2n ** 63n), 2n ** 63n - 1n];
/** The range of a count, as errors state it. */
export const COUNT: Range = [0n, 2n ** 53n - 1n];
export const U64: Range = [0n, 2n ** 64n - 1n];

/** The longest text of a value in an error, in characters; the engines have the same limit. */
export const TEXT_MAX = 64;

/** A whole number within a range, given as a safe integer or as a `bigint`. */
export function integer(field: string, value: unknown, range: Range): bigint {
  const [least, most] = range;
  const within = most < least ? 'none, there are none' : `${least} to ${most}`;
  const facts = most < least ? [] : rangeFacts(least, most);
  if (typeof value === 'number' ? Number.isSafeInteger(value) : typeof value === 'bigint') {
    const whole = BigInt(value as number | bigint);
    if (whole >= least && whole <= most) return whole;
    fail('out-of-range', field, value, within, facts);
  }
  // `value` is no whole number, or so large that it may differ from the number in the source text of the program.
  const kind = Number.isInteger(value) ? 'out-of-range' : 'wrong-type';
  const large = most > Number.MAX_SAFE_INTEGER ? ', as a bigint where it is beyond 2^53 - 1' : '';
  fail(kind, field, value, `a whole number, ${within}${large}`, facts);
}

/** The checked `start` and `end` of a run in a list of `most` elements; by default the whole list. */
export function span(start: unknown, end: unknown, most: number | bigint): [first: bigint, last: bigint] {
  const all = BigInt(most);
  const first = integer('start', start, [0n, all]);
  return [first, integer('end', end === undefined ? all : end, [first, all])];
}

/**
 * A whole number that the engine takes in 64 bits. Only the engine knows the allowed range. If the value does not fit
 * into 64 bits, `ask` calls the engine with another number, which the engine refuses, and the error has the range of
 * this refusal. Without `ask`, the error states the range of a count.
 */
export function u53(field: string, value: unknown, ask?: Ask): bigint {
  const whole = Number.isInteger(value) ? BigInt(value as number) : value;
  if (typeof whole === 'bigint' && whole >= 0 && whole <= U64[1]) return whole;
  return refused(field, whole, COUNT, [U64[1]], ask);
}

/** Whether a value is a number with a fraction, such as 0.7. */
export const isFraction = (value: unknown): value is number => Number.isFinite(value) && !Number.isInteger(value);

/** A weight: a whole number; or a number with a fraction, which the engine turns into a whole number. */
export const weightOf = (field: string, value: unknown): number | bigint =>
  isFraction(value) ? value : u53(field, value);

/**
 * A whole number of 32 bits. If the value does not fit, the error states `range`, or the range that `ask` finds out as
 * for `u53`.
 */
export function u32(field: string, value: unknown, ask?: Ask, range: Range = U32): number {
  const number = Number.isInteger(value) || typeof value === 'bigint' ? Number(value) : -1;
  // The sum turns -0 into 0.
  if (number >= 0 && number <= U32[1]) return number + 0;
  return Number(refused(field, value, range, U32, ask));
}

/** Repeats a call of the engine with another value of one argument. */
type Ask = (other: bigint) => unknown;

/** Refuses a value that the engine cannot receive, with the words in which the engine refuses one of `others`. */
function refused(field: string, value: unknown, range: Range, others: readonly bigint[], ask?: Ask): bigint {
  for (const other of others) {
    try {
      ask?.(other);
    } catch (error) {
      if (!(error instanceof SamedealError)) throw error;
      if (error.kind !== 'out-of-range' || error.field !== field || error.value !== `${other}`) continue;
      const isWhole = Number.isInteger(value) || typeof value === 'bigint';
      const [kind, what] = isWhole ? (['out-of-range', ''] as const) : (['wrong-type', 'a whole number, '] as const);
      fail(kind, field, value, what + error.allowed, factsOf(error));
    }
  }
  return integer(field, value, range);
}

export function boolean(field: string, value: unknown): boolean {
  if (typeof value !== 'boolean') fail('wrong-type', field, value, 'true or false');
  return value;
}

export function string(field: string, value: unknown): string {
  if (typeof value !== 'string') fail('wrong-type', field, value, 'a name');
  // Cuts the text, so that it fits into the engine's memory. No known name is that long, and no error shows more of it.
  return value.slice(0, 4 * TEXT_MAX);
}

/** The description of a state in errors. */
export const STATE = 'the text that `state` gave';

/**
 * The dictionary in a JSON text that was saved from a Python `state_dict`: its only member is `samedeal`. Any other
 * value is returned unchanged.
 */
function savedByPython(given: unknown): unknown {
  if (typeof given !== 'string' || given.length > 4 * MAX_TEXT) return given;
  try {
    // In a state, `samedeal` is a number; in the dictionary of Python, it is a text. The whole JSON is parsed only if it
    // may be that dictionary.
    const [start] = placeOf(given, 'samedeal') ?? [];
    if (start === undefined || given[start] !== '"') return given;
    const saved: Readonly<Record<string, unknown>> = JSON.parse(given);
    return Object.keys(saved).length === 1 ? saved : given;
  } catch {
    return given;
  }
}

/** The bytes of a file with a state, as text. */
function stateOfBytes(bytes: Uint8Array): string {
  const size = bytes.length;
  if (size > 4 * MAX_TEXT) fail('out-of-range', 'state', `of ${size} bytes`, `up to ${MAX_TEXT}`, mostFacts(MAX_TEXT));
  const text = textOf(bytes);
  if (typeof text !== 'string') fail('wrong-type', 'state', bytes, `${STATE}, or its bytes in UTF-8`);
  return text;
}

/**
 * The text of a state, from a text, from bytes, or from an object that Python saved. Its size is checked here, since a
 * text that is too long could exceed the engine's memory.
 */
export function stateText(saved: unknown): string {
  const given = savedByPython(saved instanceof Uint8Array ? stateOfBytes(saved) : saved);
  const isObject = typeof given === 'object' && given !== null && Object.hasOwn(given, 'samedeal');
  const value = isObject ? (given as { samedeal: unknown }).samedeal : given;
  if (isObject && typeof value === 'number') {
    // JSON.parse has rounded numbers of more than 53 bits, so the text of the state cannot be restored from the object.
    fail('wrong-type', 'state', given, `${STATE}, as a text: JSON.parse was called with it`);
  }
  if (typeof value !== 'string') fail('wrong-type', 'state', value, STATE);
  // Every character has at least one byte, so the bytes of a text that is much too long are not counted.
  const isLong = value.length > 4 * MAX_TEXT;
  const size = isLong ? value.length : utf8Size(value);
  const told = isLong ? `of at least ${size} bytes` : `of ${size} bytes`;
  if (size > MAX_TEXT) fail('out-of-range', 'state', told, `up to ${MAX_TEXT}`, mostFacts(MAX_TEXT));
  return value;
}

/** The text of a recipe, or another JSON text, if it is not too long. */
export function recipeText(text: string, field = 'recipe'): string {
  const size = text.length > MAX_TEXT ? text.length : utf8Size(text);
  if (size > MAX_TEXT) {
    fail('out-of-range', field, `of ${utf8Size(text)} bytes`, `up to ${MAX_TEXT}`, mostFacts(MAX_TEXT));
  }
  return text;
}

/** The text of an index of windows, from a text or from the bytes of a file in UTF-8. */
export function indexText(given: unknown): string {
  const text = textOf(given);
  if (typeof text !== 'string') fail('wrong-type', 'index', text, 'the text that `index` or `joinIndices` gave');
  return recipeText(text, 'index');
}

/** Bytes in UTF-8 as text. Any other value is returned unchanged, so that the caller refuses it. */
export function textOf(value: unknown): unknown {
  if (!(value instanceof Uint8Array)) return value;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value);
  } catch {
    return value;
  }
}

/** Cuts a text to one character more than an entry may have, so that the engine still refuses it as too long. */
export function cutText(text: string): string {
  return text.slice(0, MAX_TEXT + 1);
}

/** A name that is one of `names`. */
export function oneOf<T extends string>(field: string, value: unknown, names: readonly T[]): T {
  const name = string(field, value);
  if (!names.includes(name as T)) unknownName(field, name, names);
  return name as T;
}

/**
 * A plain object, all values of which are its own members. Other objects are refused, since their values would be
 * ignored silently: a Promise, a Map, an instance of a class with getters. A literal of another realm, such as of an
 * iframe, is a plain object too. `allowed` is the text for errors.
 */
export function record(field: string, value: unknown, allowed: string): object {
  if (isRecord(value)) return value;
  fail('wrong-type', field, value, allowed);
}

/** Whether a value is a plain object: see `record`. */
export function isRecord(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  if (prototype === null) return true;
  // `Object.prototype`, of any realm, has no prototype itself. `Arguments`, `Math` and their like have another tag.
  return Object.getPrototypeOf(prototype) === null && Object.prototype.toString.call(value) === '[object Object]';
}

/** The value that `toJSON` returned, given as an object, or as the text that `JSON.stringify` made of it. */
export function saved<T>(json: T | string): T {
  if (typeof json !== 'string') return json;
  try {
    return JSON.parse(json);
  } catch {
    fail('wrong-type', 'json', json, 'what `toJSON` gave, or the text of it');
  }
}

/** An options object with no other keys than these, so that a misspelt option is an error, and not ignored silently. */
export function options<T extends object>(value: T | undefined, known: readonly (keyof T & string)[]): Partial<T> {
  if (value === undefined) return {};
  record('options', value, `a plain object with ${known.join(', ')}`);
  const unknown = Object.keys(value).find((key) => !known.includes(key as keyof T & string));
  if (unknown !== undefined) {
    const meant = meantBy(unknown, known);
    const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
    fail('unknown-name', 'options', unknown, known.join(', ') + hint, knownFacts(known));
  }
  return value;
}

/**
 * The option that a wrong name probably means: one that is equal without marks and capitals; else one that begins with
 * the name, or with which the name begins.
 */
function meantBy(wrong: string, known: readonly string[]): string | undefined {
  const plain = (name: string) => name.split('_').join('').split('-').join('').toLowerCase();
  // `num_replicas` is PyTorch's name for the world size.
  const own = plain(wrong) === 'numreplicas' ? 'worldsize' : plain(wrong);
  return known.find((name) => plain(name) === own) ?? known.find((name) => isPart(plain(name), own));
}

/** Whether one name begins with the other, with at most two letters more. */
const isPart = (one: string, other: string): boolean =>
  Math.abs(one.length - other.length) <= 2 && (one.startsWith(other) || other.startsWith(one));

/** The value of the only option of a call, a boolean. Default false. */
export function flag<N extends string>(
  field: string,
  name: N,
  given: Readonly<Partial<Record<N, boolean>>> | undefined,
): boolean {
  const { [name]: value = false } = options<Partial<Record<N, boolean>>>(given, [name]);
  return boolean(field, value);
}

function rangeFacts(least: bigint, most: bigint): Fact[] {
  return [
    { name: 'min', value: `${least}` },
    { name: 'max', value: `${most}` },
  ];
}

/** The largest number, as a fact of a failure. */
export function mostFacts(most: number): Fact[] {
  return [{ name: 'max', value: `${most}` }];
}

/** The known names, as facts of a failure. */
export function knownFacts(names: readonly string[]): Fact[] {
  return names.map((value) => ({ name: 'known', value }));
}

/** Refuses a name that is not in `names`. If `names` is empty, the error says `none`. */
export function unknownName(field: string, name: string, names: readonly string[], none = 'no name'): never {
  fail('unknown-name', field, name, names.join(', ') || none, knownFacts(names));
}

export function fail(kind: Kind, field: string, value: unknown, allowed: string, facts: readonly Fact[] = []): never {
  // A value that was not given is `missing`; its type is not wrong.
  if (kind === 'wrong-type' && value === undefined) return fail('missing', field, '', allowed, facts);
  const text = typeof value === 'string' && kind === 'wrong-type' ? `"${describe(value)}"` : describe(value);
  const advice = typeof value === 'object' && value !== null && 'then' in value ? '; await this one first' : '';
  throw new SamedealError({
    kind,
    field,
    value: [...text].slice(0, TEXT_MAX).join(''),
    allowed: allowed + advice,
    facts,
  });
}

/** How many bytes a text is in UTF-8; a half of a surrogate pair becomes the replacement character. */
function utf8Size(text: string): number {
  let size = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.codePointAt(i) as number;
    size += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (code >= 0x10000) i += 1;
  }
  return size;
}

/** The result of `check`. Its errors also say where the value is, such as `at index 3`. */
export function placed<T>(place: string, check: () => T): T {
  return retold(check, ({ value }) => ({ value: value === '' ? `(${place})` : `${value} (${place})` }));
}

/** The result of `check`. Its errors have `field`, the name of the parameter that the caller passed. */
export function named<T>(field: string, check: () => T): T {
  return retold(check, () => ({ field, path: field }));
}

function retold<T>(check: () => T, change: (error: SamedealError) => Partial<Failure>): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof SamedealError)) throw error;
    const { kind, field, path, value, allowed } = error;
    throw new SamedealError({ kind, field, path, value, allowed, facts: factsOf(error), ...change(error) });
  }
}

/** The facts of an error, as the bindings give them. */
function factsOf({ facts }: SamedealError): Fact[] {
  return Object.entries(facts).flatMap(([name, values]) => values.map((value) => ({ name, value })));
}

/** A value as text. No method of the value is called, since that may have any effect. */
function describe(value: unknown): string {
  switch (typeof value) {
    case 'number':
      // Digits rather than an exponent, as for the `bigint` of the same value.
      return Number.isInteger(value) ? String(BigInt(value)) : String(value);
    case 'string':
      return value.slice(0, 4 * TEXT_MAX);
    case 'object':
      return value === null ? 'null' : Array.isArray(value) ? 'an array' : kindOf(value);
    case 'function':
      return 'a function';
    default:
      return String(value);
  }
}

/** The description of an object by the name of its class: also of a class of another realm. */
function kindOf(value: object): string {
  if (isRecord(value)) return 'an object';
  const own = (object: unknown, name: string) => object && Object.getOwnPropertyDescriptor(object, name)?.value;
  const name: unknown = own(own(Object.getPrototypeOf(value), 'constructor'), 'name');
  if (typeof name !== 'string' || name === '' || name === 'Object') return 'an object';
  return `${'AEIO'.includes(name[0] as string) ? 'an' : 'a'} ${name}`;
}
