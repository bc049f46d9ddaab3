// The package in a page of Firefox, and in a Worker of it, where Firefox is installed.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as samedeal from 'samedeal';
import { firefox, start } from '../../../../tests/matrix/browsers.mjs';
import { serve } from '../../../../tests/matrix/page.mjs';
import { everything } from '../everything.mjs';

const host = fileURLToPath(new URL('../..', import.meta.url));

const WORKER = `
  import * as samedeal from '/dist/web.js';
  import { everything } from '/test/everything.mjs';
  const all = async () => {
    await samedeal.init();
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
  let told;
  const answer = new Promise((resolve) => {
    told = resolve;
  });
  const folders = { '/dist/': join(host, 'dist/'), '/test/': join(host, 'test/'), '/page/': `${folder}/` };
  const server = await serve(folders, '<script type="module" src="/page/all.js"></script>', told);
  const { gone, close } = start('firefox', server.url);
  try {
    const failed = gone.then((error) => Promise.reject(error));
    const answers = JSON.parse(await Promise.race([answer, failed]));
    const expected = await everything(samedeal);
    assert.deepEqual(answers, [expected, expected]);
  } finally {
    await close();
    server.close();
    rmSync(folder, { recursive: true, maxRetries: 5 });
  }
});
