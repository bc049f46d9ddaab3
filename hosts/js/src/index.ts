/**
 * Same seed, same deal, on Node (20 and later), Deno and Bun, over two WebAssembly components. Each is read and compiled
 * at the first call that needs it, not at the import.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { type ComponentBindings, componentInstances } from './component.js';
import { Engine } from './engine.js';
import { type Detection, type DetectOptions, detectWith } from './launch.js';
import type { Integers } from './lists.js';
import { meshOf } from './mesh.js';
import { shardPlanOf } from './plan.js';
import type { PlanningBindings } from './plan-raw.js';
import type { Verification } from './plan-types.js';
import { planningInstances } from './planning.js';
import { samplerOf } from './sampler.js';
import { chunkStreamOf } from './stream.js';
import type { Integer } from './types.js';
import { verifyWith } from './verify.js';

export { type Failure, type Kind, SamedealError } from './errors.js';
export type { Detection, DetectOptions } from './launch.js';
export type { Integers } from './lists.js';
export type { Axes } from './mesh.js';
export type * from './plan-types.js';
export type * from './types.js';
export { version } from './version.js';

const compile = (file: string) => new WebAssembly.Module(readFileSync(new URL(`jco/${file}`, import.meta.url)));
let dealing: Engine<ComponentBindings> | undefined;
let planning: Engine<PlanningBindings> | undefined;

function engine(): Engine<ComponentBindings> {
  dealing ??= new Engine(componentInstances(compile));
  return dealing;
}

function planner(): Engine<PlanningBindings> {
  planning ??= new Engine(planningInstances(compile));
  return planning;
}

/** The samples of one rank in one epoch. */
export class Sampler extends samplerOf(engine) {}

/** The names of the orders that this version knows, the default first; without `sharded`, which `Sampler.sharded` makes. */
export const orders = (): string[] => engine().once(['orders', ''], 0, ({ orders }) => orders());

/** Whole shards, given to every worker of every rank, for one epoch. */
export class ShardPlan extends shardPlanOf(planner) {}

/** Chunks that are read without end. */
export class ChunkStream extends chunkStreamOf(planner) {}

/**
 * Compares what readers really have, a list of shards for each, with the shards 0 to `shards` - 1. Errors: `shards`,
 * `assigned` (no such shard), memory.
 */
export const verifyShards = (shards: Integer, assigned: readonly Integers[]): Verification =>
  verifyWith(planner(), shards, assigned);

/** From the rank of a process to its share of the data, where not every rank reads different data. */
export class Mesh extends meshOf(engine) {}

// The global one: as a module, it would make streams of its input and output at the import.
const { process } = globalThis;

/**
 * Which rank this process is, from the variables that launchers set: explicit values win; then the first of torchrun, Open
 * MPI, MVAPICH, PMI and Slurm whose rank is set. LOCAL_RANK counts only on one node. Errors name the variable: no number,
 * too large, not below its world, or missing.
 */
export const detectRank = (options?: DetectOptions): Detection => detectWith(engine(), process.env, options);
