import type { PlanningBindings } from '../bindings/types.js';
import { entryText, natural, natural32, stateText, U32 } from '../checks.js';
import { ALONE, type Engine, Handle, type Recipe } from '../engine.js';
import type { Integer } from '../types.js';
import type { RawLedger, RawProposal } from './raw.js';
import type { LedgerEvent, LedgerProgress } from './types.js';

/** The first entry of a log, for the state of a sampler. */
export function headerWith(engine: Engine<PlanningBindings>, state: string, block: number, lease: Integer): string {
  const [text, time] = [stateText(state), natural('lease', lease)];
  return engine.once(['state', text], 0, ({ header }) => header(text, block, time));
}

/** What a ledger begins as. */
export class LedgerRecipe implements Recipe<PlanningBindings, RawLedger> {
  readonly header: string;
  /** What a log of many readers makes of it. */
  readonly size = ALONE;
  readonly lost = 'the engine of this ledger is lost: open it again';

  constructor(header: string) {
    this.header = header;
  }

  get cause(): readonly [string, unknown] {
    return ['state', this.header];
  }

  make(bindings: PlanningBindings): RawLedger {
    return bindings.ledger(this.header);
  }
}

/** A claim that a reader holds: its number, first position, how many there are, and how many of them are committed. */
export type Held = [claim: number, start: number, count: number, done: number];

/** What a log says, as far as it was applied: a ledger without the log and without a clock. */
export class AppliedLog {
  readonly #handle: Handle<PlanningBindings, RawLedger>;
  #entries = 0;

  constructor(engine: Engine<PlanningBindings>, header: string) {
    this.#handle = new Handle(engine, this, 'ledger', new LedgerRecipe(stateText(header)));
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
    if (!event) return undefined;
    const { number, start, claim } = event;
    return { ...event, number: Number(number), start: Number(start), claim: Number(claim) };
  }

  claim(reader: number, now: Integer): RawProposal {
    return this.#handle.call((raw) => raw.claim(reader, BigInt(now)));
  }

  commit(claim: Integer, done: Integer): string {
    const [number, many] = [natural('claim', claim), natural32('done', done, U32)];
    return this.#handle.call((raw) => raw.commit(number, many));
  }

  release(claim: Integer): string {
    const number = natural('claim', claim);
    return this.#handle.call((raw) => raw.release(number));
  }

  /** The claims that a reader holds. */
  heldBy(reader: number): Held[] {
    const held = this.#handle.call((raw) => raw.heldBy(reader));
    const at = (index: number) => Number(held[index]);
    return Array.from({ length: held.length / 4 }, (_, i) => [at(4 * i), at(4 * i + 1), at(4 * i + 2), at(4 * i + 3)]);
  }

  progress(): LedgerProgress {
    const found = this.#handle.call((raw) => raw.progress());
    const [positions, committed] = [Number(found.positions), Number(found.committed)];
    const [claimed, entries] = [Number(found.claimed), Number(found.entries)];
    return { positions, committed, claimed, entries, finished: committed === positions };
  }

  initialState(): string {
    return this.#handle.call((raw) => raw.initialState());
  }

  dispose(): void {
    this.#handle.dispose();
  }
}
