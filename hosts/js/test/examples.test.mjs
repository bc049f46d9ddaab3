// The examples of the documentation run, and print the text beside them. (Examples of orders are in
// test/composed.test.mjs.)
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import * as samedeal from 'samedeal';

const source = fileURLToPath(new URL('../src', import.meta.url));
const files = readdirSync(source, { recursive: true }).filter((file) => file.endsWith('.ts') && !/^order\b/.test(file));

/** The output of an example. */
async function printed(code) {
  const lines = [];
  const log = (...values) =>
    lines.push(values.map((value) => (typeof value === 'string' ? value : inspect(value))).join(' '));
  // An example may have an `await`.
  const AsyncFunction = (async () => {}).constructor;
  await new AsyncFunction('console', ...Object.keys(samedeal), code)({ log }, ...Object.values(samedeal));
  return lines;
}

test('the examples of the documentation run', async () => {
  let count = 0;
  for (const file of files) {
    const text = readFileSync(join(source, file), 'utf8');
    for (const [, block] of text.matchAll(/@example\n((?: +\*(?: .*)?\n)+?) +\*\//g)) {
      const code = block.replaceAll(/^ +\* ?/gm, '');
      const said = [...code.matchAll(/(?:;|^) ?\/\/ (.*)$/gm)].map(([, line]) => line);
      assert.deepEqual(await printed(code), said, `${file}:\n${code}`);
      count += 1;
    }
  }
  assert.equal(count, 18);
});
