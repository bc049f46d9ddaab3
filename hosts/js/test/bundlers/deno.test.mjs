// The package in Deno, without a bundler: the condition "deno" of its exports.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ANSWERS, makeProject, PARQUET_ANSWER } from './project.mjs';

const run = promisify(execFile);
const deno = fileURLToPath(new URL('node_modules/deno/bin.cjs', import.meta.url));

let made;
before(async () => {
  made = await makeProject();
});
after(() => made?.remove());

/** The output of a module of the project in Deno. Deno must not ask the user for permissions. */
async function printed(entry, ...permissions) {
  const settings = { cwd: made.project, env: { ...process.env, DATA: made.data, DENO_NO_UPDATE_CHECK: '1' } };
  const { stdout } = await run(process.execPath, [deno, 'run', '--no-prompt', ...permissions, entry], settings);
  return stdout.trim();
}

describe('Deno', () => {
  for (const [entry, answers, ...permissions] of [
    // The component is a file, which the program needs the permission to read.
    ['node.js', ANSWERS, '--allow-read=.'],
    ['node-inline.js', ANSWERS],
    ['node-web.js', ANSWERS],
    ['node-parquet.js', PARQUET_ANSWER, '--allow-read', '--allow-env=DATA'],
  ]) {
    test(`${entry} ${permissions.join(' ')}`, async () => {
      assert.equal(await printed(entry, ...permissions), answers);
    });
  }

  test('it takes the module with its files apart', async () => {
    writeFileSync(join(made.project, 'where.js'), "console.log(import.meta.resolve('samedeal'));");
    assert.match(await printed('where.js', '--allow-read=.'), /dist\/index-files\.js$/);
  });
});
