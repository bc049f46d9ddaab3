// Options on their way into an engine, into JSON and into text, by one table for each class.
import { options } from './checks.js';
import { shown } from './lists.js';
import type { Integer } from './types.js';

/** Options, whatever they are. */
export type Given<T> = { readonly [Name in keyof T]?: unknown };

/** By the name of each option: checks its value as far as it has to be checked to cross, and gives what crosses. */
export type Checks<R> = { readonly [Name in keyof R]-?: (value: unknown) => R[Name] };

/** What crosses of the options that are given, in the order of the table, with `usual` for those that are not. Null is given. */
export function checked<R extends object, U extends Partial<Record<keyof R, unknown>>>(
  checks: Checks<R>,
  given: Given<R>,
  usual: U,
): Pick<R, keyof U & keyof R> & Partial<R> {
  const out: Partial<R> = {};
  for (const name of Object.keys(checks) as (keyof R)[]) {
    const value = given[name] === undefined ? usual[name] : given[name];
    if (value !== undefined) out[name] = checks[name](value);
  }
  return out as Pick<R, keyof U & keyof R> & Partial<R>;
}

/** The names in a table of options, in its order. */
export const namesIn = <R extends object>(checks: Checks<R>) => Object.keys(checks) as (keyof R & string)[];

/** The options of 64 bits, and the lists of such: decimal strings in JSON, so that no reader rounds them. */
const WIDE: readonly string[] = [
  'samples',
  'seed',
  'epoch',
  'consumed',
  'maxTokens',
  'maxCost',
  'chunks',
  'sizes',
  'bytes',
];

/** What crosses, in JSON. */
export function toJson(values: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, jsonOf(value, WIDE.includes(name))]));
}

function jsonOf(value: unknown, isWide: boolean): unknown {
  if (ArrayBuffer.isView(value)) return Array.from(value as Uint32Array, (each) => (isWide ? String(each) : each));
  return typeof value === 'bigint' || (isWide && typeof value === 'number') ? String(value) : value;
}

/** Options of the same: those with other names are refused. */
export function fromJson<T extends object>(json: T, known: readonly (keyof T & string)[]): Given<T> {
  const parts = Object.entries(options(json, known)).map(([name, value]) => {
    if (!WIDE.includes(name)) return [name, value];
    return [name, Array.isArray(value) ? value.map(decimal) : decimal(value)];
  });
  return Object.fromEntries(parts) as Given<T>;
}

/** A decimal string as a `bigint`; anything else as it is, for the constructor to refuse. */
function decimal(text: unknown): Integer {
  return typeof text === 'string' && /^-?\d{1,20}$/.test(text) ? BigInt(text) : (text as Integer);
}

/** Options as they are written in a program; of a list at most so many numbers. */
export function settings(values: object, most = 16): string[] {
  return Object.entries(values).map(([name, value]) => `${name}: ${literal(value, most)}`);
}

function literal(value: unknown, most: number): string {
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value === 'bigint') return source(value);
  return typeof value === 'object' ? shown(value as ArrayLike<number>, most) : String(value);
}

/** A whole number as it is written in a program. */
export function source(value: bigint): string {
  return typeof plain(value) === 'bigint' ? `${value}n` : String(value);
}

/** Ratios cross as whole numbers, in parts per million. */
export const MILLION = 1e6;

/** A whole number as users get it: a `bigint` where it is beyond 2^53 - 1. */
export function plain(value: bigint): Integer {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
