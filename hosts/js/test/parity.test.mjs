// Compares the table of features in docs/parity.md with the exports of this package.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as samedeal from 'samedeal';
import * as files from 'samedeal/files';
import * as node from 'samedeal/node';
import * as parquet from 'samedeal/parquet';
import * as page from 'samedeal/web';
import * as pageParquet from 'samedeal/web/parquet';

const text = readFileSync(new URL('../../../docs/parity.md', import.meta.url), 'utf8');
const [head, , ...rows] = text.split('\n').filter((line) => line.startsWith('|'));
const cells = (line) =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
/** Names that are only types, so they are no values of a module. */
const TYPES = ['Format', 'Log', 'Order'];

test('what the table says of Node and of pages is there', () => {
  const names = cells(head);
  assert.deepEqual(names, ['feature', 'Rust', 'Python', 'Node', 'page', 'command']);
  assert(rows.length > 15);
  const told = { Node: new Set(), page: new Set() };
  for (const row of rows) {
    for (const column of ['Node', 'page']) {
      for (const [, name] of cells(row)[names.indexOf(column)].matchAll(/`(\w+)[^`]*`/g)) {
        const [whole, others] = column === 'Node' ? [samedeal, { ...files, ...node }] : [page, pageParquet];
        const entry = name in others ? others : whole;
        const isThere = name in entry || name in whole.Sampler.prototype || TYPES.includes(name);
        assert(isThere || name in whole.Sampler || name === 'toJSON', `${column}: ${name} is not there`);
        told[column].add(name);
      }
    }
  }
  // The other direction: every export must be in the table.
  const silent = ['plainOrders', 'SamedealError', 'version'];
  const missing = [...Object.keys(samedeal), ...Object.keys(parquet)].filter((name) => !silent.includes(name));
  for (const column of ['Node', 'page']) {
    assert.deepEqual(
      [...missing, ...(column === 'Node' ? Object.keys({ ...files, ...node }) : [])].filter(
        (name) => !told[column].has(name),
      ),
      [],
    );
  }
});

test('every hole has its reason', () => {
  const reasons = [...text.matchAll(/^- \((\w)\) /gm)].map(([, letter]) => letter);
  assert.equal(new Set(reasons).size, reasons.length);
  const used = new Set();
  for (const row of rows) {
    for (const cell of cells(row)) {
      const [, letter] = /\((\w)\)$/.exec(cell) ?? [];
      if (letter) used.add(letter);
      else assert.notEqual(cell.split(' ')[0], 'no', row);
    }
  }
  assert.deepEqual([...used].sort(), reasons);
});
