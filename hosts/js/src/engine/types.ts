// The types of the component's exports and of their values: those of `wit/`, as jco writes them, and the part that the
// light build has, too.

import type * as Batches from '../components/interfaces/samedeal-deal-batches.js';
import type * as Collation from '../components/interfaces/samedeal-deal-collation.js';
import type * as Launch from '../components/interfaces/samedeal-deal-launch.js';
import type * as Ledgers from '../components/interfaces/samedeal-deal-ledger.js';
import type * as Grid from '../components/interfaces/samedeal-deal-mesh.js';
import type * as Readings from '../components/interfaces/samedeal-deal-readings.js';
import type * as Samplings from '../components/interfaces/samedeal-deal-sampling.js';
import type * as Shards from '../components/interfaces/samedeal-deal-shards.js';
import type * as Splits from '../components/interfaces/samedeal-deal-splits.js';
import type * as Steps from '../components/interfaces/samedeal-deal-steps.js';
import type * as Texts from '../components/interfaces/samedeal-deal-texts.js';
import type { Bindings } from '../engine.js';

/**
 * A type of jco, plus what jco does not say: an array that is returned is a copy, with memory of its own. The functions
 * check no argument: numbers outside their range wrap around. Failures are thrown as plain objects.
 */
export type Copied<T> = T extends BigUint64Array
  ? BigUint64Array<ArrayBuffer>
  : T extends Uint32Array
    ? Uint32Array<ArrayBuffer>
    : T extends new (
          ...args: infer A
        ) => infer R
      ? { new (...args: A): Copied<R> } & { [Name in keyof T]: Copied<T[Name]> }
      : T extends (...args: infer A) => infer R
        ? (...args: A) => Copied<R>
        : T extends object
          ? { [Name in keyof T]: Copied<T[Name]> }
          : T;

/** The interfaces of samplers and of ledgers. `ComponentBindings` has them in another form. */
export type Sampling = Copied<typeof Samplings>;
export type LedgerBindings = Copied<typeof Ledgers>;
export type RawSampler = Copied<Samplings.Sampler>;
export type RawMesh = Copied<Grid.Mesh>;
export type RawPlan = Copied<Shards.Plan>;
export type RawChunkStream = Copied<Shards.ChunkStream>;
export type RawReading = Copied<Readings.Reading>;
export type RawSplit = Copied<Splits.Split>;
export type RawLedger = Copied<Ledgers.Ledger>;
export type RawClient = Copied<Ledgers.Client>;
export type RawSchedule = Copied<Steps.Schedule>;
export type RawBatchRecipe = Copied<Batches.BatchRecipe>;
export type RawBatcher = Copied<Batches.Batcher>;
/**
 * A stream, with two additions: `room` is how many bytes the lists of a call may take; `told` is the text and the
 * fingerprint of its recipe.
 */
export type RawBatchStream = Copied<Batches.BatchStream> & {
  room(): number;
  told: { text: string; fingerprint: string };
};

/**
 * The options of a reader of a log. `session` has 64 random bits, which tell two processes with the same reader number
 * apart.
 */
export interface RawClientOptions {
  state: string;
  reader: number;
  session: bigint;
  blockSize?: number | undefined;
  leaseMs?: bigint | undefined;
  checkpointInterval?: bigint | undefined;
}

/** The exports of an instance of the light build, which the component has, too. */
export interface LightBindings extends Bindings {
  plainOrders(): string[];
  sampler(recipe: string, lists: readonly Samplings.NamedList[], epoch: bigint, rank: number): RawSampler;
  mesh(worldSize: number, axes: readonly Grid.Axis[]): RawMesh;
  launch: Copied<typeof Launch>;
}

/** The exports of an instance of the component. */
export interface ComponentBindings extends LightBindings {
  shards: Copied<typeof Shards>;
  readings: Copied<typeof Readings>;
  splits: Copied<typeof Splits>;
  ledger(header: string): RawLedger;
  client(options: RawClientOptions): RawClient;
  header(state: string, blockSize: number, leaseMs: bigint): string;
  batches: Copied<typeof Batches>;
  collation: Copied<typeof Collation>;
  steps: Copied<typeof Steps>;
  texts: Copied<typeof Texts>;
  /** How many bytes the lists of a call may take. */
  room(): number;
}
