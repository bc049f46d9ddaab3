import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

/** The log of a ledger in a file, for one process. When `append` returns, the entry is on the disk. */
export class FileLog {
  #file;
  #size = 0;
  #entries = [];

  constructor(path) {
    mkdirSync(dirname(path), { recursive: true });
    this.#file = openSync(path, 'a+');
    const lines = readFileSync(this.#file, 'utf8').split('\n');
    // The last line may be a part of an entry, if the process was killed while it wrote.
    lines.pop();
    for (const line of lines) this.#size += Buffer.byteLength(line) + 1;
    this.#entries = lines;
    ftruncateSync(this.#file, this.#size);
  }

  /** All entries, as texts. */
  get entries() {
    return this.#entries;
  }

  read(from) {
    return this.#entries.slice(from);
  }

  append(number, entry) {
    if (number !== this.#entries.length) return false;
    if (fstatSync(this.#file).size !== this.#size) throw new Error('another process writes to the log');
    const line = Buffer.from(`${entry}\n`);
    try {
      for (let at = 0; at < line.length; ) at += writeSync(this.#file, line, at);
      fdatasyncSync(this.#file);
    } catch (error) {
      // If the disk is full, a part of the entry may be written. It must not stay.
      ftruncateSync(this.#file, this.#size);
      throw error;
    }
    this.#size += line.length;
    this.#entries.push(entry);
    return true;
  }

  close() {
    closeSync(this.#file);
  }
}
