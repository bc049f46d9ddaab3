import { entryText, natural, natural32, stateText, U32 } from './checks.js';
import { ALONE, type Engine, Handle, type Recipe } from './engine.js';
import type { RawLedger, RawProposal } from './ledger-raw.js';
import type { LedgerEvent, LedgerProgress } from './ledger-types.js';
import type { PlanningBindings } from './plan-raw.js';
import type { Integer } from './types.js';

/** The first entry of a log, for the state of a sampler. */
export function headerWith(engine: Engine<PlanningBindings>, state: string, block: number): string {
  const text = stateText(state);
  return engine.once(['state', text], 0, ({ header }) => header(text, block));
}

/** What a ledger begins as. */
export class LedgerRecipe implements Recipe<PlanningBindings, RawLedger> {
  readonly header: string;
  readonly lease: bigint;
  /** What a log of many readers makes of it. */
  readonly size = ALONE;
  readonly lost = 'the engine of this ledger is lost: open it again';

  constructor(header: string, lease: bigint) {
    this.header = header;
    this.lease = lease;
  }

  get cause(): readonly [string, unknown] {
    return ['lease', this.lease];
  }

  make(bindings: PlanningBindings): RawLedger {
    return bindings.ledger(this.header, this.lease);
  }
}

/** What a log says, as far as it was applied: a ledger without the log and without a clock. */
export class AppliedLog {
  readonly #handle: Handle<PlanningBindings, RawLedger>;
  #entries = 0;

  constructor(engine: Engine<PlanningBindings>, header: string, lease: Integer) {
    const recipe = new LedgerRecipe(stateText(header), natural('lease', lease));
    this.#handle = new Handle(engine, this, 'ledger', recipe);
  }

  /** How many entries were applied. */
  get entries(): number {
    return this.#entries;
  }

  /** Takes the next entry, at a time in milliseconds; nothing for the first one. After a failure, nothing has changed. */
  apply(entry: unknown, now: Integer): LedgerEvent | undefined {
    const text = entryText(entry, this.#entries === 0);
    const event = this.#handle.call((raw) => raw.apply(text, BigInt(now)));
    this.#entries += 1;
    return event && { ...event, start: Number(event.start) };
  }

  claim(reader: number, now: Integer): RawProposal {
    return this.#handle.call((raw) => raw.claim(reader, BigInt(now)));
  }

  commit(reader: number, start: Integer, count: Integer): string {
    const [first, many] = [natural('start', start), natural32('count', count, U32)];
    return this.#handle.call((raw) => raw.commit(reader, first, many));
  }

  release(reader: number, start: Integer): string {
    return this.#handle.call((raw) => raw.release(reader, BigInt(start)));
  }

  /** The first position and the number of positions of each run that a reader holds. */
  heldBy(reader: number): [start: number, count: number][] {
    const runs = this.#handle.call((raw) => raw.heldBy(reader));
    return Array.from({ length: runs.length / 2 }, (_, i) => [Number(runs[2 * i]), Number(runs[2 * i + 1])]);
  }

  progress(): LedgerProgress {
    const found = this.#handle.call((raw) => raw.progress());
    const [positions, committed] = [Number(found.positions), Number(found.committed)];
    const [claimed, entries] = [Number(found.claimed), Number(found.entries)];
    return { positions, committed, claimed, entries, finished: committed === positions };
  }

  samplerState(): string {
    return this.#handle.call((raw) => raw.samplerState());
  }

  dispose(): void {
    this.#handle.dispose();
  }
}
