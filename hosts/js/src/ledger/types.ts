import type { Progress } from '../generated/ledger.js';
import type { Integer } from '../types.js';

/** How far the readers of a log have come. */
export interface LedgerProgress extends Progress {
  /** Whether every position is committed. */
  finished: boolean;
}

/** An entry as a store returns it: its text, or the bytes of the text in UTF-8. */
export type Entry = string | Uint8Array;

/**
 * The log of any host: its lines, or the whole file, as text or as bytes. A last line without a line feed is left out.
 */
export type LogLines = string | Uint8Array | Iterable<Entry>;

/**
 * The list of entries that all readers share, in any store, such as a key-value store. Entries are texts of one line,
 * of at most 2^24 bytes, numbered from 0, and never change. Once one reader knows that the log has an entry, `read` of
 * every other reader must return the entry, too.
 */
export interface Log {
  /**
   * The entries in order, from number `from` on: all of them, or the first ones; an empty list after the last entry.
   */
  read(from: number): readonly Entry[] | Promise<readonly Entry[]>;
  /**
   * Adds an entry if it becomes entry number `number`: if the log has exactly `number` entries, and nobody else adds
   * one at the same time. Returns whether the entry was added: false if the log has more or fewer entries.
   */
  append(number: number, entry: string): boolean | Promise<boolean>;
  /**
   * The last entry that begins with `{"event":"checkpoint",`, if the store can find it without reading all entries;
   * else nothing. A reader that opens the log then reads only the first entry, and the entries after the checkpoint.
   * Without this method, it reads all entries.
   */
  lastCheckpoint?(): Entry | null | undefined | Promise<Entry | null | undefined>;
}

/** The options of `openLedger`. */
export interface LedgerOptions {
  /** The number of this reader, 0 to 2^32 - 1: one that no other reader has at the same time. */
  reader: Integer;
  /** How many positions are claimed at a time, the same for all readers: 1 to 2^32 - 1. By default as in the log; of a new log 1,024. */
  blockSize?: Integer;
  /**
   * The lease, in milliseconds, 1 to 2^53 - 1: if a reader writes no entry for this long, other readers can take its
   * claims. If it is given, opening makes it the lease of the log, for all readers. By default as in the log; of a new
   * log 60,000.
   */
  leaseMs?: Integer;
  /**
   * How many entries come between two checkpoints, which let a reader open a long log without reading all of it: 1 to
   * 2^53 - 1; 4,096 by default.
   */
  checkpointInterval?: Integer;
}

/** The options of `replayLedger`, which choose the part of one reader; by default the whole log. */
export interface ReplayOptions {
  /**
   * The number of the reader. This reader takes the runs of the readers of the log whose number mod `readers` is
   * `reader`. 0 by default.
   */
  reader?: Integer;
  /** How many readers there are: 1 by default. */
  readers?: Integer;
}
