import { FROM_ONE, fail, knownFacts, options, span, stateText, textOf, u32, u53 } from '../checks.js';
import type { Instruction as RawInstruction } from '../components/interfaces/samedeal-deal-ledger.js';
import { SamplerRecipe } from '../deal/recipe.js';
import { BaseSampler } from '../deal/sampler.js';
import { Document } from '../document.js';
import type { ComponentBindings, RawClient } from '../engine/types.js';
import { type Engine, symbolDispose } from '../engine.js';
import { placeOf } from '../json.js';
import type { Indices, Integer, SamplerOptions } from '../types.js';
import { CHECKPOINT, type ClaimedRun, entryText, type Instruction, LedgerClient, lineOf } from './client.js';
import type { LedgerOptions, LedgerProgress, Log } from './types.js';

const OPTIONS = ['reader', 'blockSize', 'leaseMs', 'checkpointInterval'] as const;

/** The actions that end an operation. */
const RESULTS = ['done', 'claimed', 'wait', 'held', 'finished'];
/** All actions that this host knows. */
const ACTIONS = ['checkpoint', 'read', 'append', ...RESULTS];

/** The class of samplers. */
export type Samplers = new (samples: Integer, options?: SamplerOptions) => BaseSampler;

/**
 * A sampler for a single rank, with the order, the epoch and the consumed positions of `sampler`: its samples are those
 * at the positions that are left, one after the other.
 */
export function whole(Sampler: Samplers, sampler: unknown): BaseSampler {
  if (!(sampler instanceof BaseSampler)) fail('wrong-type', 'sampler', sampler, 'a Sampler');
  const { document, epoch, consumed } = sampler.decided;
  const [start, end] = placeOf(document.text, 'deal') ?? [0, 0];
  const text = end > 0 ? `${document.text.slice(0, start)}{}${document.text.slice(end)}` : document.text;
  const recipe = new SamplerRecipe(new Document(text, {}, document.lists), { epoch, consumed });
  return new Sampler(0, recipe as unknown as SamplerOptions);
}

/** An operation of a client, which begins at the time `nowMs`. */
type Operation = (raw: RawClient, nowMs: bigint) => RawInstruction;

/** The members of a ledger that its claims use. */
interface Owner {
  readonly sampler: BaseSampler;
  /** Runs an operation after all earlier calls. Returns the run of the claim as it is after the operation. */
  run(handle: number, begin: Operation): Promise<ClaimedRun>;
  forget(handle: number): void;
}

/** A run of positions that a reader has claimed. */
export class Claim {
  readonly #owner: Owner;
  readonly #handle: number;
  #run: ClaimedRun;

  /** @internal */
  constructor(owner: Owner, handle: number, run: ClaimedRun) {
    this.#owner = owner;
    this.#handle = handle;
    this.#run = run;
  }

  /**
   * The number of the claim's entry in the log. If a `Claim` object is lost before all of it is committed (the garbage
   * collector freed it, for instance), the next claim of this ledger has the rest, and the same number.
   */
  get number(): number {
    return this.#run.claim;
  }

  /** The first position. */
  get start(): number {
    return this.#run.start;
  }

  /** The number of positions, without those that were released. */
  get count(): number {
    return this.#run.count;
  }

  /** How many positions at the beginning of the run are committed. */
  get committed(): number {
    return this.#run.committed;
  }

  /**
   * The sample indices at the positions `start` to `end` - 1 of this run, counted from 0: at all of them by default.
   * Errors: `start`, `end`, memory.
   */
  samples(start: Integer = 0, end?: Integer): Indices {
    const [first, last] = span(start, end, this.count).map(Number) as [number, number];
    const { sampler } = this.#owner;
    const from = this.start - sampler.consumed;
    return sampler.indices(from + first, from + last);
  }

  /**
   * Commits the next `count` positions, by default all that are left: this reader has processed them, and no reader
   * gets them again. Write the results to the disk before: the log guarantees commits, not results. After an error of
   * the log, it is not known whether the commit was written: repeat it before anything else, and nothing is committed
   * twice. Errors: `claim` (it was lost, after a silence as long as a lease, or because another process opened the log
   * with this reader number; other readers get its positions that are not committed), `count` (more than are left),
   * `entry` (a new entry in the log is not of this ledger), those of the log.
   */
  async commit(count?: Integer): Promise<void> {
    const given = count === undefined ? undefined : u32('count', count);
    await this.#do((raw, nowMs) => raw.commit(BigInt(this.#handle), given, nowMs));
  }

  /**
   * Renews the lease of all claims of this reader. Call it during a step that takes longer than the lease; if not,
   * other readers can take the claims. Errors: as `commit`.
   */
  async renew(): Promise<void> {
    await this.#do((raw, nowMs) => raw.renew(BigInt(this.#handle), nowMs));
  }

  /** Releases the positions that are not committed, for other readers. Errors: as `commit`. */
  async release(): Promise<void> {
    await this.#do((raw, nowMs) => raw.release(BigInt(this.#handle), nowMs));
  }

  /**
   * Gives up this object without an entry in the log: the next claim has the positions that are not committed.
   * @internal
   */
  forget(): void {
    this.#owner.forget(this.#handle);
  }

  async #do(begin: Operation): Promise<void> {
    this.#run = await this.#owner.run(this.#handle, begin);
  }
}

/**
 * The result of `tryClaim`. `claim`: a claim. `wait`: other readers have claimed all positions that are left; try again
 * after this number of milliseconds at most. `held`: this reader itself has claimed all positions that are left, or has
 * 2^16 claims.
 * `finished`: all positions are committed.
 */
export type Attempt = { claim: Claim } | { wait: number } | { held: true } | { finished: true };

/** A log in memory, for a page or a test: for the readers of one process. */
export class MemoryLog implements Log {
  /** The entries, each of which is a line of a file. */
  readonly entries: string[] = [];

  /** The entries from number `from` on. Errors: `from`. */
  read(from: number): string[] {
    return this.entries.slice(Number(u53('from', from)));
  }

  /**
   * Adds `entry` as number `number`, if it is the next one. Returns whether it was added. Errors: `number`, `entry` (no
   * text of one line).
   */
  append(number: number, entry: string): boolean {
    const isNext = Number(u53('number', number)) === this.entries.length;
    const line = lineOf(entry);
    if (isNext) this.entries.push(line);
    return isNext;
  }

  lastCheckpoint(): string | undefined {
    for (let at = this.entries.length - 1; at > 0; at--) {
      if (this.entries[at]?.startsWith(CHECKPOINT)) return this.entries[at];
    }
    return undefined;
  }
}

/**
 * An epoch that is dealt while it is read: its readers claim blocks of positions in a log that they share. `openLedger`
 * makes it. Calls may overlap; they are done one after the other.
 */
export class Ledger implements AsyncIterable<Claim> {
  readonly #client: LedgerClient;
  readonly #log: Log;
  readonly #owner: Owner;
  /** The number of this reader. */
  readonly reader: number;
  /**
   * The handles of claims that are in use. If a claim is collected, nobody can commit it any more, so its positions are
   * claimed again.
   */
  readonly #handles: FinalizationRegistry<number> | undefined;
  /** The last call, for which the next one waits. */
  #last: Promise<unknown> = Promise.resolve();

  /** @internal */
  constructor(client: LedgerClient, log: Log, sampler: BaseSampler, reader: number) {
    this.#client = client;
    this.#log = log;
    this.reader = reader;
    this.#owner = {
      sampler,
      run: (handle, begin) =>
        this.#inTurn(async () => {
          await this.#run(begin);
          return client.claimed(handle);
        }),
      forget: (handle) => client.forget(handle),
    };
    // An older workerd has no such registry.
    if (typeof FinalizationRegistry === 'function') {
      this.#handles = new FinalizationRegistry((handle) => {
        try {
          client.forget(handle);
        } catch {
          // The client was disposed of.
        }
      });
    }
  }

  /** Begins or joins the log, and releases what an earlier process with this reader number had claimed. @internal */
  async open(): Promise<void> {
    await this.#run((raw, nowMs) => raw.open(nowMs));
  }

  /**
   * Claims positions, or says why there are none. Errors: `entry` (a new entry in the log is not of this ledger),
   * `reader` (another process opened the log as this reader), those of the log.
   */
  tryClaim(): Promise<Attempt> {
    return this.#attempt(false);
  }

  /**
   * Claims positions, and waits while other readers have claimed all positions that are left. Returns null once every
   * position is committed. Errors: as `tryClaim`; `claim` (this reader itself has claimed all positions that are left).
   */
  async claim(): Promise<Claim | null> {
    for (;;) {
      const attempt = await this.#attempt(true);
      if ('claim' in attempt) return attempt.claim;
      if (!('wait' in attempt)) return null;
      await pause(attempt.wait);
    }
  }

  /**
   * The claims of this reader, one after the other, until every position is committed. When the loop asks for the next
   * claim, the current one is committed, unless it was committed already. A loop that ends early releases the positions
   * of its claim that are not committed. Errors: as `claim` and `Claim.commit`.
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
          // If the log failed, the next claim has these positions.
          claim.forget();
        }
      }
    }
  }

  /** How far all readers have come. Errors: as `tryClaim`, without `reader`. */
  progress(): Promise<LedgerProgress> {
    return this.#inTurn(async () => {
      await this.#run((raw, nowMs) => raw.catchUp(nowMs));
      return this.#client.progress();
    });
  }

  /**
   * The current lease of the log, in milliseconds: if a reader writes no entry for this long, other readers can take
   * its claims. Errors: as `progress`.
   */
  leaseMs(): Promise<number> {
    return this.#inTurn(async () => {
      await this.#run((raw, nowMs) => raw.catchUp(nowMs));
      return this.#client.leaseMs();
    });
  }

  /** Sets the lease of the log from now on, for all readers: 1 to 2^53 - 1 milliseconds. Errors: `lease_ms`; as `tryClaim`. */
  async setLease(leaseMs: Integer): Promise<void> {
    const milliseconds = u53('lease_ms', leaseMs);
    await this.#inTurn(() => this.#run((raw, nowMs) => raw.changeLease(milliseconds, nowMs)));
  }

  /** Frees the engine's memory; the ledger and its claims cannot be used afterwards. */
  dispose(): void {
    this.#client.dispose();
    this.#owner.sampler.dispose();
  }

  /** Calls `dispose()`, for `using`. */
  [symbolDispose](): void {
    this.dispose();
  }

  #attempt(waits: boolean): Promise<Attempt> {
    return this.#inTurn(async () => {
      const { action, number, milliseconds } = await this.#run((raw, nowMs) => raw.claim(waits, nowMs));
      if (action === 'wait') return { wait: milliseconds };
      if (action === 'held') return { held: true };
      if (action === 'finished') return { finished: true };
      if (action !== 'claimed') unknown(action);
      const claim = new Claim(this.#owner, number, this.#client.claimed(number));
      this.#handles?.register(claim, number);
      return { claim };
    });
  }

  #inTurn<T>(task: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(task);
    // The caller gets `turn` with its failure; the next call only waits for its end.
    this.#last = turn.catch(() => {});
    return turn;
  }

  /** Follows the instructions of an operation to its end. Returns the last instruction, which has the result. */
  async #run(begin: Operation): Promise<Instruction> {
    const client = this.#client;
    let step = client.step((raw) => begin(raw, nowMs()));
    for (;;) {
      const { action, number, entry, milliseconds } = step;
      if (action === 'checkpoint') {
        const found: unknown = textOf(await this.#log.lastCheckpoint?.());
        const text = found === undefined || found === null ? undefined : entryText(found);
        step = client.step((raw) => raw.tellCheckpoint(text, nowMs()));
      } else if (action === 'read') {
        if (milliseconds > 0) await pause(milliseconds);
        const entries: unknown = await this.#log.read(number);
        if (!Array.isArray(entries)) fail('wrong-type', 'log', entries, 'a log whose read gives an array of entries');
        step = client.tellEntries(number, entries.map(textOf), nowMs());
      } else if (action === 'append') {
        const added: unknown = await this.#log.append(number, entry);
        if (typeof added !== 'boolean') fail('wrong-type', 'log', added, 'a log whose append gives true or false');
        step = client.step((raw) => raw.tellAppended(added, nowMs()));
      } else if (RESULTS.includes(action)) {
        return step;
      } else {
        unknown(action);
      }
    }
  }
}

/**
 * Refuses an action that only a later component knows. If such an action counted as the end of the operation, an epoch
 * could end too early.
 */
function unknown(action: string): never {
  const allowed = `${ACTIONS.join(', ')}: this version of samedeal is too old for its component`;
  fail('unknown-name', 'action', action, allowed, knownFacts(ACTIONS));
}

/** The time in milliseconds, of a clock that never goes back. */
function nowMs(): bigint {
  return BigInt(Math.floor(performance.now()));
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Opens the ledger of a log. */
export async function openWith(
  engine: Engine<ComponentBindings>,
  samplers: Samplers,
  sampler: unknown,
  log: Log,
  given: LedgerOptions,
): Promise<Ledger> {
  const { reader, blockSize, leaseMs, checkpointInterval } = options(given, OPTIONS);
  if (reader === undefined) fail('missing', 'reader', '', 'a number that no other reader has');
  const id = u32('reader', reader);
  const chosen = {
    blockSize: blockSize === undefined ? undefined : u32('block_size', blockSize, undefined, FROM_ONE),
    leaseMs: leaseMs === undefined ? undefined : u53('lease_ms', leaseMs),
    checkpointInterval: checkpointInterval === undefined ? undefined : u53('checkpoint_interval', checkpointInterval),
  };
  if (typeof log?.read !== 'function' || typeof log.append !== 'function') {
    fail('wrong-type', 'log', log, 'an object with the methods read and append');
  }
  const positions = whole(samplers, sampler);
  const [session] = crypto.getRandomValues(new BigUint64Array(1));
  const own = { state: stateText(positions.state(0)), reader: id, session: session as bigint };
  const ledger = new Ledger(new LedgerClient(engine, { ...own, ...chosen }), log, positions, id);
  await ledger.open();
  return ledger;
}
