import type { PlanningBindings, RawPlan } from '../bindings/types.js';
import { boolean, FROM_ONE, fail, integer, natural32, oneOf, options, S64, U32, U64 } from '../checks.js';
import type { Recipe } from '../engine.js';
import type { Locality, PlanConfig } from '../jco/interfaces/samedeal-deal-shards.js';
import { type Integers, words, words32 } from '../lists.js';
import { type Checks, checked, fromJson, type Given, namesIn, toJson } from '../options.js';
import type { Policy, ShardPlanJson, ShardPlanOptions, Weight, WorkerPolicy } from './types.js';
import { ragged } from './verify.js';

const POLICIES: readonly Policy[] = ['round-robin', 'size-aware', 'locality-aware'];
const WORKER_POLICIES: readonly WorkerPolicy[] = ['round-robin', 'size-aware'];
export const WEIGHTS: readonly Weight[] = ['samples', 'bytes'];

const CHECKS: Checks<Omit<PlanConfig, 'sizes' | 'locality'>> = {
  bytes: (value) => words('bytes', value),
  world: (value) => natural32('world', value, FROM_ONE),
  workers: (value) => natural32('workers', value, FROM_ONE),
  policy: (value) => oneOf('policy', value, POLICIES),
  workerPolicy: (value) => oneOf('worker-policy', value, WORKER_POLICIES),
  weight: (value) => oneOf('weight', value, WEIGHTS),
  shuffle: (value) => boolean('shuffle', value),
  reshuffle: (value) => boolean('reshuffle', value),
  seed: (value) => integer('seed', value, S64),
  epoch: (value) => integer('epoch', value, U64),
};
const USUAL = {
  bytes: [],
  world: 1,
  workers: 1,
  policy: 'round-robin',
  workerPolicy: 'round-robin',
  weight: 'samples',
  shuffle: false,
  reshuffle: false,
  seed: 0,
  epoch: 0,
} as const;
const PLACES = ['holders', 'rankNodes', 'tolerance'] as const;
// In the order in which an error names them.
const [beforePlaces, afterPlaces] = [namesIn(CHECKS).slice(0, 6), namesIn(CHECKS).slice(6)];
const OPTIONS = [...beforePlaces, ...PLACES, ...afterPlaces];

/** What decides a plan, checked as far as it has to be to cross. */
export class PlanRecipe implements Recipe<PlanningBindings, RawPlan> {
  readonly config: PlanConfig;
  readonly size: number;

  constructor(config: PlanConfig) {
    const { sizes, bytes, world, workers, locality } = config;
    this.config = config;
    const nodes = locality ? 12 * (locality.holders.length + locality.rankNodes.length) : 0;
    this.size = 4096 + 96 * sizes.length + 24 * bytes.length + 64 * world * workers + nodes;
  }

  get cause(): readonly [string, string] {
    return ['sizes', `${this.config.sizes.length} shards`];
  }

  toJson(): ShardPlanJson {
    const { sizes, bytes, locality, ...others } = this.config;
    const lists = { sizes, ...(bytes.length > 0 && { bytes }) };
    return { ...toJson({ ...lists, ...others }), ...(locality && placesOf(locality)) } as unknown as ShardPlanJson;
  }

  /** Of the same: what the constructor takes. */
  static ofJson(json: ShardPlanJson): [sizes: Integers, options: ShardPlanOptions] {
    const { sizes, ...given } = fromJson(json, ['sizes', ...OPTIONS]);
    return [sizes as Integers, given as ShardPlanOptions];
  }

  with(epoch: bigint): PlanRecipe {
    return new PlanRecipe({ ...this.config, epoch });
  }

  make(bindings: PlanningBindings): RawPlan {
    return new bindings.shards.Plan(this.config);
  }

  static of(sizes: Integers, given: ShardPlanOptions | undefined): PlanRecipe {
    const named: Given<ShardPlanOptions> = options(given, OPTIONS);
    const locality = localityOf(named);
    return new PlanRecipe({
      sizes: words('sizes', sizes),
      ...checked(CHECKS, named, USUAL),
      ...(locality && { locality }),
    });
  }
}

/** The options that say where shards and ranks are. */
function placesOf({ holderOffsets, holders, rankNodes, tolerance }: Locality) {
  const lists = Array.from(holderOffsets.subarray(1), (end, i) => Array.from(holders.subarray(holderOffsets[i], end)));
  return { holders: lists, rankNodes: Array.from(rankNodes), tolerance };
}

/** Where shards and ranks are, if any of it is given. */
function localityOf({ holders, rankNodes, tolerance }: Given<ShardPlanOptions>): Locality | undefined {
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
