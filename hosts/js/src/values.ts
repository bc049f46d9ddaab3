// Types of single values: numbers, lists and names.
export type {
  BalanceBy,
  Counting,
  Exhaustion,
  IndexSpace,
  Layout,
  OrderName,
  Packing,
  Policy,
  Remainder,
  Strategy,
  Tail,
  TooLong,
  WorkerPolicy,
} from './generated/names.js';

/** A whole number: a `number` that is a safe integer, or a `bigint`. */
export type Integer = number | bigint;

/** A list of whole numbers: an array, or a typed array of any kind. Every element is checked. */
export type Integers =
  | readonly (number | bigint)[]
  | Uint8Array
  | Uint16Array
  | Uint32Array
  | Int32Array
  | Float64Array
  | BigUint64Array
  | BigInt64Array
  | Indices;

/**
 * Sample indices, in order: a `Uint32Array` where there are at most 2^32 samples, else a `Float64Array`, whose numbers
 * are all exact. This type has the members that both arrays have, because TypeScript does not allow calls of `reduce`
 * of a union of both types.
 */
export interface Indices extends ArrayLike<number>, Iterable<number> {
  [index: number]: number;
  readonly buffer: ArrayBuffer;
  readonly byteLength: number;
  readonly byteOffset: number;
  readonly BYTES_PER_ELEMENT: number;
  at(index: number): number | undefined;
  entries(): IterableIterator<[number, number]>;
  every(predicate: (value: number, index: number, array: Indices) => unknown): boolean;
  fill(value: number, start?: number, end?: number): Indices;
  filter(predicate: (value: number, index: number, array: Indices) => unknown): Indices;
  find(predicate: (value: number, index: number, array: Indices) => boolean): number | undefined;
  findIndex(predicate: (value: number, index: number, array: Indices) => boolean): number;
  forEach(each: (value: number, index: number, array: Indices) => void): void;
  includes(value: number, from?: number): boolean;
  indexOf(value: number, from?: number): number;
  join(separator?: string): string;
  keys(): IterableIterator<number>;
  lastIndexOf(value: number, from?: number): number;
  map(change: (value: number, index: number, array: Indices) => number): Indices;
  reduce(add: (sum: number, value: number, index: number, array: Indices) => number): number;
  reduce<T>(add: (sum: T, value: number, index: number, array: Indices) => T, first: T): T;
  reverse(): Indices;
  set(array: ArrayLike<number>, offset?: number): void;
  slice(start?: number, end?: number): Indices;
  some(predicate: (value: number, index: number, array: Indices) => unknown): boolean;
  sort(compare?: (one: number, other: number) => number): Indices;
  subarray(start?: number, end?: number): Indices;
  values(): IterableIterator<number>;
}

/** The dictionary that Python's `state_dict` saves. Its member is the text of the state. */
export interface SavedState {
  samedeal: string;
}
