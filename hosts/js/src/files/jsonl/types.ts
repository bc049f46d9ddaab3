// The types of JSON values, by the rules of Arrow's reader: each column has one type, which the first lines decide.
import { fail } from '../../checks.js';
import { endOf } from '../../json.js';

const SCALARS = ['null', 'bool', 'int64', 'double', 'string'] as const;
type Scalar = (typeof SCALARS)[number];

/** A type of JSON values: that of a scalar, `[type]` for lists, `{ member: type }` for objects. */
export type JsonType = Scalar | readonly [JsonType] | { readonly [member: string]: JsonType };

/** A type with the members of an object in a map. */
export type Type = Scalar | readonly [Type] | Members;
type Members = ReadonlyMap<string, Type>;

const isList = (type: Type): type is readonly [Type] => Array.isArray(type);

/** The schema that a caller passed. Errors: `schema`. */
export function schemaOf(given: unknown): Members {
  const type = typeOfGiven(given);
  return type instanceof Map ? type : fail('wrong-type', 'schema', given, `an object: a type for each column`);
}

function typeOfGiven(given: unknown): Type {
  if (SCALARS.includes(given as Scalar)) return given as Scalar;
  if (Array.isArray(given) && given.length === 1) return [typeOfGiven(given[0])];
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) {
    return new Map(Object.entries(given).map(([name, type]) => [name, typeOfGiven(type)]));
  }
  return fail('wrong-type', 'schema', given, `${SCALARS.join(', ')}, [type], or { member: type }`);
}

/** A type as text. */
export const textOf = (type: Type): string => JSON.stringify(plain(type));
const shown = (type: Type): string => textOf(type).replaceAll('"', '');

const plain = (type: Type): JsonType => {
  if (isList(type)) return [plain(type[0])];
  return type instanceof Map
    ? Object.fromEntries(Array.from(type, ([name, own]) => [name, plain(own)]))
    : (type as Scalar);
};

/** The type of a column that has two types in two files, as texts. */
export function uniteTexts(one: string, other: string): string | undefined {
  const type = united(typeOfGiven(JSON.parse(one)), typeOfGiven(JSON.parse(other)), false);
  return type && textOf(type);
}

/**
 * The type for the values of both types; undefined if there is none. Within the first lines of a file, whole numbers
 * become floats beside floats, and an object may lack members of another one. Two files must agree in both.
 */
function united(one: Type, other: Type, isWithin: boolean): Type | undefined {
  if (one === other || other === 'null') return one;
  if (one === 'null') return other;
  if (isList(one) && isList(other)) {
    const item = united(one[0], other[0], isWithin);
    return item && [item];
  }
  if (one instanceof Map && other instanceof Map) {
    const members: [string, Type][] = [];
    for (const name of new Set([...one.keys(), ...other.keys()])) {
      if (!isWithin && !(one.has(name) && other.has(name))) return undefined;
      const type = united(one.get(name) ?? 'null', other.get(name) ?? 'null', isWithin);
      if (type === undefined) return undefined;
      members.push([name, type]);
    }
    return new Map(members);
  }
  const isNumber = (type: Type) => type === 'int64' || type === 'double';
  return isWithin && isNumber(one) && isNumber(other) ? 'double' : undefined;
}

/** The columns and types of lines. */
export function foundIn(rows: number, lineOf: (row: number) => string): Members {
  const found = new Map<string, Type>();
  for (let row = 0; row < rows; row++) {
    try {
      for (const [name, value] of objectIn(lineOf(row), true)) {
        const known = found.get(name) ?? 'null';
        const own = typeOf(value);
        const both = united(known, own, true);
        if (both === undefined) throw new Error(`column ${name} is ${shown(own)} here, and ${shown(known)} before`);
        found.set(name, both);
      }
    } catch (error) {
      throw new Error(`row ${row}: ${(error as Error).message}`, { cause: error });
    }
  }
  return found;
}

function typeOf(value: unknown): Type {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') {
    const number = numberIn(value);
    if (number === undefined) return 'string';
    return longIn(value) === undefined ? 'double' : 'int64';
  }
  if (Array.isArray(value)) {
    return [
      value.reduce<Type>((known, item) => {
        const both = united(known, typeOf(item), true);
        if (both === undefined) throw new Error(`a list has ${shown(known)} and ${shown(typeOf(item))}`);
        return both;
      }, 'null'),
    ];
  }
  return new Map(Object.entries(value as object).map(([name, own]) => [name, typeOf(own)]));
}

type Fit = (value: unknown) => unknown;

/**
 * Parses lines whose objects have this schema. Members that are missing are null. Whole numbers beyond 2^53 - 1 are
 * `bigint`s. Errors: the text of a line is no JSON, or an object has another member or a value of another type.
 */
export function fitting(schema: Members): (line: string) => Readonly<Record<string, unknown>> {
  const fits = Array.from(schema, ([name, type]) => [name, fitOf(type)] as const);
  return (line) => {
    const members = objectIn(line, false);
    const found = new Map(members);
    const other = members.find(([name]) => !schema.has(name));
    if (other) throw new Error(`column ${other[0]} is new${HINT}`);
    const entries = fits.map(([name, fit]) => {
      try {
        return [name, fit(found.get(name) ?? null)] as const;
      } catch (error) {
        throw new Error(`column ${name}: ${(error as Error).message}${HINT}`, { cause: error });
      }
    });
    return Object.fromEntries(entries);
  };
}

const HINT = '; if its type or its columns are new, pass jsonLines(schema) as the format';

function fitOf(type: Type): Fit {
  const own = ownFitOf(type);
  return (value) => (value === null ? null : own(value));
}

function ownFitOf(type: Type): Fit {
  const refuse = (value: unknown): never => {
    const text = numberIn(value) ?? (typeof value === 'number' ? String(value) : JSON.stringify(value));
    throw new Error(`${text.slice(0, 64)} is no ${shown(type)}`);
  };
  if (isList(type)) {
    const fit = fitOf(type[0]);
    return (value) => (Array.isArray(value) ? value.map(fit) : refuse(value));
  }
  if (type instanceof Map) {
    const fits = Array.from(type, ([name, own]) => [name, fitOf(own)] as const);
    return (value) => {
      if (typeof value !== 'object' || Array.isArray(value)) return refuse(value);
      const object = value as Readonly<Record<string, unknown>>;
      if (Object.keys(object).some((name) => !type.has(name))) return refuse(value);
      return Object.fromEntries(
        fits.map(([name, fit]) => [name, fit(Object.hasOwn(object, name) ? object[name] : null)]),
      );
    };
  }
  switch (type) {
    case 'bool':
      return (value) => (typeof value === 'boolean' ? value : refuse(value));
    case 'string':
      return (value) => (typeof value === 'string' && !HALF.test(value) ? value : refuse(value));
    case 'int64':
      // The sum turns -0 into 0.
      return (value) => (Number.isSafeInteger(value) ? (value as number) + 0 : (longIn(value) ?? refuse(value)));
    case 'double':
      return (value) => (Number.isFinite(value) ? value : (doubleIn(value) ?? refuse(value)));
    default:
      return refuse;
  }
}

/**
 * The members of the object in a line. Numbers that JSON cannot have, and whole numbers of 16 digits and more, are marked
 * (see `numberIn`); with `all`, every number is.
 */
function objectIn(line: string, all: boolean): [string, unknown][] {
  const given = ODD.test(line) ? numbersMarked(line, (number) => ODD.test(number)) : line;
  let value: unknown = JSON.parse(given);
  if (all || LONG.test(given)) value = JSON.parse(numbersMarked(given, (number) => all || LONG.test(number)));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('it is no object');
  return Object.entries(value);
}

/** A line in which some of the numbers are texts that begin with `MARK`, so that no digit of them is lost. */
function numbersMarked(line: string, isMarked: (number: string) => boolean): string {
  let marked = '';
  for (let at = 0; at < line.length; ) {
    const quote = line.indexOf('"', at);
    const start = quote < 0 ? line.length : quote;
    const end = endOf(line, start);
    marked += line.slice(at, start).replace(NUMBERS, (number) => (isMarked(number) ? `"${MARK}${number}"` : number));
    marked += line.slice(start, end);
    at = end;
  }
  return marked;
}

/** Numbers, also those that Python writes beyond JSON. */
const NUMBERS = /-?\d[\d.eE+-]*|-?\b(?:NaN|Infinity)\b/g;
const ODD = /NaN|Infinity/;
const LONG = /\d{16}/;
/** A whole number that may have 64 bits: at most 19 digits. */
const WHOLE = /^-?\d{1,19}$/;

/** Half of a surrogate pair, which no text of a column has: the first character of a text that stands for a number. */
const MARK = '\ud800';
const HALF = /\p{Cs}/u;
const NUMBER = /^.-?(?:\d|NaN$|Infinity$)/;

/** The digits of a number that was marked; undefined for any other value. */
const numberIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value.startsWith(MARK) && NUMBER.test(value) ? value.slice(1) : undefined;

/** A number that was marked, if a float is large enough for it. */
function doubleIn(value: unknown): number | undefined {
  const digits = numberIn(value);
  const number = Number(digits);
  return digits !== undefined && (Number.isFinite(number) || ODD.test(digits)) ? number : undefined;
}

/** A whole number that was marked, if it has 64 bits. */
function longIn(value: unknown): number | bigint | undefined {
  const digits = numberIn(value);
  if (digits === undefined || !WHOLE.test(digits)) return undefined;
  const number = BigInt(digits);
  if (BigInt.asIntN(64, number) !== number) return undefined;
  return Number.isSafeInteger(Number(number)) ? Number(number) : number;
}
