import { type Failure, SamedealError } from './errors.js';

/** The configuration as the engines take and give it. */
export interface RawConfig {
  samples: bigint;
  seed: bigint;
  epoch: bigint;
  order: string;
  rank: number;
  world: number;
  remainder: 'drop' | 'pad' | 'uneven';
  layout: 'strided' | 'contiguous';
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

/**
 * A sampler of an engine. Nothing here checks an argument: numbers outside their range wrap around. Failures are
 * thrown as plain objects.
 */
export interface RawSampler {
  config(): RawConfig;
  setEpoch(epoch: bigint): void;
  setRank(rank: number): void;
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
}

/** What an engine exports. Two provide it: the component, and the wasm-bindgen build. */
export interface Bindings {
  orders(): string[];
  maxWindow(): number;
  create(config: RawConfig): RawSampler;
  /** Frees a sampler, which must not be used again. One that becomes unreachable is freed without it. */
  release(sampler: RawSampler): void;
}

/** An engine that turns failures into errors, and that is not used again once something else went wrong in it. */
export class Engine {
  readonly #bindings: Bindings;
  #stopped: { cause: unknown } | undefined;

  constructor(bindings: Bindings) {
    this.#bindings = bindings;
  }

  /** Calls the engine; `call` must do nothing else, since whatever it throws but a failure condemns the engine. */
  run<T>(call: (bindings: Bindings) => T): T {
    if (this.#stopped) throw stopped(this.#stopped.cause);
    try {
      return call(this.#bindings);
    } catch (error) {
      if (isFailure(error)) throw new SamedealError(error);
      this.#stopped = { cause: error };
      throw stopped(error);
    }
  }
}

function isFailure(error: unknown): error is Failure {
  return typeof error === 'object' && error !== null && !(error instanceof Error) && 'kind' in error;
}

function stopped(cause: unknown): Error {
  return new Error(
    'the samedeal engine stopped after an internal error; no sampler can be used again until the program is restarted',
    { cause },
  );
}
