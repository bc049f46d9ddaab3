// Types of single values: numbers, lists and names.
export type {
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
  Weight,
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
 * Sample indices, in order: a `Uint32Array` where there are at most 2^32 samples, else a `Float64Array`, whose numbers are all exact. This type
 * has what both have, because TypeScript calls no `reduce` of a union of the two.
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

<<<<<<< HEAD
/** The dictionary that Python's `state_dict` saves: the text of the state is in it. */
export interface SavedState {
  samedeal: string;
}
=======
/** Name of an order, one of `orders()`. A later component may have others. */
export type OrderName =
  | 'feistel'
  | 'fisher-yates'
  | 'sequential'
  | 'torch'
  | 'torch-2.5'
  | 'python'
  | 'dotnet'
  | (string & {});

/** The treatment of the last positions if `worldSize` * `unit` does not divide the number of positions. */
export type Remainder = 'drop' | 'pad' | 'uneven';

/**
 * The positions of a rank: every `worldSize`-th one; a run of neighbours; or one of each row of `worldSize` positions,
 * where each row begins with another rank.
 */
export type Layout = 'strided' | 'contiguous' | 'rotated';

/** The dictionary that Python's `state_dict` saves. Its member is the text of the state. */
export interface SavedState {
  samedeal: string;
}

/**
 * How samples become batches. `budget`: as many samples of similar length as `maxTokens` or `maxCost` allows. `bucket`:
 * `maxBatchSize` samples of one bucket of lengths, or fewer if `maxTokens` or `maxCost` does not allow so many. `pack`:
 * `maxBatchSize` rows of `capacity` tokens; several samples share a row. `pad-to-max`: `maxBatchSize` samples in the order of
 * the epoch.
 */
export type Strategy = 'budget' | 'bucket' | 'pack' | 'pad-to-max';

/**
 * The cost of a sample in a batch. `padded`: the length of the longest sample of its batch. `unpadded`: its own length.
 * `weighted`: `linear` * length + `quadratic` * length^2. `maxTokens` limits the first two, `maxCost` the third.
 */
export type Counting = 'padded' | 'unpadded' | 'weighted';

/**
 * The effort to find few rows. `fast`: about as fast as sorting. `optimal`: the best result of several methods, with a
 * lower bound on the number of rows (`packsBound` of the metrics).
 */
export type Packing = 'fast' | 'optimal';

/**
 * The treatment of samples that are longer than `maxLength`, or than the limit of a batch or of a row allows. `error`:
 * there is no plan. `truncate`: their beginning is kept. `drop`: they are left out. `split`: they become several items.
 * `single`: each is a batch of its own, whatever it costs.
 */
export type TooLong = 'error' | 'truncate' | 'drop' | 'split' | 'single';

/**
 * The treatment of the last samples of the epoch, if they do not fill a step. `even-split`: they make a smaller step;
 * if a step has fewer items than ranks, it borrows items from another step, or packs are split. `drop`: they are left
 * out. `keep`: they make a smaller step; if a step has fewer items than ranks, some of its batches are empty.
 * `duplicate`: some samples are repeated, until every rank has the same number of rows.
 */
export type Tail = 'even-split' | 'drop' | 'keep' | 'duplicate';

/**
 * How shards are given to ranks. `round-robin`: the i-th to rank i mod `worldSize`. `size-aware`: all ranks get about the same weight.
 * `locality-aware`: ranks get shards that are stored on their own node.
 */
export type Policy = 'round-robin' | 'size-aware' | 'locality-aware';

/** How the shards of a rank are given to its workers: the i-th to worker i mod `workers`, or by weight. */
export type WorkerPolicy = 'round-robin' | 'size-aware';

/** The amount of a shard by which loads are balanced. */
export type Weight = 'samples' | 'bytes';

/** The end of a blend: what happens when a source has made all of its passes. */
export type Exhaustion = 'repeat' | 'stop' | 'renormalise' | 'fail';

/** Whether the sources of a blend are different datasets, one after the other, or parts of one. */
export type IndexSpace = 'joined' | 'shared';
>>>>>>> 4efcfc52 (Comments of the JavaScript host's orders, readings, Parquet and scripts: name the subject and say why)
