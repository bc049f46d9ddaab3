import { FROM_ONE, fail, integer, natural32, options, textOf, U32 } from './checks.js';
import { type Engine, symbolDispose } from './engine.js';
import { AppliedLog, type Held, headerWith } from './ledger-applied.js';
import type { LedgerEvent, LedgerOptions, LedgerProgress, Log } from './ledger-types.js';
import type { PlanningBindings } from './plan-raw.js';
import { BaseSampler } from './sampler.js';
import type { ConfigJson, Indices, Integer } from './types.js';

/** How long a reader that waits does not look at the log, in milliseconds. */
const POLL = 100;
const OPTIONS = ['reader', 'block', 'lease'] as const;

/** Makes samplers of what `toJSON` gives. */
export interface Samplers {
  fromJSON(json: ConfigJson): BaseSampler;
}

/** The epoch of a sampler as one reader has it: position by position. */
export function whole(samplers: Samplers, sampler: unknown): BaseSampler {
  if (!(sampler instanceof BaseSampler)) fail('wrong-type', 'sampler', sampler, 'a Sampler');
  return samplers.fromJSON({ ...sampler.toJSON(), rank: 0, world: 1, layout: 'strided' });
}

/** What a claim asks its ledger for. */
interface Owner {
  readonly sampler: BaseSampler;
  readonly reader: number;
  /** In turn, appends the entry that `make` finds right, if any; `after` follows before anything else does. */
  write(make: (applied: AppliedLog) => string | undefined, after?: () => void): Promise<void>;
}

/** A run of positions that a reader holds. */
export class Claim {
  /** The number of its entry in the log, which no other claim has. */
  readonly number: number;
  /** The first position. */
  readonly start: number;
  readonly #owner: Owner;
  /** How many positions the entry took before those of this one. */
  readonly #before: number;
  #count: number;
  #committed = 0;
  /** How many positions are committed, as the log says. */
  #known = 0;
  #isReleased = false;

  /** What is not committed of what a reader holds. @internal */
  constructor(owner: Owner, [number, start, count, done]: Held) {
    this.#owner = owner;
    this.number = number;
    this.#before = done;
    this.start = start + done;
    this.#count = count - done;
  }

  /** Follows an entry of it in the log, maybe of its own reader; whether that holds it still. @internal */
  follow({ kind, start, count }: LedgerEvent, isOwn: boolean): boolean {
    if (kind === 'commit') this.#known = start + count - this.start;
    if (kind !== 'release') return this.#known < this.#count;
    if (isOwn) {
      this.#isReleased = true;
      this.#committed = this.#known;
      this.#count = this.#known;
    }
    return false;
  }

  /** How many there are; what was released of them is none any more. */
  get count(): number {
    return this.#count;
  }

  /** How many of them, the first ones, are committed. */
  get committed(): number {
    return this.#committed;
  }

  /**
   * The sample indices at these positions, counted from 0, number `start` to `end` - 1: all of them by default. Errors:
   * `start`, `end`, memory.
   */
  samples(start: Integer = 0, end: Integer = this.count): Indices {
    const first = Number(integer('start', start, [0n, BigInt(this.count)]));
    const last = Number(integer('end', end, [BigInt(first), BigInt(this.count)]));
    const { sampler } = this.#owner;
    const from = this.start - sampler.consumed;
    return sampler.indices(from + first, from + last);
  }

  /**
   * The reader is through with `count` more positions, the next ones, for good: with the rest by default. After an error of the
   * log, nobody knows whether that was written: commit the same again, before anything else, and nothing is committed twice. Errors:
   * `claim` (it was lost, after a silence as long as a lease or because another process has the same number; others read the
   * rest of it), `count` (more than are left), `entry` (what is new in the log is not of this ledger), those of the log.
   */
  async commit(count?: Integer): Promise<void> {
    const given = count === undefined ? undefined : natural32('count', count, U32);
    let goal = 0;
    await this.#owner.write(
      (applied) => {
        const left = this.#count - this.#committed;
        goal = this.#committed + (given ?? left);
        if (goal > this.#count) fail('out-of-range', 'count', given, `0 to ${left}`);
        if (left === 0) return undefined;
        // What was appended, though the log had not said so, is known by now.
        if (this.#known >= goal && goal > this.#committed) return undefined;
        return applied.commit(this.number, this.#before + Math.max(goal, this.#known));
      },
      () => {
        this.#committed = goal;
      },
    );
  }

  /** Says that the reader is still there, for all that it holds: where a step takes longer than the lease. Errors: as `commit`. */
  renew(): Promise<void> {
    return this.commit(0);
  }

  /** Gives back what is not committed, for other readers. Errors: as `commit`. */
  async release(): Promise<void> {
    await this.#owner.write((applied) => {
      const isNone = this.#isReleased || this.#known === this.#count;
      return isNone ? undefined : applied.release(this.number);
    });
  }
}

/**
 * What came of `tryClaim`: a claim, how many milliseconds to wait for others at most before another attempt, that all that is
 * left is held by this reader itself, or that all is committed.
 */
export type Attempt = { claim: Claim } | { wait: number } | { held: true } | { finished: true };

/** A log in memory, for a page or a test: for the readers of one process. */
export class MemoryLog implements Log {
  /** The entries, each of which is a line of a file. */
  readonly entries: string[] = [];

  read(from: number): string[] {
    return this.entries.slice(from);
  }

  append(number: number, entry: string): boolean {
    const isNext = number === this.entries.length;
    if (isNext) this.entries.push(entry);
    return isNext;
  }
}

/**
 * An epoch whose readers take as they come: blocks of positions, claimed from a log that all of them share. `openLedger` makes it.
 * Calls may overlap; they take turns.
 */
export class Ledger implements AsyncIterable<Claim> {
  readonly #applied: AppliedLog;
  readonly #log: Log;
  readonly #owner: Owner;
  /**
   * The claims of this object that are held still, by number, and no other of the same reader: a former life may still be there.
   * None where nobody has it.
   */
  readonly #claims = new Map<number, Claim | undefined>();
  /** An entry of which the log has not said whether it was appended, and the number that it would have. */
  #unsure: { number: number; entry: string } | undefined;
  /** The last call under way. */
  #last: Promise<unknown> = Promise.resolve();

  /** @internal */
  constructor(applied: AppliedLog, log: Log, sampler: BaseSampler, reader: number) {
    this.#applied = applied;
    this.#log = log;
    this.#owner = {
      sampler,
      reader,
      write: (make, after) =>
        this.#inTurn(async () => {
          await this.#write(make);
          after?.();
        }),
    };
  }

  /** Which reader this is. */
  get reader(): number {
    return this.#owner.reader;
  }

  /** Begins the log, or joins it, and gives back what this reader held in a former life. @internal */
  async open(header: string): Promise<void> {
    await this.#catchUp();
    if (this.#applied.entries === 0 && !(await this.#append(header)).added) await this.#afterOthers();
    for (;;) {
      const [held] = this.#applied.heldBy(this.reader);
      if (!held) return;
      // Where somebody was faster, the next look shows it.
      if (!(await this.#append(this.#applied.release(held[0]))).added) await this.#afterOthers();
    }
  }

  /** Claims positions, or says why there are none. Errors: `entry` (what is new in the log is not of this ledger), those of the log. */
  tryClaim(): Promise<Attempt> {
    return this.#inTurn(async () => {
      await this.#catchUp();
      // One of its own that a log had not said that it was appended, or that a loop could not give back.
      const isFree = ([number]: Held) => this.#claims.has(number) && !this.#claims.get(number);
      const held = this.#applied.heldBy(this.reader).find(isFree);
      if (held) return { claim: this.#known(held) };
      for (;;) {
        const proposal = this.#applied.claim(this.reader, now());
        if (proposal.tag === 'finished') return { finished: true };
        if (proposal.tag === 'held') return { held: true };
        if (proposal.tag === 'wait') return { wait: Number(proposal.val) };
        const { added, event } = await this.#append(proposal.val);
        if (!added) await this.#afterOthers();
        // Else it was a release, of what another one held.
        else if (event?.kind === 'claim') return { claim: this.#known([event.claim, event.start, event.count, 0]) };
      }
    });
  }

  /**
   * Claims positions, and waits where all that is left is others' work; null once every position is committed. Errors: as
   * `tryClaim`; `claim` (all that is left is held by this reader itself).
   */
  async claim(): Promise<Claim | null> {
    for (;;) {
      const attempt = await this.tryClaim();
      if ('claim' in attempt) return attempt.claim;
      if ('finished' in attempt) return null;
      if ('held' in attempt) {
        const allowed = 'a reader that commits or releases what it holds: nothing else is left';
        fail('contradiction', 'claim', `reader ${this.reader}`, allowed);
      }
      const time = Math.min(attempt.wait, POLL);
      await new Promise((resolve) => setTimeout(resolve, time));
    }
  }

  /**
   * The claims of this reader, one after the other, until every position is committed: each is committed when the next one is
   * asked for, unless that was done. A loop that is broken off gives back what is not committed of the one that it had. Errors:
   * as `claim` and `Claim.commit`.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<Claim, void, undefined> {
    for (;;) {
      const claim = await this.claim();
      if (!claim) return;
      let isRead = false;
      try {
        yield claim;
        isRead = true;
        await claim.commit();
      } finally {
        try {
          if (!isRead) await claim.release();
        } finally {
          // Where the log fails, it is the next claim.
          if (this.#claims.has(claim.number)) this.#claims.set(claim.number, undefined);
        }
      }
    }
  }

  /** How far all readers have come. Errors: as `tryClaim`. */
  progress(): Promise<LedgerProgress> {
    return this.#inTurn(async () => {
      await this.#catchUp();
      return this.#applied.progress();
    });
  }

  /** Frees the engine's memory; the ledger and its claims cannot be used afterwards. */
  dispose(): void {
    this.#applied.dispose();
    this.#owner.sampler.dispose();
  }

  /** The same as `dispose()`, for `using`. */
  [symbolDispose](): void {
    this.dispose();
  }

  #inTurn<T>(task: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(task);
    // A failure is the caller's, who gets `turn`.
    this.#last = turn.catch(() => {});
    return turn;
  }

  /** Applies what is new in the log. */
  async #catchUp(): Promise<void> {
    for (;;) {
      const entries: unknown = await this.#log.read(this.#applied.entries);
      if (!Array.isArray(entries)) fail('wrong-type', 'log', entries, 'a log whose read gives an array of entries');
      if (entries.length === 0) return;
      for (const entry of entries) this.#apply(textOf(entry));
    }
  }

  #known(held: Held): Claim {
    const claim = new Claim(this.#owner, held);
    this.#claims.set(claim.number, claim);
    return claim;
  }

  /** Applies an entry, also to the claim that it belongs to. */
  #apply(entry: unknown): LedgerEvent | undefined {
    const number = this.#applied.entries;
    const event = this.#applied.apply(entry, now());
    const isOwn = this.#unsure?.number === number && this.#unsure.entry === entry;
    if (this.#unsure?.number === number) this.#unsure = undefined;
    if (!event) return undefined;
    if (isOwn && event.kind === 'claim') this.#claims.set(event.claim, undefined);
    const isHeld = this.#claims.get(event.claim)?.follow(event, isOwn);
    if (isHeld === false || event.kind === 'release') this.#claims.delete(event.claim);
    return event;
  }

  /** Appends an entry, and applies it, unless somebody was faster. */
  async #append(entry: string): Promise<{ added: boolean; event?: LedgerEvent | undefined }> {
    this.#unsure = { number: this.#applied.entries, entry };
    const added: unknown = await this.#log.append(this.#applied.entries, entry);
    if (added === false) this.#unsure = undefined;
    if (typeof added !== 'boolean') fail('wrong-type', 'log', added, 'a log whose append gives true or false');
    return added ? { added, event: this.#apply(entry) } : { added };
  }

  /** Appends the entry that `make` finds right, if any, also where others append theirs meanwhile. */
  async #write(make: (applied: AppliedLog) => string | undefined): Promise<void> {
    for (;;) {
      const entry = make(this.#applied);
      if (entry === undefined || (await this.#append(entry)).added) return;
      await this.#afterOthers();
    }
  }

  /** Applies what others were faster with. */
  async #afterOthers(): Promise<void> {
    const before = this.#applied.entries;
    await this.#catchUp();
    if (this.#applied.entries > before) return;
    throw new Error(`the log has an entry ${before} when another one is added, and none when it is read`);
  }
}

/** Milliseconds on a clock that does not go back. */
function now(): number {
  return Math.floor(performance.now());
}

/** Opens the ledger of a log. */
export async function openWith(
  engine: Engine<PlanningBindings>,
  samplers: Samplers,
  sampler: unknown,
  log: Log,
  given: LedgerOptions,
): Promise<Ledger> {
  const { reader, block = 1024, lease = 60_000 } = options(given, OPTIONS);
  if (reader === undefined) fail('missing', 'reader', '', 'a number that no other reader has');
  const [id, size] = [natural32('reader', reader, U32), natural32('block', block, FROM_ONE)];
  if (typeof log?.read !== 'function' || typeof log.append !== 'function') {
    fail('wrong-type', 'log', log, 'an object with the methods read and append');
  }
  const positions = whole(samplers, sampler);
  const header = headerWith(engine, positions.state(0), size, lease);
  const ledger = new Ledger(new AppliedLog(engine, header), log, positions, id);
  await ledger.open(header);
  return ledger;
}
