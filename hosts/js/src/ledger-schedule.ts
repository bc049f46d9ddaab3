import { FROM_ONE, fail, natural32, options, U32 } from './checks.js';
import { type Engine, symbolDispose } from './engine.js';
import { SamedealError } from './errors.js';
import { type Samplers, whole } from './ledger.js';
import { AppliedLog } from './ledger-applied.js';
import type { LedgerEvent, LedgerProgress, ReplayOptions } from './ledger-types.js';
import type { PlanningBindings } from './plan-raw.js';

/** How many samples are read at a time. */
const WINDOW = 1 << 15;

/**
 * The schedule of a log, once more: the runs of positions that its readers committed, in the order in which they did, each
 * entry held against those before it. `replayLedger` makes it; it is gone through once.
 */
export class Schedule implements Iterable<LedgerEvent> {
  readonly #applied: AppliedLog;
  readonly #lines: Iterator<unknown>;
  readonly #samplers: Samplers;
  /** Which reader of how many. */
  readonly reader: number;
  readonly readers: number;

  /** @internal */
  constructor(engine: Engine<PlanningBindings>, samplers: Samplers, lines: Iterable<string>, given?: ReplayOptions) {
    const { reader = 0, readers = 1 } = options(given, ['reader', 'readers']);
    this.readers = natural32('readers', readers, FROM_ONE);
    if (this.readers === 0) fail('out-of-range', 'readers', 0, `1 to ${U32[1]}`);
    const range = [0n, BigInt(this.readers) - 1n] as const;
    this.reader = natural32('reader', reader, range);
    if (this.reader >= this.readers) fail('out-of-range', 'reader', this.reader, `0 to ${range[1]}`);
    this.#samplers = samplers;
    this.#lines = linesOf(lines);
    const { value: header, done } = this.#lines.next();
    if (done) fail('missing', 'entry', '', 'the first line of the log of a ledger');
    this.#applied = inLine(1, () => new AppliedLog(engine, header as string, 1));
    this.#applied.apply(header, 0);
  }

  /** What was committed, runs of one position at least. Errors: `entry` (which line does not follow from those before it, or is none). */
  *[Symbol.iterator](): Generator<LedgerEvent, void, undefined> {
    for (;;) {
      const { value: entry, done } = this.#lines.next();
      if (done) return;
      const event = inLine(this.#applied.entries + 1, () => this.#applied.apply(entry, 0));
      const ours = event && event.kind === 'commit' && event.reader % this.readers === this.reader;
      if (ours && event.count > 0) yield event;
    }
  }

  /**
   * The samples in place of the positions, by a sampler of the same dataset, seed and order, at any epoch, rank and world.
   * Errors: `order`, `samples`, `seed`, `sharding` (not those of the log), `entry`.
   */
  *samples(sampler: unknown): Generator<number, void, undefined> {
    const positions = whole(this.#samplers, sampler);
    try {
      positions.resume(this.samplerState);
      for (const { start, count } of this) {
        const [from, end] = [start - positions.consumed, start - positions.consumed + count];
        for (let at = from; at < end; at += WINDOW) yield* positions.indices(at, Math.min(at + WINDOW, end));
      }
    } finally {
      positions.dispose();
    }
  }

  /** How far the log goes, up to the line that was read last: after all of them, whether the epoch is finished. */
  progress(): LedgerProgress {
    return this.#applied.progress();
  }

  /** The state of the sampler whose positions these are: it says of which order, seed and epoch the log is. */
  get samplerState(): string {
    return this.#applied.samplerState();
  }

  /** Frees the engine's memory; the schedule cannot be used afterwards. */
  dispose(): void {
    this.#applied.dispose();
  }

  /** The same as `dispose()`, for `using`. */
  [symbolDispose](): void {
    this.dispose();
  }
}

/** The lines of a text, of which one without an end is none; or lines as they are. */
function linesOf(lines: unknown): Iterator<unknown> {
  if (typeof lines === 'string') return lines.split('\n').slice(0, -1)[Symbol.iterator]();
  const iterable = lines as Iterable<unknown> | null | undefined;
  if (typeof iterable?.[Symbol.iterator] !== 'function') {
    fail('wrong-type', 'lines', lines, 'the text of a log, or its lines');
  }
  return iterable[Symbol.iterator]();
}

/** The same, with the line in the failure of an entry. */
function inLine<T>(line: number, call: () => T): T {
  try {
    return call();
  } catch (error) {
    if (!(error instanceof SamedealError)) throw error;
    const { kind, field, value, allowed } = error;
    throw new SamedealError({ kind, field, value: `${value} (line ${line} of the log)`, allowed });
  }
}
