// The package in a real page.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as samedeal from 'samedeal';
import { openPage } from '../../../../tests/matrix/page.mjs';
import { everything } from '../everything.mjs';

const host = fileURLToPath(new URL('../..', import.meta.url));
const dist = join(host, 'dist/');

test('the examples of the README run in a page', async () => {
  const readme = readFileSync(join(host, 'README.md'), 'utf8');
  const answers = [];
  for (const [, html] of readme.matchAll(/^```html\n(.*?)^```/gms)) {
    const { page, close } = await openPage({ '/samedeal/dist/': dist }, html);
    try {
      await page.waitForFunction(() => document.body.textContent.trim() !== '', undefined, { timeout: 600_000 });
      answers.push(await page.textContent('body'));
    } finally {
      await close();
    }
  }
  assert.deepEqual(answers, ['8 0 6 3', '32 steps']);
});

test('a page without a bundler may import the whole package, and everything in it answers as in Node', async () => {
  const { page, close } = await openPage({ '/dist/': dist, '/test/': join(host, 'test/') }, '');
  try {
    const outcome = await page.evaluate(async () => {
      const { everything } = await import('/test/everything.mjs');
      return everything(await import('/dist/index.js'));
    });
    assert.equal(outcome, await everything(samedeal));
    assert(outcome.length > 5000);
  } finally {
    await close();
  }
});

test('a page has room for thousands of samplers, and for large tables one after the other', async () => {
  const { page, close } = await openPage({ '/dist/': dist }, '');
  try {
    const outcome = await page.evaluate(async () => {
      const { init, Sampler } = await import('/dist/web.js');
      await init();
      const made = Array.from({ length: 3000 }, (_, seed) => new Sampler(1000, { seed, order: 'torch' }));
      const before = made.map((sampler) => sampler.sampleAt(0));
      for (let seed = 0; seed < 300; seed++) new Sampler(2e6, { seed, order: 'fisher-yates' }).sampleAt(0);
      return before.length === 3000 && made.every((sampler, i) => sampler.sampleAt(0) === before[i]);
    });
    assert(outcome);
  } finally {
    await close();
  }
});

test('a page has composed orders from an entry of its own', async () => {
  const { page, close } = await openPage({ '/dist/': dist }, '');
  try {
    const outcome = await page.evaluate(async () => {
      const { blend, init, order, Sampler } = await import('/dist/web-composing.js');
      await init();
      const bad = Uint32Array.from({ length: 1000 }, (_, i) => 3 * i);
      const mixed = blend({ web: [order('feistel', { samples: 5000 }).exclude(bad), 3], code: [700, 1] }, { seed: 5 });
      const sampler = new Sampler(mixed, { worldSize: 2, rank: 1 });
      return [sampler.fingerprint(), [...sampler.sourceCounts(0, 2000).count]];
    });
    const bad = Uint32Array.from({ length: 1000 }, (_, i) => 3 * i);
    const { blend, order, Sampler } = samedeal;
    const mixed = blend({ web: [order('feistel', { samples: 5000 }).exclude(bad), 3], code: [700, 1] }, { seed: 5 });
    assert.deepEqual(outcome, [new Sampler(mixed, { worldSize: 2, rank: 1 }).fingerprint(), [1500, 500]]);
  } finally {
    await close();
  }
});
