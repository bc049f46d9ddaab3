import type { EventKind } from './types.js';

/** An event as the engine gives it. */
export interface RawEvent {
  number: bigint;
  kind: EventKind;
  reader: number;
  start: bigint;
  count: number;
  claim: bigint;
}

/**
 * What a reader is told that wants more: an entry to append, how many milliseconds to wait for others, that it holds all that is
 * left itself, or that all is committed.
 */
export type RawProposal =
  | { tag: 'entry'; val: string }
  | { tag: 'wait'; val: bigint }
  | { tag: 'held' }
  | { tag: 'finished' };

/** A ledger of the engine. Nothing here checks an argument. */
export interface RawLedger {
  apply(entry: string, now: bigint): RawEvent | undefined;
  claim(reader: number, now: bigint): RawProposal;
  commit(claim: bigint, done: number): string;
  release(claim: bigint): string;
  heldBy(reader: number): BigUint64Array<ArrayBuffer>;
  progress(): { positions: bigint; committed: bigint; claimed: bigint; entries: bigint };
  initialState(): string;
}

/** What decides how a reader takes part in a log. */
export interface RawClientOptions {
  state: string;
  reader: number;
  /** 64 random bits. */
  life: bigint;
  block?: number | undefined;
  lease?: bigint | undefined;
  checkpointInterval?: bigint | undefined;
}

/** What is to be done next, or what came of an operation. */
export interface RawStep {
  action: string;
  number: bigint;
  entry: string;
  milliseconds: bigint;
}

/** A client of the engine. Nothing here checks an argument. */
export interface RawClient {
  open(now: bigint): RawStep;
  claim(waits: boolean, now: bigint): RawStep;
  commit(handle: bigint, count: number | undefined, now: bigint): RawStep;
  renew(handle: bigint, now: bigint): RawStep;
  release(handle: bigint, now: bigint): RawStep;
  setLease(milliseconds: bigint, now: bigint): RawStep;
  catchUp(now: bigint): RawStep;
  tellCheckpoint(checkpoint: string | undefined, now: bigint): RawStep;
  tellEntries(entries: string[], now: bigint): RawStep;
  tellAppended(appended: boolean, now: bigint): RawStep;
  run(handle: bigint): { claim: bigint; start: bigint; count: number; committed: number };
  isLost(handle: bigint): boolean;
  forget(handle: bigint): void;
  progress(): { positions: bigint; committed: bigint; claimed: bigint; entries: bigint };
  block(): number;
  lease(): bigint;
}
