import type { Counting, Packing, Side, Strategy, Tail, TooLong } from './batch-types.js';
import type { Bindings } from './engine.js';

/** The names in the order of `wit/batches.wit` and `wit/collation.wit`. */
export const STRATEGIES: readonly Strategy[] = ['pad-to-max', 'bucket', 'budget', 'pack'];
export const COUNTINGS: readonly Counting[] = ['padded', 'unpadded', 'weighted'];
export const PACKINGS: readonly Packing[] = ['fast', 'optimal'];
export const TOO_LONG: readonly TooLong[] = ['error', 'truncate', 'drop', 'split', 'single'];
export const TAILS: readonly Tail[] = ['drop', 'keep', 'even-split', 'duplicate'];
export const SIDES: readonly Side[] = ['right', 'left'];

/** The source of a cell of padding. */
export const PADDING = 2 ** 32 - 1;

/** Which lengths are a bucket, as the engine takes it. */
export type RawBuckets =
  | { tag: 'bucket-width'; val: number }
  | { tag: 'boundaries'; val: Uint32Array<ArrayBuffer> }
  | { tag: 'quantiles'; val: number };

/** Steps that a world took. */
export interface RawStretch {
  world: number;
  steps: bigint;
}

/** The configuration of batches as the engine takes it. */
export interface RawBatchConfig {
  lengths: Uint32Array<ArrayBuffer>;
  seed: bigint;
  epoch: bigint;
  order: string;
  world: number;
  strategy: Strategy;
  maxBatchSize: number;
  maxLength: number;
  budget: bigint;
  counting: Counting;
  linear: number;
  quadratic: number;
  multiple: number;
  capacity: number;
  packing: Packing;
  /** Absent: the default. */
  buckets?: RawBuckets;
  /** Absent: the default, which follows the world. */
  window?: number;
  tooLong: TooLong;
  tail: Tail;
  history: RawStretch[];
}

/** Metrics as the engine gives them. */
export type RawMetrics = Record<
  | 'steps'
  | 'items'
  | 'rows'
  | 'tokens'
  | 'padded'
  | 'slowest'
  | 'cost'
  | 'slowestCost'
  | 'packsBound'
  | 'overBudget'
  | 'empty'
  | 'repeated'
  | 'dropped'
  | 'truncated'
  | 'tooLong'
  | 'split',
  bigint
>;

/** Batches of one rank, end to end. */
export interface RawRun {
  samples: BigUint64Array<ArrayBuffer>;
  starts: Uint32Array<ArrayBuffer>;
  lengths: Uint32Array<ArrayBuffer>;
  rowEnds: Uint32Array<ArrayBuffer>;
  batchEnds: Uint32Array<ArrayBuffer>;
  paddedLengths: Uint32Array<ArrayBuffer>;
  costs: BigUint64Array<ArrayBuffer>;
  repeated: Uint32Array<ArrayBuffer>;
}

/** Where an item is, as the engine gives it. */
export interface RawBatchPlace {
  step: bigint;
  rank: number;
  row: number;
  slot: number;
  start: number;
}

/** A batcher of the engine. Nothing here checks an argument. */
export interface RawBatcher {
  setEpoch(epoch: bigint): void;
  state(taken: bigint): string;
  resume(state: string): void;
  epoch(): bigint;
  history(): RawStretch[];
  metrics(): RawMetrics;
  take(rank: number, start: bigint, count: number): RawRun;
  locate(sample: bigint): RawBatchPlace[];
  fingerprint(): string;
}

/** A stream of batches of the engine. */
export interface RawBatchStream {
  /** How many bytes the lists of a call may take. */
  room(): number;
  push(samples: BigUint64Array, lengths: Uint32Array): void;
  flush(): void;
  take(): RawRun | undefined;
  metrics(): RawMetrics;
}

/** Where the cells of padded rows come from. */
export interface RawPadded {
  width: number;
  sources: Uint32Array<ArrayBuffer>;
}

/** Where the cells of packed rows come from. */
export interface RawPacked {
  sources: Uint32Array<ArrayBuffer>;
  positionIds: Uint32Array<ArrayBuffer>;
  segmentIds: Uint32Array<ArrayBuffer>;
  cuSeqlens: Uint32Array<ArrayBuffer>;
  maxSeqlen: number;
}

/** What an instance of the component `batching.wasm` exports. */
export interface BatchingBindings extends Bindings {
  batcher(config: RawBatchConfig): RawBatcher;
  stream(config: RawBatchConfig, rank: number): RawBatchStream;
  pad(lengths: Uint32Array, width: number, multiple: number, side: Side): RawPadded;
  pack(lengths: Uint32Array, rowEnds: Uint32Array, width: number): RawPacked;
}
