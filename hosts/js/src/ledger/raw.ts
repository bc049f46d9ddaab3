/** An event as the engine gives it. */
export interface RawEvent {
  number: bigint;
  kind: string;
  reader: number;
  start: bigint;
  count: number;
  claim: bigint;
}

/** A run of a replay as the engine gives it. */
export type RawRun = Omit<RawEvent, 'kind'>;

/** A ledger of the engine. Nothing here checks an argument. */
export interface RawLedger {
  apply(entry: string): RawEvent | undefined;
  replay(entries: string[], reader: number, readers: number): RawRun[];
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
