import { type Failure, SamedealError } from './errors.js';
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

/** What an instance of an engine exports. Two engines provide it: the component, and the wasm-bindgen build. */
export interface Bindings {
  orders(): string[];
  create(config: RawConfig): RawSampler;
  /** Frees a sampler, which must not be used again. Nothing else frees it but the end of the instance. */
  release(sampler: RawSampler): void;
}

/** A WebAssembly instance, with a memory of its own. */
class Instance {
  readonly bindings: Bindings;
  /** How many bytes of samplers it still takes. */
  room = SHARED;
  /**
   * False while a call is under way, and so for good after a call that did not end: a trap, or a stack that overflowed,
   * leaves memory that nothing is known about.
   */
  sound = true;

  constructor(bindings: Bindings) {
    this.bindings = bindings;
  }
}

/** Where a sampler is. */
export interface Seat {
  instance: Instance;
  raw: RawSampler;
  /** The most memory that it can come to hold, in bytes. */
  readonly size: number;
}

/**
 * How many bytes of samplers share an instance. The component's bindings tell samplers by their address, and only below
 * 1 GiB (jco marks what it owns by bit 30); this, windows and all gaps between them stay far below that.
 */
const SHARED = 64 << 20;
/** A larger sampler gets an instance of its own, whose memory is given back as a whole. It comes first in there. */
const LARGEST_SHARED = 4 << 20;
const WITHOUT_TABLE: readonly string[] = ['feistel', 'sequential'];

function sizeOf({ order, samples }: RawConfig): number {
  return 1024 + (WITHOUT_TABLE.includes(order) ? 0 : 4 * Number(samples));
}

/**
 * Samplers in as few instances as is sound: browsers have address space for about a hundred. A sampler is decided by
 * its configuration; so one whose instance is lost is made again, in another one, at its next call.
 */
export class Engine {
  readonly #instantiate: () => Bindings;
  #shared: Instance | undefined;
  readonly #collected = new FinalizationRegistry<Seat>((seat) => leave(seat));

  /** `instantiate` makes a new instance. */
  constructor(instantiate: () => Bindings) {
    this.#instantiate = instantiate;
  }

  /** The names of the orders. */
  orders(): string[] {
    const instance = this.#sharing(0, 0n);
    return run(instance, () => instance.bindings.orders());
  }

  /** Makes a sampler, which lasts until `close`, or until `owner` is collected. */
  open(owner: object, config: RawConfig): Seat {
    const seat = this.#place(config, sizeOf(config));
    // What is alone goes with its instance, as soon as nobody refers to it.
    if (seat.size <= LARGEST_SHARED) this.#collected.register(owner, seat, seat);
    return seat;
  }

  /** Calls a sampler; if that throws anything but a `SamedealError`, it is made again from `config` at the next call. */
  call<T>(seat: Seat, config: RawConfig, call: (raw: RawSampler) => T): T {
    if (!seat.instance.sound) {
      const { instance, raw } = this.#place(config, seat.size);
      seat.instance = instance;
      seat.raw = raw;
    }
    const { instance, raw } = seat;
    return run(instance, () => call(raw));
  }

  /** Frees a sampler, which must not be used again. */
  close(seat: Seat): void {
    this.#collected.unregister(seat);
    leave(seat);
  }

  #place(config: RawConfig, size: number): Seat {
    const instance = size > LARGEST_SHARED ? this.#instance(config.samples) : this.#sharing(size, config.samples);
    const raw = run(instance, () => instance.bindings.create(config));
    instance.room -= size;
    return { instance, raw, size };
  }

  /** The instance that takes another sampler of this size. */
  #sharing(size: number, samples: bigint): Instance {
    if (!this.#shared?.sound || this.#shared.room < size) this.#shared = this.#instance(samples);
    return this.#shared;
  }

  #instance(samples: bigint): Instance {
    try {
      return new Instance(this.#instantiate());
    } catch (error) {
      // There is no other way to tell it from a stack that overflows.
      if (!(error instanceof Error && /memory/i.test(error.message))) throw error;
      const allowed = 'fewer samplers at a time, or smaller ones';
      throw new SamedealError({ kind: 'out-of-memory', field: 'samples', value: String(samples), allowed });
    }
  }
}

function leave({ instance, raw, size }: Seat): void {
  if (!instance.sound) return;
  run(instance, () => instance.bindings.release(raw));
  instance.room += size;
}

/** Calls into an instance; `call` must do nothing else. */
function run<T>(instance: Instance, call: () => T): T {
  // Before the call, as a stack that is at its end lets nothing be called after it.
  instance.sound = false;
  try {
    const result = call();
    instance.sound = true;
    return result;
  } catch (error) {
    if (!isFailure(error)) throw error;
    instance.sound = true;
    throw new SamedealError(error);
  }
}

function isFailure(error: unknown): error is Failure {
  return typeof error === 'object' && error !== null && !(error instanceof Error) && 'kind' in error;
}
