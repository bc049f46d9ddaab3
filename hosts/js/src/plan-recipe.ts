import { boolean, FROM_ONE, fail, integer, natural32, oneOf, options, S64, U32, U64 } from './checks.js';
import { decimal } from './config.js';
import type { Recipe } from './engine.js';
import { type Integers, ragged, words, words32 } from './lists.js';
import type { PlanningBindings, RawPlan, RawPlanConfig } from './plan-raw.js';
import type { Policy, ShardPlanJson, ShardPlanOptions, Weight, WorkerPolicy } from './plan-types.js';

const OPTIONS = [
  'bytes',
  'world',
  'workers',
  'policy',
  'workerPolicy',
  'weight',
  'holders',
  'rankNodes',
  'tolerance',
  'shuffle',
  'reshuffle',
  'seed',
  'epoch',
] as const;
const POLICIES: readonly Policy[] = ['round-robin', 'size-aware', 'locality-aware'];
const WORKER_POLICIES: readonly WorkerPolicy[] = ['round-robin', 'size-aware'];
export const WEIGHTS: readonly Weight[] = ['samples', 'bytes'];

/** What decides a plan, checked as far as it has to be to cross. */
export class PlanRecipe implements Recipe<PlanningBindings, RawPlan> {
  readonly config: RawPlanConfig;
  readonly size: number;

  constructor(config: RawPlanConfig) {
    const { sizes, bytes, world, workers, locality } = config;
    this.config = config;
    const nodes = locality ? 12 * (locality.holders.length + locality.rankNodes.length) : 0;
    this.size = 4096 + 96 * sizes.length + 24 * bytes.length + 64 * world * workers + nodes;
  }

  get cause(): readonly [string, string] {
    return ['sizes', `${this.config.sizes.length} shards`];
  }

  toJson(): ShardPlanJson {
    const { sizes, bytes, locality, seed, epoch, ...others } = this.config;
    const lists = { sizes: Array.from(sizes, String), ...(bytes.length > 0 && { bytes: Array.from(bytes, String) }) };
    return { ...lists, ...others, ...(locality && placesOf(locality)), seed: String(seed), epoch: String(epoch) };
  }

  /** Of the same: what the constructor takes. */
  static ofJson(json: ShardPlanJson): [sizes: Integers, options: ShardPlanOptions] {
    const { sizes, ...given } = options(json, ['sizes', ...OPTIONS]);
    const texts = (list: unknown) => (Array.isArray(list) ? list.map(decimal) : list) as Integers;
    const wide = (['seed', 'epoch'] as const).flatMap((name) => {
      return given[name] === undefined ? [] : [[name, decimal(given[name])]];
    });
    const bytes = given.bytes === undefined ? {} : { bytes: texts(given.bytes) };
    return [texts(sizes), { ...given, ...Object.fromEntries(wide), ...bytes }];
  }

  with(epoch: bigint): PlanRecipe {
    return new PlanRecipe({ ...this.config, epoch });
  }

  make(bindings: PlanningBindings): RawPlan {
    return bindings.plan(this.config);
  }

  static of(sizes: Integers, given: ShardPlanOptions | undefined): PlanRecipe {
    const {
      bytes = [],
      world = 1,
      workers = 1,
      policy = 'round-robin',
      workerPolicy = 'round-robin',
      weight = 'samples',
      shuffle = false,
      reshuffle = false,
      seed = 0,
      epoch = 0,
      ...places
    } = options(given, OPTIONS);
    const locality = localityOf(places);
    return new PlanRecipe({
      sizes: words('sizes', sizes),
      bytes: words('bytes', bytes),
      world: natural32('world', world, FROM_ONE),
      workers: natural32('workers', workers, FROM_ONE),
      policy: oneOf('policy', policy, POLICIES),
      workerPolicy: oneOf('worker-policy', workerPolicy, WORKER_POLICIES),
      weight: oneOf('weight', weight, WEIGHTS),
      ...(locality && { locality }),
      shuffle: boolean('shuffle', shuffle),
      reshuffle: boolean('reshuffle', reshuffle),
      seed: integer('seed', seed, S64),
      epoch: integer('epoch', epoch, U64),
    });
  }
}

/** The options that say where shards and ranks are. */
function placesOf({ holderOffsets, holders, rankNodes, tolerance }: NonNullable<RawPlanConfig['locality']>) {
  const lists = Array.from(holderOffsets.subarray(1), (end, i) => Array.from(holders.subarray(holderOffsets[i], end)));
  return { holders: lists, rankNodes: Array.from(rankNodes), tolerance };
}

/** Where shards and ranks are, if any of it is given. */
function localityOf({
  holders,
  rankNodes,
  tolerance,
}: Pick<ShardPlanOptions, 'holders' | 'rankNodes' | 'tolerance'>): RawPlanConfig['locality'] {
  if (holders === undefined && rankNodes === undefined && tolerance === undefined) return undefined;
  if (holders === undefined) fail('missing', 'holders', '', 'the nodes that hold each shard');
  if (rankNodes === undefined) fail('missing', 'rank-nodes', '', 'the node of each rank');
  const { offsets, values } = ragged('holders', holders, U32);
  return {
    holderOffsets: offsets,
    holders: values,
    rankNodes: words32('rank-nodes', rankNodes, U32),
    tolerance: natural32('tolerance', tolerance === undefined ? 50 : tolerance, U32),
  };
}
