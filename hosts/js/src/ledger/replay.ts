import { fail, options, placed, textOf, u32 } from '../checks.js';
import type { ComponentBindings } from '../engine/types.js';
import type { Engine } from '../engine.js';
import type { CommittedRun, LedgerEvent } from '../generated/ledger.js';
import { attached } from '../lists.js';
import { AppliedLog } from './applied.js';
import { type Samplers, whole } from './ledger.js';
import type { LedgerProgress, LogLines, ReplayOptions } from './types.js';

/** How many samples are read at a time. */
const WINDOW = 1 << 15;

/**
 * A replay of a log: the runs of positions that its readers committed, in the order of the commits. Each entry is
 * checked against the entries before it. `replayLedger` makes a replay, from the whole log.
 */
export class LedgerReplay implements Iterable<CommittedRun> {
  readonly #committed: CommittedRun[] = [];
  readonly #entries: string[] = [];
  readonly #events: Iterator<LedgerEvent, void>;
  readonly #progress: LedgerProgress;
  readonly #samplers: Samplers;
  /** The reader whose part is replayed, and how many readers there are. */
  readonly reader: number;
  readonly readers: number;
  /**
   * The state of the sampler before the first position of the log. It has the order, the seed and the epoch of the log.
   */
  readonly initialState: string;

  /** @internal */
  constructor(engine: Engine<ComponentBindings>, samplers: Samplers, lines: LogLines, given?: ReplayOptions) {
    const { reader = 0, readers = 1 } = options(given, ['reader', 'readers']);
    this.readers = u32('readers', readers);
    this.reader = u32('reader', reader);
    this.#samplers = samplers;
    let applied: AppliedLog | undefined;
    let number = 0;
    try {
      for (const line of linesOf(lines)) {
        number += 1;
        const entry = textOf(line);
        const place = `line ${number} of the log`;
        if (!applied) {
          const first = placed(place, () => new AppliedLog(engine, entry as string));
          applied = first;
          // Called outside of `placed`, since the error of a wrong `reader` or `readers` is about no line.
          first.replay([], this.reader, this.readers);
        }
        const log = applied;
        this.#committed.push(...placed(place, () => log.replay([entry], this.reader, this.readers)));
        // The engine has applied the entry, so it is a text.
        this.#entries.push(entry as string);
      }
      if (!applied) fail('missing', 'entry', '', 'the first line of the log of a ledger');
      this.#progress = applied.progress();
      this.initialState = applied.initialState();
      this.#events = this.#eventsOf(engine);
    } finally {
      applied?.dispose();
    }
  }

  /** The committed runs, each of one position at least. */
  *[Symbol.iterator](): Generator<CommittedRun, void, undefined> {
    for (const run of this.#committed) yield { ...run };
  }

  /**
   * The samples at the committed positions. `sampler` has the dataset, the seed and the order of the log, and any
   * epoch, rank and world size. Errors: the first member of the order that is not as in the log.
   */
  *samples(sampler: unknown): Generator<number, void, undefined> {
    const positions = whole(this.#samplers, sampler);
    try {
      positions.resume(this.initialState);
      for (const { start, count } of this.#committed) {
        const [from, end] = [start - positions.consumed, start - positions.consumed + count];
        for (let at = from; at < end; at += WINDOW) yield* positions.indices(at, Math.min(at + WINDOW, end));
      }
    } finally {
      positions.dispose();
    }
  }

  /**
   * The next event of the log, of any reader: a claim, commit, release or join. The first call returns the first event;
   * after the last event, calls return null. Iteration, `samples` and `progress` do not depend on it. Errors: memory.
   */
  nextEvent(): LedgerEvent | null {
    return this.#events.next().value ?? null;
  }

  *#eventsOf(engine: Engine<ComponentBindings>): Generator<LedgerEvent, void, undefined> {
    const log = new AppliedLog(engine, this.#entries[0] as string);
    try {
      for (const entry of this.#entries) {
        const event = log.apply(entry);
        if (event) yield event;
      }
    } finally {
      log.dispose();
    }
  }

  /** How far all readers have come in the log, and whether the epoch is finished. */
  progress(): LedgerProgress {
    return { ...this.#progress };
  }
}

/**
 * The lines of a text or of bytes, or lines that were given one by one. A text after the last line feed is left out: it
 * is the beginning of an entry, or zero bytes that a loss of power left.
 */
function linesOf(given: unknown): Iterable<unknown> {
  if (ArrayBuffer.isView(given) && !(given instanceof DataView)) attached('lines', given);
  // Bytes after the last end of a line may be no text at all.
  const lines = textOf(given instanceof Uint8Array ? given.subarray(0, given.lastIndexOf(10) + 1) : given);
  if (lines instanceof Uint8Array) fail('wrong-type', 'lines', lines, 'the bytes of a log, in UTF-8');
  if (typeof lines === 'string') return lines.split('\n').slice(0, -1);
  const iterable = lines as Iterable<unknown> | null | undefined;
  if (typeof iterable?.[Symbol.iterator] !== 'function') {
    fail('wrong-type', 'lines', lines, 'the text of a log, or its lines');
  }
  return iterable as Iterable<unknown>;
}
