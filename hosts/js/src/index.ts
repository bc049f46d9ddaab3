/**
 * Same seed, same deal: the API over one WebAssembly component, for Node (20 and later), Deno, Bun, and bundles. The
 * component is read and compiled at the first call, not at the import. (`samedeal/web` has this API, and `init`:
 * scripts/build.mjs replaces the engines here by those of a page.)
 *
 * @module
 */
import { BaseBatcher, joinIndicesWith } from './batch/batcher.js';
import { packWith, padWith } from './batch/collate.js';
import { BaseBatchStream } from './batch/stream.js';
import type { Packed, PackOptions, Padded, PadOptions, Tokens } from './batch/types.js';
import { BaseSampler } from './deal/sampler.js';
import { component, light } from './engine/engines.js';
import { over } from './engine.js';
import type { Detection } from './generated/launch.js';
import type { Difference, TextKind } from './generated/texts.js';
import { type Ledger, openWith } from './ledger/ledger.js';
import { LedgerReplay } from './ledger/replay.js';
import type { LedgerOptions, Log, LogLines, ReplayOptions } from './ledger/types.js';
import { BaseReading } from './read/reading.js';
import { BaseShardPlan } from './shard/plan.js';
import { BaseChunkStream } from './shard/stream.js';
import type { Verification } from './shard/types.js';
import { verifyWith } from './shard/verify.js';
import { BaseSplit } from './split/split.js';
import { BaseSchedule } from './steps/schedule.js';
import { differencesWith, inspectWith, wholeWeightsWith } from './texts.js';
import { type DetectOptions, detectWith } from './topology/launch.js';
import { BaseMesh } from './topology/mesh.js';
import type { Integer, Integers, SavedState } from './types.js';

export type { Metrics, MetricsJson } from './batch/run.js';
export type * from './batch/types.js';
export type { Counted } from './counted.js';
export { type Failure, type Kind, SamedealError } from './errors.js';
export type { BatchPlace, BatchShape } from './generated/batches.js';
export type { Detection } from './generated/launch.js';
export type { CommittedRun, LedgerEvent } from './generated/ledger.js';
export type { MixingAdvice, ReadRound, SuggestedLanes } from './generated/readings.js';
export type { Fate, Place, Round, ShardPlace, ShortEpochs, SourcePlace } from './generated/sampling.js';
export type { EpochPosition, StepPlace } from './generated/steps.js';
export type { Difference, TextKind } from './generated/texts.js';
export type { Spans } from './generated/types.js';
export { type Attempt, type Claim, type Ledger, MemoryLog } from './ledger/ledger.js';
export type { LedgerReplay } from './ledger/replay.js';
export type * from './ledger/types.js';
export { balance, blend, grown, order, sharded, weighted, windows } from './order/make.js';
export type { BlendSource, BlendSources, Order, OrderOrSamples } from './order/order.js';
export type * from './order/types.js';
export type * from './read/types.js';
export type * from './shard/types.js';
export type * from './split/types.js';
export type * from './steps/types.js';
export type { DetectOptions } from './topology/launch.js';
export type { Axes, MeshJson } from './topology/mesh.js';
export type * from './types.js';
export { version } from './version.js';

/**
 * The samples of one rank in one epoch. `samples` is their number (0 to 2^53 - 1; up to 2^32 - 1 if the order needs a
 * table), or an order that `blend`, `order` and their like made. Errors (`SamedealError`): a value out of its range or
 * of the wrong type, an unknown name, values that do not fit together, memory.
 *
 * With `copies` of an order and `unit`, several answers to a prompt come on one rank.
 *
 * @example
 * const prompts = order('feistel', { samples: 100, seed: 7 }).copies(4);
 * const sampler = new Sampler(prompts, { unit: 4, worldSize: 2, rank: 1 });
 * console.log(sampler.indices(0, 8).join(' ')); // 45 45 45 45 22 22 22 22
 */
export class Sampler extends over(BaseSampler, light) {}

/**
 * The names of the plain orders, which need only a number of samples and a seed, the default first. `sharded`, which
 * `Sampler.sharded` makes, and orders that are made of others are not among them.
 */
export const plainOrders = (): string[] => light().once(['plainOrders', ''], 0, ({ plainOrders }) => plainOrders());

/**
 * A plan that gives whole shards to the workers of all ranks, for one epoch; every shard has exactly one reader.
 * `sizes` has the number of samples of each shard. Errors (`SamedealError`): a value out of its range or of the wrong
 * type, an unknown name, values that do not fit together, memory.
 */
export class ShardPlan extends over(BaseShardPlan, component) {}

/**
 * The samples that every loader worker of every rank reads in an epoch, or in the rest of one. It is made from the
 * number of samples in each shard, or from an order of shards, such as a blend of `sharded` ones, and begins with the
 * whole of epoch 0. A reading never changes. Errors (`SamedealError`): a value out of its range or of the wrong type,
 * an unknown name, an option that the deal does not use, `samples` (with `pad`, all samples and the padding are more
 * than 2^53 - 1), memory.
 */
export class Reading extends over(BaseReading, component) {}

/**
 * The chunks of reader number `reader` of `readers`: those at places `reader`, `reader` + `readers`, ... of an endless
 * sequence of chunks. The sequence is 0, 1, 2, and so on; or, if the number of chunks is known, one cycle through all
 * chunks after the other. Errors (`SamedealError`): a value out of its range or of the wrong type, an unknown order, an
 * order of an unknown number of chunks.
 */
export class ChunkStream extends over(BaseChunkStream, component) {}

/**
 * A split into parts such as training, validation and test: it says which part each sample is in. `parts` has their
 * names and weights. An *id* is the index of a sample, or the number of a group whose samples have to stay together, or
 * a text. The part of an id follows from a hash of the seed and the id, so it stays the same if data are added. List
 * `test` first, then `validation`, then `training`: if a part gets more weight, and the next one as much less, ids move
 * from the next one to this part only. A split never changes. Errors (`SamedealError`): `parts` (none; more than 2^16),
 * `name` (of 0 or more than 256 bytes), `part` (a name in a `Map` that is no text), `weight` (all together 0, or above
 * 2^53 - 1), `options`, `seed`, memory.
 *
 * @example
 * const split = new Split({ test: 5, validation: 5, training: 90 }, { seed: 7 });
 * const training = order('feistel', { samples: 1000 }).subset(split.indices('training', 1000));
 */
export class Split extends over(BaseSplit, component) {}

/**
 * Compares the shards that readers really have (`assigned`, a list for each reader) with the shards 0 to `numShards` - 1.
 * Errors: `numShards`, `assigned` (no such shard), memory.
 */
export const verifyShards = (numShards: Integer, assigned: readonly Integers[]): Verification =>
  verifyWith(component(), numShards, assigned);

/**
 * Begins the log of a ledger, or joins an existing one. The ledger has the positions of the sampler's epoch that are
 * not consumed, whatever the sampler's rank and world size. Each block of positions goes to the reader that claims it
 * first. After a lease, other readers get the blocks that a dead reader claimed and did not commit. Claims of an
 * earlier process with this reader number are released; if that process still has the log open, it can claim no more.
 * Errors: for an argument, `reader`, `block_size`, `lease_ms`, `checkpoint_interval`, `sampler` or `log`. If the log is of another
 * run, `block_size`, `state` or the first member of the state that differs. `entry`, if an entry of the log is not valid. And what the methods of
 * `log` throw.
 */
export const openLedger = (sampler: BaseSampler, log: Log, options: LedgerOptions): Promise<Ledger> =>
  openWith(component(), Sampler, sampler, log, options);

/**
 * A replay of a log: its committed runs again, for one of any number of readers. `lines` are its entries, or a file of
 * them, as text or as bytes. Errors: `reader`, `readers`, `lines`, `entry`, `state`, `block_size` (it is no log).
 */
export const replayLedger = (lines: LogLines, options?: ReplayOptions): LedgerReplay =>
  new LedgerReplay(component(), Sampler, lines, options);

/**
 * The batches of an epoch of sequences, from their lengths in tokens: the same number of steps on every rank, and no
 * batch over its limit. A window of samples is planned at a time, when it is needed. First the lengths of up to 2^14
 * samples are read, which stand for all; then only those of the windows that are planned. Errors (`SamedealError`): a
 * value out of its range or of the wrong type, a sample that is too long, an unknown name, an option that the strategy
 * needs and that is missing, one that it does not use, buckets that do not ascend, memory.
 *
 * @example
 * const mixed = blend({ web: [3, 1], code: [2, 1] }, { seed: 7 });
 * const batcher = new Batcher({ web: [5, 6, 7], code: [8, 9] }, { order: mixed, maxTokens: 20 });
 * console.log(batcher.numSteps(), batcher.batch(0).lengths.join(' ')); // 3 5
 */
export class Batcher extends over(BaseBatcher, component) {}

/**
 * Joins the parts of an index, which `index` of a batcher returned, to one index. They may be in any order. Errors:
 * `index` (no parts; a part is no index, or was changed), `recipeFingerprint`, `epoch`, `windows` (a part is of other
 * batches), `first` (windows are missing, or a part repeats only some windows of the parts before it), `lengths` (two
 * parts have a window that was planned with different lengths), memory.
 */
export const joinIndices = (parts: readonly (string | Uint8Array)[]): string => joinIndicesWith(component(), parts);

/**
 * The batches of one rank, from samples whose lengths are not known up front. They are the batches of a `Batcher` with
 * the order `sequential`. Push samples, and take the batches of one window at a time: a window is ready when 1.5 times
 * its number of samples wait. Every rank pushes all samples. Errors (`SamedealError`): as `Batcher`.
 */
export class BatchStream extends over(BaseBatchStream, component) {}

/**
 * The steps of a whole training, over the ends of epochs: which samples each rank takes at every global step. A step
 * takes the next `batchSize` samples of the order, whatever epoch they are of, and deals them to the ranks. Nothing is
 * padded or dropped, and the samples of a step do not depend on the number of ranks. Use it if the training counts
 * steps, or if the batch size changes. A schedule never changes. Errors (`SamedealError`): those of `Sampler`, and
 * `globalBatchSize` (no multiple of `worldSize` * `unit`; missing for step 0), `from` (steps do not ascend).
 *
 * @example
 * const schedule = new Schedule(1000, [[0, 64], [500, 128]], { seed: 7, worldSize: 8, rank: 3 });
 * console.log(schedule.batch(500).length, schedule.placeOf(500)); // 16 { epoch: 32, position: 0 }
 * const place = schedule.locate(1);
 * if (place) console.log(place.step, place.rank, place.indexInBatch); // 11 4 1
 *
 * const state = new Schedule(1000, 64, { seed: 7, worldSize: 8 }).state(500);
 * console.log(schedule.resume(state)); // 500
 */
export class Schedule extends over(BaseSchedule, component) {}

/**
 * Finds out what a text is by its members: a recipe, a state, the log of a ledger or an index of batches, and of which
 * kind of object. The members are not checked. A state may also be given as `fromState` takes it: the bytes of a file, or the dictionary of
 * Python. Errors: `text` (no JSON object; none of these; more than 2^24 bytes), `samedeal` (another version), `kind`
 * (no kind of text), memory.
 *
 * @example
 * console.log(inspect(new Sampler(1000).state(10))); // { form: 'state', of: 'sampler' }
 */
export const inspect = (text: string | Uint8Array | SavedState): TextKind => inspectWith(component(), text);

/**
 * The members that differ between two recipes, states, entries of a log, or other JSON objects: first those of `one`,
 * in its order, then those that only `other` has. In a recipe, members that are not there have their defaults; a recipe
 * that needs lists beside it is compared as it is. `differences(text, '{}')` has all members. Errors: `one`, `other`
 * (no JSON object; a member twice; more than 2^24 bytes), `samedeal`, `kind` (another type), memory.
 *
 * @example
 * const [one, other] = [42, 43].map((seed) => new Sampler(1000, { seed }).recipe);
 * console.log(differences(one, other)); // [ { path: 'order.seed', one: '42', other: '43', decides: 'order' } ]
 */
export const differences = (
  one: string | Uint8Array | SavedState,
  other: string | Uint8Array | SavedState,
): Difference[] => differencesWith(component(), one, other);

/**
 * Whole numbers in the proportions of weights that are floats: 7 and 3 for 0.7 and 0.3. Use it for `weighted`, and for
 * `balance` with the option `samples`. Decimals with up to 15 digits after the point keep their proportions exactly, if
 * they add up to less than 2^52 without the point (0.7 and 0.25 are 70 and 25), and so do whole numbers; others are
 * rounded to about 2^-53 of their sum. Every language gets the same numbers. Errors: `weights` (no number; negative,
 * infinite or NaN; above 0, and would become 0), memory.
 *
 * @example
 * const often = weighted(wholeWeights([0.7, 0.25]), { samples: 19 });
 */
export const wholeWeights = (weights: readonly number[] | Float64Array | Float32Array): BigUint64Array =>
  wholeWeightsWith(component(), weights);

/**
 * Pads sequences: a row for each of them, as wide as the longest. `sequences` are typed arrays of one type, or with
 * `offsets` a single one. Errors: `width` (below the longest), `side`, `padToMultipleOf`, `lengths` (more than 2^26
 * cells), `sequences`, `offsets`, `paddingValue`, memory.
 */
export const collatePad = <T extends Tokens>(sequences: readonly T[] | T, options?: PadOptions): Padded<T> =>
  padWith(component(), sequences, options);

/**
 * Packs sequences: several in a row, one after the other, and the numbers that keep them apart in attention. Errors:
 * `rowEnds` (do not ascend to the number of sequences; a row of more than `width`), `lengths` (more than 2^26 cells),
 * `sequences`, `offsets`, `paddingValue`, memory.
 */
export const collatePack = <T extends Tokens>(sequences: readonly T[] | T, options?: PackOptions): Packed<T> =>
  packWith(component(), sequences, options);

/**
 * All ranks of a job as a grid, the last axis counting fastest: it turns the rank of a process into its share of the
 * data. `shard` names the axes along which ranks get different samples (data parallelism); along the other axes they
 * get the same (tensor, context, pipeline parallelism). Errors (`SamedealError`): a value out of its range or of the
 * wrong type, an unknown name in `shard`, axes whose sizes do not multiply to `worldSize`.
 */
export class Mesh extends over(BaseMesh, light) {}

// The global `process`, since an import of the module would open streams for input and output. A page has no `process`.
const environment = (): NodeJS.ProcessEnv => globalThis.process?.env ?? {};

/**
 * The rank of this process, from the variables that launchers set. Explicit values win; then the first of torchrun,
 * Open MPI, MVAPICH, PMI, JSM, Flux and Slurm whose rank is set. LOCAL_RANK counts only on one node. Errors name the
 * variable: no number, too large, not below its world size, or missing.
 */
export const detectRank = (options?: DetectOptions): Detection => detectWith(light(), environment(), options);
