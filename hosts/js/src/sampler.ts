/// <reference lib="esnext.disposable" preserve="true" />
import {
  boolean,
  FROM_ONE,
  fail,
  integer,
  natural,
  natural32,
  oneOf,
  options,
  S64,
  string,
  U32,
  U64,
} from './checks.js';
import {
  type Engine,
  LAYOUTS,
  type RawConfig,
  type RawPlace,
  type RawSampler,
  REMAINDERS,
  type Seat,
} from './engine.js';
import { WindowIterator } from './iterator.js';
import type {
  BatchesOptions,
  BatchOptions,
  ConfigJson,
  Indices,
  Integer,
  Layout,
  Place,
  Remainder,
  SamplerOptions,
} from './types.js';

const OPTIONS = ['seed', 'epoch', 'order', 'rank', 'world', 'remainder', 'layout'] as const;
const JSON_FIELDS = ['samples', ...OPTIONS] as const;

/** How many indices are read at a time: enough that the calls cost nothing, few enough to stay in the cache. */
const WINDOW = 1 << 15;

/** Older engines lack the symbol; there, `dispose()` has the same effect. */
const symbolDispose: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose');

/** What `console.log` of Node, Deno and Bun asks for. */
const symbolInspect: unique symbol = Symbol.for('nodejs.util.inspect.custom');

/** What the samplers of both engines are. Use the class `Sampler` of `samedeal` or `samedeal/web`. */
export abstract class BaseSampler implements Iterable<number> {
  readonly #engine: Engine;
  #seat: Seat | undefined;
  #config: RawConfig;
  #length: number;

  /** @internal */
  constructor(engine: Engine, samples: Integer, given?: SamplerOptions) {
    // Defaults stand in for what is missing, and not for null.
    const {
      seed = 0,
      epoch = 0,
      order = 'feistel',
      rank = 0,
      world = 1,
      remainder = 'pad',
      layout = 'strided',
    } = options(given, OPTIONS);
    const config: RawConfig = {
      samples: natural('samples', samples),
      seed: integer('seed', seed, S64),
      epoch: integer('epoch', epoch, U64),
      order: string('order', order),
      rank: natural32('rank', rank, U32),
      world: natural32('world', world, FROM_ONE),
      remainder: oneOf('remainder', remainder, REMAINDERS),
      layout: oneOf('layout', layout, LAYOUTS),
    };
    this.#engine = engine;
    this.#seat = engine.open(this, config);
    this.#config = config;
    this.#length = this.#number((raw) => raw.numSamples());
  }

  /** The sampler of a configuration that `toJSON` gave. Errors: as the constructor. */
  static fromJSON<T>(this: new (samples: Integer, options?: SamplerOptions) => T, json: ConfigJson): T {
    const { samples, seed, epoch, ...others } = options(json, JSON_FIELDS);
    return new this(decimal(samples), { ...others, seed: decimal(seed), epoch: decimal(epoch) });
  }

  /** Number of samples in the dataset. */
  get samples(): number {
    return Number(this.#config.samples);
  }

  /** Seed of the order; a `bigint` where it is beyond 2^53 - 1. */
  get seed(): Integer {
    return plain(this.#config.seed);
  }

  /** Number of the epoch; a `bigint` where it is beyond 2^53 - 1. */
  get epoch(): Integer {
    return plain(this.#config.epoch);
  }

  /** Name of the order. */
  get order(): string {
    return this.#config.order;
  }

  /** Which of the data-parallel readers this is. */
  get rank(): number {
    return this.#config.rank;
  }

  /** How many data-parallel readers there are. */
  get world(): number {
    return this.#config.world;
  }

  /** What happens where `world` does not divide the samples. */
  get remainder(): Remainder {
    return this.#config.remainder;
  }

  /** Which positions belong to a rank. */
  get layout(): Layout {
    return this.#config.layout;
  }

  /** How many samples this rank sees in an epoch, padding included. */
  get length(): number {
    return this.#length;
  }

  /** How many of them, the last ones, are padding. */
  get numPadding(): number {
    return this.#number((raw) => raw.numPadding());
  }

  /** How many positions the epoch deals to all ranks together, padding included. */
  get numPositions(): number {
    return this.#number((raw) => raw.numPositions());
  }

  /** How many samples no rank sees in this epoch. */
  get numDropped(): number {
    return this.#number((raw) => raw.numDropped());
  }

  /**
   * This rank's samples number `start` to `end` - 1, in order: all of them by default.
   * Errors: `start`, `end` (out of range), memory.
   */
  indices(start: Integer = 0, end: Integer = this.#length): Indices {
    const first = Number(integer('start', start, [0n, BigInt(this.#length)]));
    const last = Number(integer('end', end, [BigInt(first), BigInt(this.#length)]));
    if (last - first <= WINDOW) return this.#window(first, last);
    const out = this.#array(last - first);
    for (let at = first; at < last; at += WINDOW) {
      out.set(this.#window(at, Math.min(at + WINDOW, last)), at - first);
    }
    return out;
  }

  /**
   * The samples one by one. An iteration that goes on after `setEpoch` or `setRank` fails, since what it would go on
   * with is no epoch. Errors: `epoch`, `rank`, memory.
   */
  [Symbol.iterator](): IterableIterator<number> {
    const length = this.#length;
    return new WindowIterator(this.#unmoved(), length, WINDOW, (start, end) => this.#window(start, end));
  }

  /** How many batches this rank gets: rounded down with `dropLast`, else up. Errors: `batchSize`. */
  numBatches(batchSize: Integer, given?: BatchOptions): number {
    const size = natural32('batch-size', batchSize, FROM_ONE);
    const dropLast = dropsLast(given);
    return this.#number((raw) => raw.numBatches(size, dropLast));
  }

  /**
   * Batch number `batch` of this rank; the last one may be shorter unless `dropLast`.
   * Errors: `batch`, `batchSize` (0, or the batch would hold more than 2^20 samples), memory.
   */
  batch(batch: Integer, batchSize: Integer, given?: BatchOptions): Indices {
    const size = natural32('batch-size', batchSize, FROM_ONE);
    const dropLast = dropsLast(given);
    const number = natural('batch', batch, () => this.numBatches(size, { dropLast }));
    return this.#wide
      ? numbers(this.#call((raw) => raw.batch(number, size, dropLast)))
      : this.#call((raw) => raw.batch32(number, size, dropLast));
  }

  /**
   * The batches of this rank, one after the other, from number `start` on: by default all of them. As to `setEpoch` and
   * `setRank`, see the iteration over samples. Errors: as `batch`, and `start`, `epoch`, `rank`.
   */
  batches(batchSize: Integer, given?: BatchesOptions): Generator<Indices, void, undefined> {
    const { start = 0, ...cut } = options(given, ['dropLast', 'start']);
    const count = this.numBatches(batchSize, cut);
    const first = Number(integer('start', start, [0n, BigInt(count)]));
    return this.#batches(first, count, batchSize, cut, this.#unmoved());
  }

  *#batches(first: number, count: number, batchSize: Integer, cut: BatchOptions, same: () => void) {
    for (let number = first; number < count; number++) {
      same();
      yield this.batch(number, batchSize, cut);
    }
  }

  /** Moves to another epoch. The next index asked for is of that epoch. Errors: `epoch`. */
  setEpoch(epoch: Integer): void {
    const number = integer('epoch', epoch, U64);
    const config = { ...this.#config, epoch: number };
    this.#call((raw) => raw.setEpoch(number));
    // Nothing here may throw: the configuration is what the sampler would be made again from.
    this.#config = config;
  }

  /** Answers for another rank of the same deal from now on. Errors: `rank`. */
  setRank(rank: Integer): void {
    const number = natural32('rank', rank, U32);
    const config = { ...this.#config, rank: number };
    const length = this.#call((raw) => {
      raw.setRank(number);
      return Number(raw.numSamples());
    });
    // As in `setEpoch`.
    this.#config = config;
    this.#length = length;
  }

  /** The sample at a global position of the epoch, whichever rank it is dealt to. Errors: `position`, memory. */
  sampleAt(position: Integer): number {
    const number = this.#position(position);
    return this.#number((raw) => raw.sampleAt(number));
  }

  /**
   * Where in the epoch a sample is seen first, on whichever rank, with batches of `batchSize`; null if it is dropped. A
   * last batch that is shorter counts here: who reads with `dropLast` does not see a place whose batch is
   * `numBatches(batchSize, { dropLast: true })` of its rank. Errors: `sample`, `batchSize`, memory.
   */
  locate(sample: Integer, batchSize: Integer): Place | null {
    const number = natural('sample', sample, () => this.samples);
    const size = natural32('batch-size', batchSize, FROM_ONE);
    const found = this.#call((raw) => raw.locate(number, size));
    return found ? place(found) : null;
  }

  /**
   * Who sees a global position, and when, with batches of `batchSize`; as to `dropLast`, see `locate`.
   * Errors: `position`, `batchSize`.
   */
  placeOf(position: Integer, batchSize: Integer): Place {
    const number = this.#position(position);
    const size = natural32('batch-size', batchSize, FROM_ONE);
    return place(this.#call((raw) => raw.placeOf(number, size)));
  }

  /** SHA-256 over all of this rank's indices, each as 8 bytes, little-endian; in hexadecimal. Errors: memory. */
  fingerprint(): string {
    return this.#call((raw) => raw.fingerprint());
  }

  /** SHA-256 over the configuration without the rank, in hexadecimal: equal on all ranks of one deal. */
  configFingerprint(): string {
    return this.#call((raw) => raw.configFingerprint());
  }

  /** The configuration as it stands, for `JSON.stringify` and `fromJSON`. */
  toJSON(): ConfigJson {
    const { samples, seed, epoch, order, rank, world, remainder, layout } = this.#call((raw) => raw.config());
    return {
      samples: String(samples),
      seed: String(seed),
      epoch: String(epoch),
      order,
      rank,
      world,
      remainder,
      layout,
    };
  }

  /** The call that makes an equal sampler; it answers after `dispose()` too. */
  toString(): string {
    const { samples, seed, epoch, order, rank, world, remainder, layout } = this.#config;
    return (
      `Sampler(${source(samples)}, { seed: ${source(seed)}, epoch: ${source(epoch)}, order: '${order}', ` +
      `rank: ${rank}, world: ${world}, remainder: '${remainder}', layout: '${layout}' })`
    );
  }

  /** What `console.log` shows: as `toString()`. @internal */
  [symbolInspect](): string {
    return this.toString();
  }

  /** Frees the engine's memory now rather than when the sampler is collected; it cannot be used afterwards. */
  dispose(): void {
    const seat = this.#seat;
    if (!seat) return;
    this.#seat = undefined;
    this.#engine.close(seat);
  }

  /** The same as `dispose()`, for `using`. */
  [symbolDispose](): void {
    this.dispose();
  }

  #position(position: Integer): bigint {
    return natural('position', position, () => this.numPositions);
  }

  get #wide(): boolean {
    return this.#config.samples > 2 ** 32;
  }

  #call<T>(call: (raw: RawSampler) => T): T {
    if (!this.#seat) throw new Error('this sampler has been disposed of');
    return this.#engine.call(this.#seat, this.#config, call);
  }

  /** For what is below 2^53. */
  #number(call: (raw: RawSampler) => bigint): number {
    return Number(this.#call(call));
  }

  #window(start: number, end: number): Indices {
    const first = BigInt(start);
    return this.#wide
      ? numbers(this.#call((raw) => raw.indices(first, end - start)))
      : this.#call((raw) => raw.indices32(first, end - start));
  }

  #array(count: number): Indices {
    try {
      return this.#wide ? new Float64Array(count) : new Uint32Array(count);
    } catch {
      fail('out-of-memory', 'count', count, 'a shorter run of indices');
    }
  }

  /** A check that the epoch and the rank are still what they are now. */
  #unmoved(): () => void {
    const before = this.#config;
    const { epoch, rank } = before;
    return () => {
      const now = this.#config;
      if (now === before) return;
      if (now.epoch !== epoch) fail('out-of-range', 'epoch', now.epoch, `${epoch} until the iteration ends`);
      if (now.rank !== rank) fail('out-of-range', 'rank', now.rank, `${rank} until the iteration ends`);
    };
  }
}

/** The class of an entry: `BaseSampler` over the engine that `engine` gives when the first sampler is made. */
export function samplerOf(engine: () => Engine): SamplerClass {
  return class extends BaseSampler {
    constructor(samples: Integer, options?: SamplerOptions) {
      super(engine(), samples, options);
    }
  };
}

/** What `samplerOf` makes. */
export interface SamplerClass {
  /**
   * Checks the configuration of a deal of `samples` (0 to 2^53 - 1; 2^32 - 1 where the order holds a table).
   * Errors (`SamedealError`): a value out of its range or of the wrong type, an unknown name, memory.
   */
  new (samples: Integer, options?: SamplerOptions): BaseSampler;
  fromJSON: typeof BaseSampler.fromJSON;
}

function dropsLast(given: BatchOptions | undefined): boolean {
  const { dropLast = false } = options(given, ['dropLast']);
  return boolean('drop-last', dropLast);
}

function place({ position, rank, index, batch, slot, copies }: RawPlace): Place {
  return { position: Number(position), rank, index: Number(index), batch: Number(batch), slot, copies };
}

/** The numbers, all below 2^53, of 64-bit words, written over them: a `bigint` for each would cost many times that. */
function numbers(words: BigUint64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const halves = new Uint32Array(words.buffer, words.byteOffset, 2 * words.length);
  const out = new Float64Array(words.buffer, words.byteOffset, words.length);
  for (let i = 0; i < out.length; i++) {
    out[i] = (halves[2 * i] as number) + 2 ** 32 * (halves[2 * i + 1] as number);
  }
  return out;
}

function plain(value: bigint): Integer {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** A whole number as it is written in a program. */
function source(value: bigint): string {
  return typeof plain(value) === 'bigint' ? `${value}n` : String(value);
}

/** A decimal string as a `bigint`; anything else as it is, for the constructor to refuse. */
function decimal(text: unknown): Integer {
  return typeof text === 'string' && /^-?\d{1,20}$/.test(text) ? BigInt(text) : (text as Integer);
}
