import type { EventKind } from './ledger-types.js';

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
