import { dropsLast, FROM_ONE, fail, integer, natural32, oneOf, U64 } from './checks.js';
import { plain, source } from './config.js';
import { type Engine, Handle, symbolDispose, symbolInspect } from './engine.js';
import { type Integers, numbers, shown } from './lists.js';
import type { PlanningBindings, RawPlan } from './plan-raw.js';
import { PlanRecipe, WEIGHTS } from './plan-recipe.js';
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
} from './plan-types.js';
import type { BatchOptions, Integer } from './types.js';
import { verified } from './verify.js';

const TIERS: readonly Tier[] = ['ranks', 'workers'];

/** How many numbers one call hands out. */
const WINDOW = 1 << 20;

/** What `ShardPlan` is, over any instance of its engine. */
export abstract class BaseShardPlan {
  readonly #engine: Engine<PlanningBindings>;
  readonly #handle: Handle<PlanningBindings, RawPlan>;
  #recipe: PlanRecipe;

  /** @internal */
  constructor(engine: Engine<PlanningBindings>, sizes: Integers, given?: ShardPlanOptions) {
    this.#recipe = PlanRecipe.of(sizes, given);
    this.#engine = engine;
    this.#handle = new Handle(engine, this, 'plan', this.#recipe);
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
    this.#call((raw) => raw.setEpoch(moved.config.epoch));
    // Nothing here may throw: the recipe is what the plan would be made again by.
    this.#recipe = moved;
    this.#handle.recipe = moved;
  }

  /** How many shards a reader has. Errors: `rank`, `worker`. */
  numShards(rank: Integer, worker: Integer = 0): number {
    const reader = this.#reader(rank, worker);
    return this.#call((raw) => raw.numShards(...reader));
  }

  /** A reader's shards, in the order in which it reads them. Errors: `rank`, `worker`. */
  shards(rank: Integer, worker: Integer = 0): Uint32Array<ArrayBuffer> {
    const reader = this.#reader(rank, worker);
    const out = new Uint32Array(this.#call((raw) => raw.numShards(...reader)));
    for (let at = 0; at < out.length; at += WINDOW) {
      out.set(
        this.#call((raw) => raw.shards(...reader, at, Math.min(WINDOW, out.length - at))),
        at,
      );
    }
    return out;
  }

  /** What every rank, or every worker, has to read. */
  loads(tier: Tier): Loads {
    const whose = oneOf('tier', tier, TIERS);
    const members = this.world * (whose === 'ranks' ? 1 : this.workers);
    const four = () => new Float64Array(members);
    const [shards, samples, bytes, local] = [four(), four(), four(), four()];
    for (let start = 0; start < members; start += WINDOW) {
      const flat = numbers(this.#call((raw) => raw.loads(whose, start, Math.min(WINDOW, members - start))));
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
    const { members, ...loads } = this.#call((raw) => raw.balance(whose, what));
    const [least, most, total] = [Number(loads.least), Number(loads.most), Number(loads.total)];
    return { least, most, total, members, imbalance: total === 0 ? 1 : (most * members) / total };
  }

  /**
   * The rows of a shard number `start` to `end` - 1, by default all of them, in the order in which its reader gives them:
   * shuffled within the shard by seed, epoch and shard, whether or not anything else is. (Who wants them as they are
   * stored does not ask.) Errors: `shard`, `start`, `end` (out of range), memory.
   */
  rows(shard: Integer, start: Integer = 0, end?: Integer): Float64Array<ArrayBuffer> {
    const number = Number(integer('shard', shard, [0n, BigInt(this.length) - 1n]));
    const size = this.#recipe.config.sizes[number] as bigint;
    const first = integer('start', start, [0n, size]);
    const last = integer('end', end === undefined ? size : end, [first, size]);
    const count = Number(last - first);
    const out = array(count);
    for (let at = 0; at < count; at += WINDOW) {
      const from = first + BigInt(at);
      out.set(numbers(this.#call((raw) => raw.rows(number, from, Math.min(WINDOW, count - at)))), at);
    }
    return out;
  }

  /** How many steps ranks take with batches that each worker forms from its own samples. Errors: `batchSize`. */
  steps(batchSize: Integer, given?: BatchOptions): Steps {
    const size = natural32('batch-size', batchSize, FROM_ONE);
    const dropLast = dropsLast(given);
    const { least, most } = this.#call((raw) => raw.steps(size, dropLast));
    return { least: Number(least), most: Number(most), equal: least === most };
  }

  /**
   * SHA-256 over the configuration with the current epoch, in hexadecimal: equal on all ranks that plan alike, and different
   * where anything that decides the plan, or its loads, differs.
   */
  configFingerprint(): string {
    return this.#call((raw) => raw.configFingerprint());
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
    const settings = Object.entries(others).map(([name, value]) => {
      return `${name}: ${typeof value === 'string' ? `'${value}'` : value}`;
    });
    if (bytes.length > 0) settings.unshift(`bytes: ${shown(bytes, 16)}`);
    if (locality) settings.push('holders: ..., rankNodes: ...', `tolerance: ${locality.tolerance}`);
    settings.push(`seed: ${source(seed)}`, `epoch: ${source(epoch)}`);
    return `ShardPlan(${shown(sizes, 16)}, { ${settings.join(', ')} })`;
  }

  /** @internal */
  [symbolInspect](): string {
    return this.toString();
  }

  /** Frees the engine's memory now rather than when the plan is collected; it cannot be used afterwards. */
  dispose(): void {
    this.#handle.dispose();
  }

  /** The same as `dispose()`, for `using`. */
  [symbolDispose](): void {
    this.dispose();
  }

  #reader(rank: Integer, worker: Integer): [rank: number, worker: number] {
    return [
      natural32('rank', rank, [0n, BigInt(this.world) - 1n]),
      natural32('worker', worker, [0n, BigInt(this.workers) - 1n]),
    ];
  }

  #call<T>(call: (raw: RawPlan) => T): T {
    return this.#handle.call(call);
  }
}

function array(count: number): Float64Array<ArrayBuffer> {
  try {
    return new Float64Array(count);
  } catch {
    fail('out-of-memory', 'count', count, 'a shorter run of rows');
  }
}

/** What `shardPlanOf` makes. */
export interface ShardPlanClass {
  /**
   * Gives shards of so many samples to the workers of all ranks; every shard has exactly one reader. Errors
   * (`SamedealError`): a value out of its range or of the wrong type, an unknown name, values that do not fit together,
   * memory.
   */
  new (sizes: Integers, options?: ShardPlanOptions): BaseShardPlan;
  fromJSON: typeof BaseShardPlan.fromJSON;
}

/** The class of an entry, over the engine that `engine` gives when the first plan is made. */
export function shardPlanOf(engine: () => Engine<PlanningBindings>): ShardPlanClass {
  return class extends BaseShardPlan {
    constructor(sizes: Integers, options?: ShardPlanOptions) {
      super(engine(), sizes, options);
    }
  };
}
