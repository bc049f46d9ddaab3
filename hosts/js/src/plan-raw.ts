import type { Bindings } from './engine.js';
import type { RawClient, RawClientOptions, RawLedger } from './ledger-raw.js';
import type { Policy, Tier, Weight, WorkerPolicy } from './plan-types.js';
import type { RawReading, RawReadOptions, RawStand } from './read/raw.js';

/** The configuration of a plan as the engine takes it. */
export interface RawPlanConfig {
  sizes: BigUint64Array<ArrayBuffer>;
  bytes: BigUint64Array<ArrayBuffer>;
  world: number;
  workers: number;
  policy: Policy;
  workerPolicy: WorkerPolicy;
  weight: Weight;
  locality?: {
    holderOffsets: Uint32Array;
    holders: Uint32Array;
    rankNodes: Uint32Array;
    tolerance: number;
  };
  shuffle: boolean;
  reshuffle: boolean;
  seed: bigint;
  epoch: bigint;
}

/** A plan of the engine. Nothing here checks an argument. */
export interface RawPlan {
  setEpoch(epoch: bigint): void;
  numShards(rank: number, worker: number): number;
  shards(rank: number, worker: number, start: number, count: number): Uint32Array<ArrayBuffer>;
  loads(tier: Tier, start: number, count: number): BigUint64Array<ArrayBuffer>;
  balance(tier: Tier, weight: Weight): { least: bigint; most: bigint; total: bigint; members: number };
  rows(shard: number, start: bigint, count: number): BigUint64Array<ArrayBuffer>;
  steps(batchSize: number, dropLast: boolean): { least: bigint; most: bigint };
  configFingerprint(): string;
}

/** A chunk stream of the engine. */
export interface RawStream {
  chunks(start: bigint, count: number): BigUint64Array<ArrayBuffer>;
}

/** The configuration of a chunk stream as the engine takes it. */
export interface RawStreamConfig {
  chunks?: bigint;
  reader: number;
  readers: number;
  order: string;
  seed: bigint;
  epoch: bigint;
}

/** What an instance of the component `planning.wasm` exports. */
export interface PlanningBindings extends Bindings {
  plan(config: RawPlanConfig): RawPlan;
  stream(config: RawStreamConfig): RawStream;
  ledger(header: string): RawLedger;
  client(options: RawClientOptions): RawClient;
  header(state: string, block: number, lease: bigint): string;
  /** At epoch 0, or where `stand` says. */
  reading(sizes: BigUint64Array<ArrayBuffer>, given: RawReadOptions, stand: RawStand | undefined): RawReading;
  verify(shards: number, offsets: Uint32Array, assigned: Uint32Array): { overlaps: Uint32Array; gaps: Uint32Array };
}
