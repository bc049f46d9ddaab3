// What programs in Node leave on disk, also for pages, which have none.
import {
  appendFileSync,
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { stdout } from 'node:process';

/** Lines for the test, which reads them even if this process dies at once. */
export function tell(lines) {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  return new Promise((resolve) => stdout.write(text, resolve));
}

/** Writes a file at once, so that whoever dies meanwhile leaves the one before. */
export function save(path, text) {
  const temporary = `${path}.new`;
  writeFileSync(temporary, text);
  renameSync(temporary, path);
}

/**
 * The log of a ledger in a file. One process at a time uses it, which is all that this test needs: Node has no lock for files, and this
 * is no log for several processes.
 */
export class Lines {
  constructor(path) {
    this.path = path;
    if (!existsSync(path)) closeSync(openSync(path, 'a'));
    // A process that died left half an entry.
    const bytes = readFileSync(path);
    truncateSync(path, bytes.lastIndexOf(10) + 1);
  }

  read(from) {
    return readFileSync(this.path, 'utf8').split('\n').slice(0, -1).slice(from);
  }

  append(number, entry) {
    if (this.read(0).length !== number) return false;
    appendFileSync(this.path, `${entry}\n`);
    return true;
  }
}
