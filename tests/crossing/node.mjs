// The JavaScript host in Node: `node.mjs REQUEST`.
import { readFileSync } from 'node:fs';
import process from 'node:process';
import * as samedeal from '../../hosts/js/dist/index-files.js';
import { Lines, save, tell } from './disk.mjs';
import { run } from './jobs.mjs';

const request = JSON.parse(readFileSync(process.argv[2], 'utf8'));
await tell([{ host: 'node', engine: `Node ${process.versions.node}`, pid: process.pid }]);
// The process waits until the test kills it, and ends with the test.
process.stdin.once('end', () => process.exit(1)).resume();
await run(samedeal, request, {
  tell,
  save,
  read: (path) => readFileSync(path, 'utf8'),
  log: (path) => new Lines(path),
});
process.exit();
