import type { PlanningBindings, RawPlan } from '../bindings/types.js';
import { dropsLast, FROM_ONE, integer, natural32, oneOf, U64 } from '../checks.js';
import { type Engine, Facade } from '../engine.js';
import { gathered, type Integers, numbers, shown } from '../lists.js';
import { MILLION, plain, settings } from '../options.js';
import type { BatchOptions, Integer } from '../types.js';
import { PlanRecipe, WEIGHTS } from './recipe.js';
import type {
  Balance,
  Loads,
  Policy,
  ShardPlanJson,
  ShardPlanOptions,
  Steps,
  Tier,
  Verification,
  Weight,
  WorkerPolicy,
} from './types.js';
import { verified } from './verify.js';

const TIERS: readonly Tier[] = ['ranks', 'workers'];

/** How many numbers one call hands out. */
const WINDOW = 1 << 20;

/** What `ShardPlan` is, over any instance of its engine. */
export abstract class BaseShardPlan extends Facade<PlanningBindings, RawPlan> {
  readonly #engine: Engine<PlanningBindings>;
  #recipe: PlanRecipe;

  /** @internal */
  constructor(engine: Engine<PlanningBindings>, sizes: Integers, options?: ShardPlanOptions) {
    const recipe = PlanRecipe.of(sizes, options);
    super(engine, 'plan', recipe);
    this.#recipe = recipe;
    this.#engine = engine;
  }

  /** The plan of what `toJSON` gave. Errors: as the constructor. */
  static fromJSON<T>(this: new (sizes: Integers, options?: ShardPlanOptions) => T, json: ShardPlanJson): T {
    return new this(...PlanRecipe.ofJson(json));
  }

  /** How many shards there are. */
  get length(): number {
    return this.#recipe.config.sizes.length;
  }

  /** Samples in each shard: a new copy. */
  get sizes(): Float64Array<ArrayBuffer> {
    return numbers(this.#recipe.config.sizes.slice());
  }

  /** Bytes in each shard: a new copy; undefined where they were not given. */
  get bytes(): Float64Array<ArrayBuffer> | undefined {
    const { bytes } = this.#recipe.config;
    return bytes.length === 0 ? undefined : numbers(bytes.slice());
  }

  /** How many ranks there are. */
  get world(): number {
    return this.#recipe.config.world;
  }

  /** How many workers read in each rank. */
  get workers(): number {
    return this.#recipe.config.workers;
  }

  /** How shards are given to ranks. */
  get policy(): Policy {
    return this.#recipe.config.policy;
  }

  /** How the shards of a rank are given to its workers. */
  get workerPolicy(): WorkerPolicy {
    return this.#recipe.config.workerPolicy;
  }

  /** What is to be equal. */
  get weight(): Weight {
    return this.#recipe.config.weight;
  }

  /** Whether the shards are shuffled before they are given away. */
  get shuffle(): boolean {
    return this.#recipe.config.shuffle;
  }

  /** Whether every reader shuffles its own shards once more. */
  get reshuffle(): boolean {
    return this.#recipe.config.reshuffle;
  }

  /** Seed of the shuffles; a `bigint` where it is beyond 2^53 - 1. */
  get seed(): Integer {
    return plain(this.#recipe.config.seed);
  }

  /** Epoch of the shuffles; a `bigint` where it is beyond 2^53 - 1. */
  get epoch(): Integer {
    return plain(this.#recipe.config.epoch);
  }

  /** Plans another epoch; as costly as the constructor where anything is shuffled. Errors: `epoch`, memory. */
  setEpoch(epoch: Integer): void {
    const moved = this.#recipe.with(integer('epoch', epoch, U64));
    this.call((raw) => raw.setEpoch(moved.config.epoch));
    this.#recipe = moved;
    this.follow(moved);
  }

  /** How many shards a reader has. Errors: `rank`, `worker`. */
  numShards(rank: Integer, worker: Integer = 0): number {
    const reader = this.#reader(rank, worker);
    return this.call((raw) => raw.numShards(...reader));
  }

  /** A reader's shards, in the order in which it reads them. Errors: `rank`, `worker`. */
  shards(rank: Integer, worker: Integer = 0): Uint32Array<ArrayBuffer> {
    const reader = this.#reader(rank, worker);
    const read = (at: number, count: number) => this.call((raw) => raw.shards(...reader, at, count));
    return gathered(Uint32Array, this.numShards(...reader), WINDOW, 'shards', read);
  }

  /** What every rank, or every worker, has to read. */
  loads(tier: Tier): Loads {
    const whose = oneOf('tier', tier, TIERS);
    const members = this.world * (whose === 'ranks' ? 1 : this.workers);
    const four = () => new Float64Array(members);
    const [shards, samples, bytes, local] = [four(), four(), four(), four()];
    for (let start = 0; start < members; start += WINDOW) {
      const flat = numbers(this.call((raw) => raw.loads(whose, start, Math.min(WINDOW, members - start))));
      for (let at = 0, member = start; at < flat.length; member++) {
        for (const column of [shards, samples, bytes, local]) column[member] = flat[at++] as number;
      }
    }
    return { shards, samples, bytes, local };
  }

  /** How evenly the samples, or the bytes, are spread over the ranks or the workers. Errors: `bytes` (not given). */
  balance(tier: Tier, weight: Weight = 'samples'): Balance {
    const whose = oneOf('tier', tier, TIERS);
    const what = oneOf('weight', weight, WEIGHTS);
    const { members, imbalance, ...loads } = this.call((raw) => {
      return { ...raw.balance(whose, what), imbalance: Number(raw.imbalance(whose, what)) / MILLION };
    });
    const [least, most, total] = [Number(loads.least), Number(loads.most), Number(loads.total)];
    return { least, most, total, members, imbalance };
  }

  /**
   * The rows of a shard number `start` to `end` - 1, by default all of them, in the order in which its reader gives them:
   * shuffled within the shard by seed, epoch and shard, whether or not anything else is. To read rows in storage order, do
   * not call this function. Errors: `shard`, `start`, `end` (out of range), memory.
   */
  rows(shard: Integer, start: Integer = 0, end?: Integer): Float64Array<ArrayBuffer> {
    const number = Number(integer('shard', shard, [0n, BigInt(this.length) - 1n]));
    const size = this.#recipe.config.sizes[number] as bigint;
    const first = integer('start', start, [0n, size]);
    const last = integer('end', end === undefined ? size : end, [first, size]);
    const read = (at: number, count: number) => {
      return numbers(this.call((raw) => raw.rows(number, first + BigInt(at), count)));
    };
    return gathered(Float64Array, Number(last - first), WINDOW, 'rows', read);
  }

  /** How many steps ranks take with batches that each worker forms from its own samples. Errors: `batchSize`. */
  steps(batchSize: Integer, given?: BatchOptions): Steps {
    const size = natural32('batch-size', batchSize, FROM_ONE);
    const dropLast = dropsLast(given);
    const { least, most } = this.call((raw) => raw.steps(size, dropLast));
    return { least: Number(least), most: Number(most), equal: least === most };
  }

  /**
   * SHA-256 over the configuration with the current epoch, in hexadecimal: equal on all ranks that plan alike, and different
   * where anything that decides the plan, or its loads, differs.
   */
  configFingerprint(): string {
    return this.call((raw) => raw.configFingerprint());
  }

  /** Compares the lists of all readers, the workers of rank 0 first, with the shards: none is read twice or not at all. */
  verify(): Verification {
    const { world, workers } = this;
    const offsets = new Uint32Array(world * workers + 1);
    const assigned = new Uint32Array(this.length);
    for (let reader = 0; reader < world * workers; reader++) {
      const shards = this.shards(Math.floor(reader / workers), reader % workers);
      assigned.set(shards, offsets[reader]);
      offsets[reader + 1] = (offsets[reader] as number) + shards.length;
    }
    return verified(this.#engine, this.length, offsets, assigned);
  }

  /** The shards and all options as they stand, for `JSON.stringify` and `fromJSON`. */
  toJSON(): ShardPlanJson {
    return this.#recipe.toJson();
  }

  /** The call that makes an equal plan, with the first shards of many; what `console.log` shows. */
  toString(): string {
    const { sizes, bytes, locality, seed, epoch, ...others } = this.#recipe.config;
    const parts = settings({ ...(bytes.length > 0 && { bytes }), ...others });
    if (locality) parts.push('holders: ..., rankNodes: ...', `tolerance: ${locality.tolerance}`);
    parts.push(...settings({ seed, epoch }));
    return `ShardPlan(${shown(sizes, 16)}, { ${parts.join(', ')} })`;
  }

  #reader(rank: Integer, worker: Integer): [rank: number, worker: number] {
    return [
      natural32('rank', rank, [0n, BigInt(this.world) - 1n]),
      natural32('worker', worker, [0n, BigInt(this.workers) - 1n]),
    ];
  }
}
