// Writes files for programs in Node, and for pages, which cannot write files themselves.
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

/** Prints lines for the test, which gets them even if this process is killed at once. */
export function tell(lines) {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  return new Promise((resolve) => stdout.write(text, resolve));
}

/** Replaces a file at once, so that a process that is killed meanwhile leaves the old one. */
export function save(path, text) {
  const temporary = `${path}.new`;
  writeFileSync(temporary, text);
  renameSync(temporary, path);
}

/**
 * The log of a ledger in a file, for one process at a time. Node has no lock for files, so this is no log for several
 * processes, which this test does not need.
 */
export class Lines {
  constructor(path) {
    this.path = path;
    if (!existsSync(path)) closeSync(openSync(path, 'a'));
    // An incomplete entry of a process that was killed is cut off.
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
