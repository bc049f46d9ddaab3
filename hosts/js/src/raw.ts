import type { Layout, Remainder } from './types.js';

/** The names in the order of `wit/types.wit`. */
export const REMAINDERS: readonly Remainder[] = ['drop', 'pad', 'uneven'];
export const LAYOUTS: readonly Layout[] = ['strided', 'contiguous'];

/** The configuration as the engines take and give it. */
export interface RawConfig {
  samples: bigint;
  seed: bigint;
  epoch: bigint;
  order: string;
  rank: number;
  world: number;
  remainder: Remainder;
  layout: Layout;
  consumed: bigint;
}

/** What the order `sharded` takes besides. */
export interface RawSharding {
  sizes: BigUint64Array;
  lanes: number;
  window: number;
}

/** A place as the engines give it. */
export interface RawPlace {
  position: bigint;
  rank: number;
  index: bigint;
  batch: bigint;
  slot: number;
  copies: number;
}

/** A round as the engines give it; four numbers for each span. */
export interface RawRound {
  start: bigint;
  count: bigint;
  spans: BigUint64Array<ArrayBuffer>;
}

/**
 * A sampler of an engine. Nothing here checks an argument: numbers outside their range wrap around. Failures are
 * thrown as plain objects.
 */
export interface RawSampler {
  config(): RawConfig;
  setEpoch(epoch: bigint): void;
  setRank(rank: number): void;
  state(taken: bigint): string;
  resume(state: string): void;
  numSamples(): bigint;
  numPadding(): bigint;
  numPositions(): bigint;
  numDropped(): bigint;
  indices(start: bigint, count: number): BigUint64Array<ArrayBuffer>;
  indices32(start: bigint, count: number): Uint32Array<ArrayBuffer>;
  numBatches(batchSize: number, dropLast: boolean): bigint;
  batch(batch: bigint, batchSize: number, dropLast: boolean): BigUint64Array<ArrayBuffer>;
  batch32(batch: bigint, batchSize: number, dropLast: boolean): Uint32Array<ArrayBuffer>;
  sampleAt(position: bigint): bigint;
  locate(sample: bigint, batchSize: number): RawPlace | undefined;
  placeOf(position: bigint, batchSize: number): RawPlace;
  fingerprint(): string;
  configFingerprint(): string;
  numRounds(): bigint;
  round(number: bigint): RawRound;
  shardOf(sample: bigint): { shard: number; offset: bigint };
}

/** What an instance of an engine for samplers exports: the component, and the wasm-bindgen build. */
export interface SamplerBindings {
  orders(): string[];
  create(config: RawConfig, sharding: RawSharding | undefined): RawSampler;
  release(sampler: object): void;
}
