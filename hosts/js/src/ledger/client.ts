import { cutText, fail } from '../checks.js';
import type { Instruction as RawInstruction } from '../components/interfaces/samedeal-deal-ledger.js';
import { using } from '../engine/resources.js';
import type { ComponentBindings, LedgerBindings, RawClient, RawClientOptions } from '../engine/types.js';
import { ALONE, type Engine, Handle, type Recipe } from '../engine.js';
import { progressOf } from '../generated/ledger.js';
import type { Integer } from '../types.js';
import type { LedgerProgress } from './types.js';

/** The beginning of a checkpoint. Its number follows. */
export const CHECKPOINT = '{"event":"checkpoint","number":';

/** How many entries are passed to the engine at a time. */
const WINDOW = 2 ** 12;

/** Makes a client over the resources of the interface `ledger`. */
export function makeClient(
  { Client, ClientOptions }: Pick<LedgerBindings, 'Client' | 'ClientOptions'>,
  { state, reader, session, blockSize, leaseMs, checkpointInterval }: RawClientOptions,
): RawClient {
  return using(new ClientOptions(state, reader, session), (options) => {
    if (blockSize !== undefined) options.setBlockSize(blockSize);
    if (leaseMs !== undefined) options.setLeaseMs(leaseMs);
    if (checkpointInterval !== undefined) options.setCheckpointInterval(checkpointInterval);
    return new Client(options) as RawClient;
  });
}

/** The definition of a client: its sampler and its options. */
export class ClientRecipe implements Recipe<ComponentBindings, RawClient> {
  readonly options: RawClientOptions;
  /** An instance of its own, since the log of many readers takes much memory. */
  readonly size = ALONE;
  readonly lost = 'the engine of this ledger is lost: open it again';

  constructor(options: RawClientOptions) {
    this.options = options;
  }

  get cause(): readonly [string, unknown] {
    return ['state', this.options.state];
  }

  make(bindings: ComponentBindings): RawClient {
    return bindings.client(this.options);
  }
}

/** The next action, or the result of an operation. */
export interface Instruction {
  action: string;
  /** The number of an entry, or the handle of a claim. */
  number: number;
  entry: string;
  milliseconds: number;
}

/** A claim that a client has given out. */
export interface ClaimedRun {
  claim: number;
  start: number;
  count: number;
  committed: number;
}

/** One reader of a log, without access to the log: its instructions say what to read and to append. */
export class LedgerClient {
  readonly #handle: Handle<ComponentBindings, RawClient>;

  constructor(engine: Engine<ComponentBindings>, options: RawClientOptions) {
    this.#handle = new Handle(engine, this, 'ledger', new ClientRecipe(options));
  }

  /** Begins an operation, or passes the outcome of an instruction. Returns the next instruction. */
  step(call: (raw: RawClient) => RawInstruction): Instruction {
    const { action, number, entry, milliseconds } = this.#handle.call(call);
    return { action, number: Number(number), entry, milliseconds: Number(milliseconds) };
  }

  /** Passes the entries from number `from` on, which were read at the time `nowMs`. */
  tellEntries(from: number, entries: readonly unknown[], nowMs: Integer): Instruction {
    const texts = entries.map(entryText);
    const tell = (at: number) => this.step((raw) => raw.tellEntries(texts.slice(at, at + WINDOW), BigInt(nowMs)));
    let step = tell(0);
    for (let at = WINDOW; at < texts.length; at += WINDOW) {
      // The client may ask for other entries, such as those after a checkpoint: then the rest is not passed.
      if (step.action !== 'read' || step.number !== from + at) break;
      step = tell(at);
    }
    return step;
  }

  claimed(handle: number): ClaimedRun {
    const found = this.#handle.call((raw) => raw.claimed(BigInt(handle)));
    return { ...found, claim: Number(found.claim), start: Number(found.start) };
  }

  isLost(handle: number): boolean {
    return this.#handle.call((raw) => raw.isLost(BigInt(handle)));
  }

  forget(handle: number): void {
    this.#handle.call((raw) => raw.forget(BigInt(handle)));
  }

  progress(): LedgerProgress {
    return progressIn(this.#handle.call((raw) => raw.progress()));
  }

  blockSize(): number {
    return this.#handle.call((raw) => raw.blockSize());
  }

  leaseMs(): number {
    return Number(this.#handle.call((raw) => raw.leaseMs()));
  }

  dispose(): void {
    this.#handle.dispose();
  }
}

/** The progress in a log, and whether all positions are committed. */
export function progressIn(raw: Parameters<typeof progressOf>[0]): LedgerProgress {
  const progress = progressOf(raw);
  return { ...progress, finished: progress.committed === progress.positions };
}

/** A text for an entry of a log. A text that is too long is cut; the engine refuses it all the same. */
export function entryText(value: unknown): string {
  if (typeof value !== 'string') fail('wrong-type', 'entry', value, 'an entry of a ledger');
  return cutText(value);
}

/** An entry, checked to be a text of one line. */
export function lineOf(entry: unknown): string {
  if (typeof entry !== 'string') fail('wrong-type', 'entry', entry, 'a text of one line');
  if (entry.includes('\n')) fail('out-of-range', 'entry', entry, 'a text of one line');
  return entry;
}
