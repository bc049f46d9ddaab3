import { stateText, u53 } from '../checks.js';
import type { ComponentBindings, RawLedger } from '../engine/types.js';
import { ALONE, type Engine, Handle, type Recipe } from '../engine.js';
import { type CommittedRun, committedRunOf, eventOf, type LedgerEvent } from '../generated/ledger.js';
import type { Integer } from '../types.js';
import { entryText, progressIn } from './client.js';
import type { LedgerProgress } from './types.js';

/** The first entry of a log, for the state of a sampler. */
export function headerWith(
  engine: Engine<ComponentBindings>,
  state: string,
  blockSize: number,
  leaseMs: Integer,
): string {
  const [text, time] = [stateText(state), u53('lease_ms', leaseMs)];
  return engine.once(['state', text], 0, ({ header }) => header(text, blockSize, time));
}

/** The definition of a ledger: its first entry. */
export class LedgerRecipe implements Recipe<ComponentBindings, RawLedger> {
  readonly header: string;
  /** An instance of its own, since the log of many readers takes much memory. */
  readonly size = ALONE;
  readonly lost = 'the engine of this ledger is lost: open it again';

  constructor(header: string) {
    this.header = header;
  }

  get cause(): readonly [string, unknown] {
    return ['state', this.header];
  }

  make(bindings: ComponentBindings): RawLedger {
    return bindings.ledger(this.header);
  }
}

/** A ledger to which the entries of a log are applied one after the other. Each entry is checked. */
export class AppliedLog {
  readonly #handle: Handle<ComponentBindings, RawLedger>;

  constructor(engine: Engine<ComponentBindings>, header: string) {
    this.#handle = new Handle(engine, this, 'ledger', new LedgerRecipe(stateText(header)));
  }

  /**
   * Applies the next entry. Returns undefined for an entry that is no claim, commit, release or join, such as a
   * checkpoint. A failure changes nothing.
   */
  apply(entry: unknown): LedgerEvent | undefined {
    const text = entryText(entry);
    const event = this.#handle.call((raw) => raw.apply(text));
    return event && eventOf(event);
  }

  /**
   * Applies the next entries. Returns the runs that reader `reader` of `readers` reads in a replay. After a failure, the entries before
   * the refused one are applied.
   */
  replay(entries: readonly unknown[], reader: number, readers: number): CommittedRun[] {
    const texts = entries.map(entryText);
    return this.#handle.call((raw) => raw.replay(texts, reader, readers)).map(committedRunOf);
  }

  progress(): LedgerProgress {
    return progressIn(this.#handle.call((raw) => raw.progress()));
  }

  initialState(): string {
    return this.#handle.call((raw) => raw.initialState());
  }

  dispose(): void {
    this.#handle.dispose();
  }
}
