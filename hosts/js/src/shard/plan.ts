import { flag, integer, span, string, U64, u32 } from '../checks.js';
import type { ComponentBindings } from '../engine/types.js';
import type { Engine } from '../engine.js';
import { MAX_COUNT } from '../generated/limits.js';
import { ShardPlanMembers } from '../generated/shards.js';
import { gathered, numbers } from '../lists.js';
import { MILLION } from '../options.js';
import type { BalanceBy, BatchOptions, Integer, Integers } from '../types.js';
import { PlanRecipe } from './recipe.js';
import { stepsOf } from './steps.js';
import type {
  LoadSummary,
  Loads,
  ShardPlanJson,
  ShardPlanOptions,
  ShardPlanRecipeOptions,
  Steps,
  Tier,
  Verification,
} from './types.js';
import { verified } from './verify.js';

type Class<T> = new (sizes: Integers, options?: ShardPlanOptions) => T;

/** The members of `ShardPlan`. An entry point such as index.ts adds the engine. */
export abstract class BaseShardPlan extends ShardPlanMembers {
  readonly #engine: Engine<ComponentBindings>;
  #recipe: PlanRecipe;
  #sizes: Float64Array<ArrayBuffer> | undefined;

  /** @internal */
  constructor(engine: Engine<ComponentBindings>, sizes: Integers, options?: ShardPlanOptions) {
    const recipe = options instanceof PlanRecipe ? options : PlanRecipe.of(sizes, options);
    super(engine, 'plan', recipe);
    this.#recipe = recipe;
    this.#engine = engine;
  }

  /**
   * The plan of a recipe: an object, or a text of JSON. `shards` has the options of the constructor, and `deal` has
   * `world_size` and `workers`, by the names that all languages share. A member that is not there has its default. Give
   * the lists of which the recipe has only the hash, or which it leaves out. Errors: as the constructor, `recipe` (it
   * is no JSON object), `recipe`, `shards` or `deal` (this object has an unknown member).
   */
  static fromRecipe<T>(this: Class<T>, recipe: string | object, options?: ShardPlanRecipeOptions): T {
    return new this([], PlanRecipe.read(recipe, options) as unknown as ShardPlanOptions);
  }

  /** The plan that `toJSON` wrote. Errors: as `fromRecipe`. */
  static fromJSON<T>(this: Class<T>, json: ShardPlanJson | string): T {
    return new this([], PlanRecipe.ofJson(json) as unknown as ShardPlanOptions);
  }

  /** How many shards there are. */
  get length(): number {
    return this.#counts().length;
  }

  /**
   * Plans another epoch, at the cost of the constructor. Errors: `epoch`, memory; then the old epoch is still planned.
   */
  setEpoch(epoch: Integer): void {
    const recipe = this.#recipe.at(integer('epoch', epoch, U64));
    if (recipe.epoch === this.#recipe.epoch) return;
    this.move(
      (raw) => raw.atEpoch(recipe.epoch),
      () => ({ recipe }),
    );
    this.#recipe = recipe;
  }

  /** A reader's shards, in the order in which it reads them. Errors: `rank`, `worker`. */
  shards(rank: Integer, worker: Integer = 0): Uint32Array<ArrayBuffer> {
    const count = this.numShards(rank, worker);
    const read = (at: number, count: number) => this.call((raw) => raw.shards(Number(rank), Number(worker), at, count));
    return gathered(Uint32Array, count, MAX_COUNT, 'shards', read);
  }

  /** The work of every rank, or of every worker. Errors: `tier`. */
  loads(tier: Tier): Loads {
    const whose = string('tier', tier);
    const members = this.worldSize * (whose === 'workers' ? this.workers : 1);
    const columns: Record<string, Float64Array> = {};
    for (let start = 0; start < members; start += MAX_COUNT) {
      const found = this.call((raw) => raw.loads(whose, start, Math.min(MAX_COUNT, members - start)));
      for (const { name, numbers: part } of found) {
        columns[name] ??= new Float64Array(members);
        columns[name].set(numbers(part), start);
      }
    }
    return columns as unknown as Loads;
  }

  /** How evenly the samples, or the bytes, are spread over the ranks or the workers. Errors: `tier`, `balanceBy`, `bytes` (missing). */
  loadSummary(tier: Tier, balanceBy: BalanceBy = 'samples'): LoadSummary {
    const [whose, what] = [string('tier', tier), string('balance_by', balanceBy)];
    const { members, imbalance, ...loads } = this.call((raw) => {
      return { ...raw.loadSummary(whose, what), imbalance: Number(raw.imbalance(whose, what)) / MILLION };
    });
    const [min, max, total] = [Number(loads.min), Number(loads.max), Number(loads.total)];
    return { min, max, total, members, imbalance };
  }

  /**
   * The rows of a shard, from number `start` to `end` - 1 (by default all of them), in the order in which its reader
   * returns them: with `shuffleRows`, shuffled by seed, epoch and shard; else as they are stored. Errors: `shard`,
   * `start`, `end` (out of range), memory.
   */
  rows(shard: Integer, start: Integer = 0, end?: Integer): Float64Array<ArrayBuffer> {
    const number = Number(integer('shard', shard, [0n, BigInt(this.length) - 1n]));
    const size = BigInt(this.#counts()[number] as number);
    const [first, last] = span(start, end, size);
    const read = (at: number, count: number) => {
      return numbers(this.call((raw) => raw.rows(number, first + BigInt(at), count)));
    };
    return gathered(Float64Array, Number(last - first), MAX_COUNT, 'rows', read);
  }

  /**
   * The fewest and the most steps of a rank, if each worker forms batches from its own samples. Errors: `batchSize`.
   */
  steps(batchSize: Integer, options?: BatchOptions): Steps {
    const size = u32('batch_size', batchSize, (other) => this.steps(other, options));
    const dropLast = flag('drop_last', 'dropLast', options);
    return stepsOf(this.call((raw) => raw.stepBounds(size, dropLast)));
  }

  /**
   * Compares the lists of all readers with the shards: a shard that is read twice or not at all is a fault. Readers are
   * numbered by rank, then by worker.
   */
  verify(): Verification {
    const { worldSize, workers } = this;
    const offsets = new Uint32Array(worldSize * workers + 1);
    const assigned = new Uint32Array(this.length);
    for (let reader = 0; reader < worldSize * workers; reader++) {
      const shards = this.shards(Math.floor(reader / workers), reader % workers);
      assigned.set(shards, offsets[reader]);
      offsets[reader + 1] = (offsets[reader] as number) + shards.length;
    }
    return verified(this.#engine, this.length, offsets, assigned);
  }

  /** The recipe as it was given, and the epoch, for `JSON.stringify` and `fromJSON`. */
  toJSON(): ShardPlanJson {
    const { document, epoch } = this.#recipe;
    return document.toJson({ epoch: String(epoch) });
  }

  #counts(): Float64Array<ArrayBuffer> {
    this.#sizes ??= this.sizes;
    return this.#sizes;
  }
}
