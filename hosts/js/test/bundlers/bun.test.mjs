// The package in Bun, without a bundler: a directory of Parquet files. Bun returns names of files in another form than
// Node.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ANSWERS, makeProject, PARQUET_ANSWER } from './project.mjs';

const run = promisify(execFile);
const bun = fileURLToPath(new URL('node_modules/bun/bin/bun.exe', import.meta.url));

let made;
before(async () => {
  made = await makeProject();
});
after(() => made?.remove());

/** The output of a module of the project in Bun. */
async function printed(entry, data = made.data) {
  const { stdout } = await run(bun, ['run', entry], { cwd: made.project, env: { ...process.env, DATA: data } });
  return stdout.trim();
}

describe('Bun', () => {
  for (const [entry, answers] of [
    ['node.js', ANSWERS],
    ['node-inline.js', ANSWERS],
    ['node-web.js', ANSWERS],
    ['node-parquet.js', PARQUET_ANSWER],
  ]) {
    test(entry, async () => assert.equal(await printed(entry), answers));
  }

  test('a name that is not UTF-8 is an error that shows its bytes, as in Node', async () => {
    const folder = join(made.project, 'names');
    mkdirSync(folder);
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff]), Buffer.from('.parquet')]), '');
    await assert.rejects(
      printed('node-parquet.js', folder),
      /its name is not UTF-8 \(ff2e70617271756574 in hexadecimal\)/,
    );
  });
});
