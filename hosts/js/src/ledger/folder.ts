// A log for several processes of Node. Node cannot lock a file, but it can create one so that only one process
// succeeds.
import { link, mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fail, u53 } from '../checks.js';
import { CHECKPOINT, lineOf } from './client.js';
import type { Log } from './types.js';

/**
 * About how many entries are read at a time. Few are enough, since a reader that opens a log reads its first entries,
 * and then those after the last checkpoint.
 */
const WINDOW = 64;
/** The name of an entry, as `nameOf` makes it. */
const NAME = /^\d{16}\.json$/;

const nameOf = (number: number) => `${String(number).padStart(16, '0')}.json`;

/**
 * A log in a folder, for the processes of one machine: each entry is a file, whose name is its number and whose content
 * is its line. `FolderLog` of Python and of Rust can read and extend the log in the same folder. The files in the order
 * of their names are the lines of a log in one file. An entry is written to a temporary file (`.*.tmp`) and then linked
 * to its name, so no incomplete entry has the name; a process that is killed may leave a temporary file, which nobody
 * reads. If the folder is replaced, or deleted and made again, it is another log: readers of the old log get an error,
 * and append nothing.
 */
export class FolderLog implements Log {
  /** The folder. */
  readonly path: string;
  /**
   * Two entries by their numbers, by which the log is recognised: the last one that was read or added, and the second
   * one (number 1), which no other log has, since it has 64 random bits.
   */
  #known: Map<number, string> = new Map();

  /** The folder need not exist yet, but the folder above it has to. Errors: `path`. */
  constructor(path: string | URL) {
    const text: unknown = path instanceof URL && path.protocol === 'file:' ? fileURLToPath(path) : path;
    if (typeof text !== 'string') fail('wrong-type', 'path', path, 'the path of a folder, or a URL with file:');
    if (text === '' || text.includes('\0')) fail('out-of-range', 'path', text, 'a path that a folder can have');
    this.path = text;
  }

  /**
   * The entries from number `from` on: all of them, or the first ones. Errors: `from`, `log` (entries before `from`,
   * which were read, are not there any more), those of the file system. A missing folder is no error.
   */
  async read(from: number): Promise<string[]> {
    const first = Number(u53('from', from));
    await this.#checkSame(first);
    const entries: string[] = [];
    // The first read is of one file, since most often there is no new entry.
    for (let count = 1; entries.length < WINDOW; count *= 2) {
      const numbers = Array.from({ length: count }, (_, i) => first + entries.length + i);
      const found = await Promise.all(numbers.map((number) => this.#entry(number)));
      // Entries after a gap do not count: another process may have filled the gap after it was read here, and then
      // added the entries after it.
      const gap = found.indexOf(undefined);
      entries.push(...(found.slice(0, gap < 0 ? count : gap) as string[]));
      if (gap >= 0) break;
    }
    if (entries.length > 0) await this.#learn(first + entries.length - 1, entries.at(-1) as string);
    return entries;
  }

  /** All entries, for `replayLedger`. Errors: as `read`. */
  async entries(): Promise<string[]> {
    const entries: string[] = [];
    for (;;) {
      const found = await this.read(entries.length);
      if (found.length === 0) return entries;
      entries.push(...found);
    }
  }

  /**
   * Adds `entry` as number `number`, unless there is an entry of this number already, or none before it. Returns
   * whether it was added. Errors: `number`, `entry` (no text of one line), `log` (it is another log than the one that
   * was read), those of the file system.
   */
  async append(number: number, entry: string): Promise<boolean> {
    const which = Number(u53('number', number));
    const line = lineOf(entry);
    await this.#checkSame(which);
    if (which > 0 && (await this.#entry(which - 1)) === undefined) return false;
    if (which === 0) await mkdir(this.path).catch(unless('EEXIST'));
    const temporary = join(this.path, `.${crypto.randomUUID()}.tmp`);
    const file = await open(temporary, 'wx');
    const own = await file.stat({ bigint: true });
    try {
      try {
        await file.writeFile(`${line}\n`);
        // Without this sync, a loss of power could leave a file with the name but without its content.
        await file.sync();
      } finally {
        await file.close();
      }
      const isRefused = await link(temporary, join(this.path, nameOf(which))).catch(unless('EEXIST'));
      // A network file system may make the link, lose the answer, and refuse the repeated request. If the temporary
      // file has two links, the link was made.
      if (isRefused && (await stat(temporary)).nlink < 2) return false;
    } finally {
      await rm(temporary, { force: true });
    }
    await this.#checkSame(which).catch(async (error: unknown) => {
      // The folder was replaced after the first check. The entry is in the other log, where it must not stay, or it went
      // with the folder: then the name is that of an entry of the other log.
      const path = join(this.path, nameOf(which));
      const there = await stat(path, { bigint: true }).catch(unless('ENOENT'));
      if (there !== true && there.ino === own.ino && there.dev === own.dev) await rm(path, { force: true });
      throw error;
    });
    await this.#learn(which, line);
    return true;
  }

  /** The last checkpoint, if there is one. Errors: those of the file system. A missing folder is no error. */
  async lastCheckpoint(): Promise<string | undefined> {
    const names = await readdir(this.path).catch(unless('ENOENT'));
    if (names === true) return undefined;
    const numbers = names.filter((name) => NAME.test(name)).map((name) => Number.parseInt(name, 10));
    // The first entry is never a checkpoint.
    for (const number of numbers.sort((one, other) => other - one).filter((number) => number > 0)) {
      const entry = await this.#entry(number);
      if (entry?.startsWith(CHECKPOINT)) return entry;
    }
    return undefined;
  }

  /** Entry number `number`, if it is there. */
  async #entry(number: number): Promise<string | undefined> {
    const text = await readFile(join(this.path, nameOf(number)), 'utf8').catch(unless('ENOENT'));
    return text === true ? undefined : text.replace(/\n$/, '');
  }

  async #learn(number: number, entry: string): Promise<void> {
    const second = this.#known.get(1) ?? (number > 1 ? await this.#entry(1) : undefined);
    this.#known = new Map(second === undefined ? [] : [[1, second]]).set(number, entry);
  }

  /** Fails if the folder has another log than the one that was read. A read from entry 0 may begin with another log. */
  async #checkSame(from: number): Promise<void> {
    if (from === 0) this.#known = new Map();
    for (const [number, entry] of this.#known) {
      if ((await this.#entry(number)) === entry) continue;
      const value = `another log: entry ${number} is not the one that was read, in ${this.path}`;
      fail('contradiction', 'log', value, 'the same folder for the whole epoch: open the ledger anew');
    }
  }
}

/** A handler for `catch`: returns true for an error with this code, and throws any other error again. */
function unless(code: string): (error: unknown) => true {
  return (error) => {
    if ((error as NodeJS.ErrnoException).code !== code) throw error;
    return true;
  };
}
