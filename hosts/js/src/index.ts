/**
 * Same seed, same deal, over three WebAssembly components, on Node (20 and later), Deno and Bun, and in what bundlers make.
 * Each component is read and compiled at the first call that needs it, not at the import.
 *
 * @module
 */
import { batchStreamOf } from './batch-stream.js';
import type { Packed, PackOptions, Padded, PadOptions, Tokens } from './batch-types.js';
import { batcherOf } from './batcher.js';
import { batchingInstances } from './batching.js';
import { packWith, padWith } from './collate.js';
import { componentInstances, type Modules } from './component.js';
import { type Bindings, Engine } from './engine.js';
import { type Detection, type DetectOptions, detectWith } from './launch.js';
import { type Ledger, openWith } from './ledger.js';
import { Schedule } from './ledger-schedule.js';
import type { LedgerOptions, Log, LogLines, ReplayOptions } from './ledger-types.js';
import type { Integers } from './lists.js';
import { meshOf } from './mesh.js';
import { modules } from './modules-inline.js';
import { shardPlanOf } from './plan.js';
import type { Verification } from './plan-types.js';
import { planningInstances } from './planning.js';
import { readingOf } from './read/reading.js';
import { type BaseSampler, samplerOf } from './sampler.js';
import { chunkStreamOf } from './stream.js';
import type { Integer } from './types.js';
import { verifyWith } from './verify.js';

export type { Metrics, MetricsJson } from './batch-run.js';
export type * from './batch-types.js';
export { type Failure, type Kind, SamedealError } from './errors.js';
export type { Detection, DetectOptions } from './launch.js';
export { type Attempt, type Claim, type Ledger, MemoryLog } from './ledger.js';
export type { Schedule } from './ledger-schedule.js';
export type * from './ledger-types.js';
export type { Integers } from './lists.js';
export type { Axes, MeshJson } from './mesh.js';
export type * from './plan-types.js';
export type * from './read/types.js';
export type * from './types.js';
export { version } from './version.js';

/** The engine over a component, made when it is first asked for. */
function lazily<B extends Bindings>(instances: (modules: Modules) => () => B): () => Engine<B> {
  let engine: Engine<B> | undefined;
  return () => {
    engine ??= new Engine(instances(modules));
    return engine;
  };
}

const dealing = lazily(componentInstances);
const planning = lazily(planningInstances);
const batching = lazily(batchingInstances);

/** The samples of one rank in one epoch. */
export class Sampler extends samplerOf(dealing) {}

/** The names of the orders that this version knows, the default first; without `sharded`, which `Sampler.sharded` makes. */
export const orders = (): string[] => dealing().once(['orders', ''], 0, ({ orders }) => orders());

/** Whole shards, given to every worker of every rank, for one epoch. */
export class ShardPlan extends shardPlanOf(planning) {}

/** What every loader worker of every rank reads of an epoch, or of what is left of it. It never changes. */
export class Reading extends readingOf(planning) {}

/** Chunks that are read without end. */
export class ChunkStream extends chunkStreamOf(planning) {}

/**
 * Compares what readers really have, a list of shards for each, with the shards 0 to `shards` - 1. Errors: `shards`,
 * `assigned` (no such shard), memory.
 */
export const verifyShards = (shards: Integer, assigned: readonly Integers[]): Verification =>
  verifyWith(planning(), shards, assigned);

/**
 * Begins the log of a ledger, or joins the one that is there: for the positions of the sampler's epoch that are not consumed,
 * whatever its rank and world. Each block of them goes to the reader that claims it first; what a reader that dies has not
 * committed goes to others after a lease. What this reader held in a former life is given back; a process that has the log open
 * with the same reader number can claim no more. Errors: `reader`, `block`, `lease`, `checkpoint-interval`, `sampler`, `log`;
 * `order`, `samples`, `seed`, `epoch`, `consumed`, `block`, `state` (the log is of something else), `entry`, those of the log.
 */
export const openLedger = (sampler: BaseSampler, log: Log, options: LedgerOptions): Promise<Ledger> =>
  openWith(planning(), Sampler, sampler, log, options);

/**
 * The schedule of a log once more, for one of any number of readers. `lines` are its entries, or a file of them, as text or as bytes.
 * Errors: `reader`, `readers`, `lines`, `entry`, `state`, `block` (it is no log).
 */
export const replayLedger = (lines: LogLines, options?: ReplayOptions): Schedule =>
  new Schedule(planning(), Sampler, lines, options);

/** The batches of an epoch of sequences of different length: as many steps on every rank, none over its budget. */
export class Batcher extends batcherOf(batching) {}

/** Batches of sequences whose lengths are not known up front. */
export class BatchStream extends batchStreamOf(batching) {}

/**
 * A row for each sequence, as wide as the longest. `sequences` are typed arrays of one type, or with `offsets` one of
 * them. Errors: `width` (below the longest), `lengths` (more than 2^26 cells), `sequences`, `offsets`, `paddingValue`,
 * memory.
 */
export const collatePad = <T extends Tokens>(sequences: readonly T[] | T, options?: PadOptions): Padded<T> =>
  padWith(batching(), sequences, options);

/**
 * Rows that sequences share, one after the other, with what keeps them apart in attention. Errors: `rowEnds` (do not ascend
 * to the number of sequences; a row of more than `width`), `lengths` (more than 2^26 cells), `sequences`, `offsets`,
 * `paddingValue`, memory.
 */
export const collatePack = <T extends Tokens>(sequences: readonly T[] | T, options?: PackOptions): Packed<T> =>
  packWith(batching(), sequences, options);

/** From the rank of a process to its share of the data, where not every rank reads different data. */
export class Mesh extends meshOf(dealing) {}

// The global one: as a module, it would make streams of its input and output at the import. A page has none.
const environment = (): NodeJS.ProcessEnv => globalThis.process?.env ?? {};

/**
 * Which rank this process is, from the variables that launchers set: explicit values win; then the first of torchrun, Open
 * MPI, MVAPICH, PMI and Slurm whose rank is set. LOCAL_RANK counts only on one node. Errors name the variable: no number,
 * too large, not below its world, or missing.
 */
export const detectRank = (options?: DetectOptions): Detection => detectWith(dealing(), environment(), options);
