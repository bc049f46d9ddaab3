import type { Progress } from '../generated/ledger.js';
import type { Integer } from '../types.js';

/** How far the readers of a log have come. */
export interface LedgerProgress extends Progress {
  /** Whether every position is committed. */
  finished: boolean;
}

/** An entry as a store gives it: its text, or the bytes of that in UTF-8. */
export type Entry = string | Uint8Array;

/** The log of any host: its lines, or the whole file, as text or as bytes. A last line of a file without an end is none. */
export type LogLines = string | Uint8Array | Iterable<Entry>;

/**
 * The list of entries that all readers share, in whatever store they have, such as a key-value store. Entries are texts of one line, of at
 * most 2^24 bytes, numbered from 0, and never change. What one reader was told is there, `read` of every other one shows from
 * then on.
 */
export interface Log {
  /** Entries in order, beginning with number `from`: all there are, or as many as are read at a time; none after the last. */
  read(from: number): readonly Entry[] | Promise<readonly Entry[]>;
  /**
   * Adds an entry if it becomes number `number`: if there are as many before it, and nobody else adds one meanwhile. Whether
   * it was added.
   */
  append(number: number, entry: string): boolean | Promise<boolean>;
  /**
   * The last entry that begins with `{"event":"checkpoint",`, where the store can find it without a look at all entries; else
   * nothing. A reader that opens the log reads the first entry, and those behind the checkpoint. Without this method it reads all.
   */
  lastCheckpoint?(): Entry | null | undefined | Promise<Entry | null | undefined>;
}

/** The options of `openLedger`. */
export interface LedgerOptions {
  /** Which reader this is: any number, 0 to 2^32 - 1, that no other reader has while this one lives. */
  reader: Integer;
  /** How many positions are claimed at a time, the same for all readers: 1 to 2^32 - 1. By default as in the log; of a new log 1,024. */
  block?: Integer;
  /**
   * After which silence of a reader, in milliseconds, others take all that it holds: 1 to 2^53 - 1. If it is given, opening makes it
   * the lease of the log, for all readers. By default as in the log; of a new log 60,000.
   */
  lease?: Integer;
  /** How many entries come between two checkpoints, by which a long log opens at once: 1 to 2^53 - 1; 4,096 by default. */
  checkpointInterval?: Integer;
}

/** The options of `replayLedger`: the reader whose part is read, by default all of it. */
export interface ReplayOptions {
  /** Which reader: it takes what those did whose number mod `readers` is this. 0 by default. */
  reader?: Integer;
  /** How many readers there are: 1 by default. */
  readers?: Integer;
}
