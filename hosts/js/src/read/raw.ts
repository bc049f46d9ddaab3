// What crosses to the interface `read` of the component, and back.

/** The options that were given: the component has the defaults of the others. */
export interface RawReadOptions {
  seed?: bigint;
  deal?: string;
  shuffle?: boolean;
  lanes?: number;
  window?: number;
  remainder?: string;
  shuffleRows?: boolean;
  reshuffle?: boolean;
  policy?: string;
  workerPolicy?: string;
  weight?: string;
  bytes?: BigUint64Array<ArrayBuffer>;
  world?: number;
  workers?: number;
  batchSize?: number;
  dropLast?: boolean;
}

/** Where a reading stands: at the beginning of an epoch, or where a state was taken. */
export type RawStand = { epoch: bigint } | { state: string };

/** A round as the engine gives it; four numbers for each span. */
export interface RawReadRound {
  start: bigint;
  count: bigint;
  spans: BigUint64Array<ArrayBuffer>;
}

/** A reading of the engine. Nothing here checks an argument: numbers outside their range wrap around. */
export interface RawReading {
  atEpoch(epoch: bigint): RawReading;
  resume(state: string): RawReading;
  state(steps: bigint): string;
  recipe(): string;
  readsPerRow(): number;
  epoch(): bigint;
  isRest(): boolean;
  numSteps(rank: number): bigint;
  steps(): { least: bigint; most: bigint };
  numIdleReaders(): bigint;
  numSamples(rank: number, worker: number): bigint;
  numPadding(rank: number, worker: number): bigint;
  indices(rank: number, worker: number, start: bigint, count: number): BigUint64Array<ArrayBuffer>;
  numRounds(rank: number, worker: number): bigint;
  round(rank: number, worker: number, number: bigint): RawReadRound;
  roundOf(rank: number, worker: number, index: bigint): bigint;
  shards(rank: number, worker: number): Uint32Array<ArrayBuffer>;
}
