// Whole numbers and options as users see them.
import type { Integer } from './types.js';

/** A decimal string as a `bigint`. Any other value is returned unchanged, so that the caller refuses it. */
export function decimal(text: unknown): unknown {
  return typeof text === 'string' && /^-?\d{1,20}$/.test(text) ? BigInt(text) : text;
}

/** Options as source text. Numbers that are 0 and empty texts, which are defaults, are left out. */
export function settings(values: object): string[] {
  const given = Object.entries(values).filter(([, value]) => value);
  return given.map(([name, value]) => `${name}: ${typeof value === 'bigint' ? source(value) : value}`);
}

/** A whole number as it is written in a program. */
export function source(value: bigint): string {
  return typeof plain(value) === 'bigint' ? `${value}n` : String(value);
}

/** The engine returns ratios as whole numbers, in parts per million. */
export const MILLION = 1e6;

/** A whole number as users get it: a `bigint` where it is beyond 2^53 - 1. */
export function plain(value: bigint): Integer {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
