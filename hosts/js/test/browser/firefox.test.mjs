// The package in a page of Firefox, and in a Worker of it, where Firefox is installed.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as samedeal from 'samedeal';
import { serve } from '../../../../tests/matrix/page.mjs';
import { everything } from '../everything.mjs';

const host = fileURLToPath(new URL('../..', import.meta.url));
const places = [process.env.FIREFOX, '/usr/bin/firefox-esr', '/usr/bin/firefox'];
const firefox = places.find((path) => path && existsSync(path));

const WORKER = `
  import * as samedeal from '/dist/web.js';
  import { everything } from '/test/everything.mjs';
  const all = async () => {
    await samedeal.init(['sampling', 'composing', 'batching', 'planning', 'topology']);
    return everything(samedeal);
  };
  if (globalThis.document) {
    const worker = new Worker('/page/all.js', { type: 'module' });
    const inWorker = new Promise((resolve) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = ({ message }) => resolve(message);
    });
    const answers = await Promise.all([all().catch(String), inWorker]);
    await fetch('/told', { method: 'POST', body: JSON.stringify(answers) });
  } else {
    all().catch(String).then(postMessage);
  }`;

test('everything answers in Firefox as in Node', { skip: !firefox && 'no Firefox' }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'samedeal-firefox-'));
  writeFileSync(join(folder, 'all.js'), WORKER);
  mkdirSync(join(folder, 'profile'));
  let told;
  const answer = new Promise((resolve) => {
    told = resolve;
  });
  const folders = { '/dist/': join(host, 'dist/'), '/test/': join(host, 'test/'), '/page/': `${folder}/` };
  const server = await serve(folders, '<script type="module" src="/page/all.js"></script>', told);
  const args = ['--headless', '--no-remote', '--profile', join(folder, 'profile'), server.url];
  const browser = spawn(firefox, args, { stdio: 'ignore', env: { ...process.env, HOME: folder } });
  const ended = new Promise((resolve) => browser.once('exit', resolve));
  try {
    const failed = ended.then((code) => assert.fail(`Firefox ended with ${code}`));
    const answers = JSON.parse(await Promise.race([answer, failed]));
    const expected = await everything(samedeal);
    assert.deepEqual(answers, [expected, expected]);
  } finally {
    browser.kill();
    await ended;
    server.close();
    rmSync(folder, { recursive: true, maxRetries: 5 });
  }
});
