// The package in a real page.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as samedeal from 'samedeal';
import { openPage } from '../../../../tests/matrix/page.mjs';
import { everything } from '../everything.mjs';
import { folder, write } from '../parquet-files.mjs';

const host = fileURLToPath(new URL('../..', import.meta.url));
const dist = join(host, 'dist/');

/** For each page of the documentation with HTML: the texts that the bodies of its examples get. */
const EXAMPLES = {
  'README.md': ['8 0 6 3'],
  '../../docs/reference/javascript/pages.md': ['14 steps', '8 0 6 3', '32 steps'],
  '../../docs/start/page.md': ['rank 3 of 8: 8738136 8896083 4531278 9165580'],
};

test('the examples of the documentation run in a page', async () => {
  for (const [file, expected] of Object.entries(EXAMPLES)) {
    const answers = [];
    const text = readFileSync(join(host, file), 'utf8');
    // If a block of text follows the HTML, it has the text that the page must show.
    for (const [, html, shown] of text.matchAll(
      /^```html[^\n]*\n(.*?)^```$(?:[^`]|`(?!``))*(?:^```text\n(.*?)^```)?/gms,
    )) {
      const { page, close } = await openPage({ '/samedeal/dist/': dist }, html);
      try {
        await page.waitForFunction(() => document.body.textContent.trim() !== '', undefined, { timeout: 600_000 });
        answers.push((await page.textContent('body')).trim());
        if (shown) assert.equal(answers.at(-1), shown.trim(), file);
      } finally {
        await close();
      }
    }
    assert.deepEqual(answers, expected, file);
  }
});

test('all pages with HTML are named here', () => {
  const docs = join(host, '../../docs');
  const pages = readdirSync(docs, { recursive: true }).filter(
    (file) => file.endsWith('.md') && !file.includes('explorer'),
  );
  const found = pages.filter((file) => readFileSync(join(docs, file), 'utf8').match(/^```html/m));
  assert.deepEqual(found.map((file) => `../../docs/${file}`).sort(), Object.keys(EXAMPLES).slice(1).sort());
});

test('a page without a bundler may import the whole package, and everything in it answers as in Node', async () => {
  const { page, close } = await openPage({ '/dist/': dist, '/test/': join(host, 'test/') }, '');
  try {
    const outcome = await page.evaluate(async () => {
      const { everything } = await import('/test/everything.mjs');
      const all = [await everything(await import('/dist/index.js')), await everything(await import('/dist/inline.js'))];
      return all[0] === all[1] ? all[0] : all;
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

test('a page reads Parquet files: from a server, and those that are dropped on it', async (t) => {
  const data = folder(t);
  write(data, [60, 40, 100]);
  const library = (name) => `/packages/${name}/`;
  const imports = {
    hyparquet: `${library('hyparquet')}src/index.js`,
    'hyparquet-compressors': `${library('hyparquet-compressors')}src/index.js`,
    fzstd: `${library('fzstd')}esm/index.mjs`,
    hysnappy: `${library('hysnappy')}js/index.js`,
  };
  const html = `<script type="importmap">${JSON.stringify({ imports })}</script>`;
  const folders = { '/dist/': dist, '/data/': `${data}/`, '/packages/': join(host, 'node_modules/') };
  const { page, close } = await openPage(folders, html);
  try {
    const outcome = await page.evaluate(async () => {
      const { init, Reading, SamedealError } = await import('/dist/web.js');
      const { findShards, readBatches, readRows, readShards } = await import('/dist/web-parquet.js');
      await init();
      const urls = [0, 1, 2].map((i) => `/data/${i}.parquet`);
      const ids = async (rows) => {
        const seen = [];
        for await (const row of rows) seen.push(...[row].flat().map(({ id }) => id));
        return seen;
      };
      const files = await Promise.all(
        urls.map(async (url) => new File([await (await fetch(url)).blob()], url.slice('/data/'.length))),
      );
      const options = { seed: 3, lanes: 8, batchSize: 16 };
      const dropped = await findShards(files, { columns: ['id'] });
      const reading = new Reading(dropped.sizes, options);
      const rest = reading.resume(reading.state(4));
      const wrong = await readShards(['/data/none.parquet']).next().catch(String);
      // The error comes from the entry for Parquet, which is a file of its own, and must have the same class.
      const refused = await findShards([3]).catch((error) => error);
      const aborted = await readShards(urls, { signal: AbortSignal.abort() })
        .next()
        .catch(({ name }) => name);
      return {
        fromServer: await ids(readShards(urls, options)),
        dropped: await ids(readShards(files, options)),
        names: dropped.paths,
        rest: await ids(readBatches(dropped, rest, { rank: 0 })),
        rows: await readRows(dropped, [150, 3, 70]),
        wrong,
        refused: refused instanceof SamedealError && refused.kind,
        aborted,
      };
    });
    const sampler = samedeal.Sampler.sharded([60, 40, 100], { seed: 3, lanes: 8 });
    assert.deepEqual(outcome.fromServer, [...sampler]);
    assert.deepEqual(outcome.dropped, outcome.fromServer);
    assert.deepEqual(outcome.names, ['0.parquet', '1.parquet', '2.parquet']);
    assert.deepEqual(outcome.rest, outcome.fromServer.slice(64));
    assert.deepEqual(outcome.rows, [{ id: 150 }, { id: 3 }, { id: 70 }]);
    assert.match(outcome.wrong, /none\.parquet: .*404/);
    assert.equal(outcome.refused, 'wrong-type');
    assert.equal(outcome.aborted, 'AbortError');
  } finally {
    await close();
  }
});

test('a page has everything, under a policy that allows WebAssembly alone', async () => {
  const policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'";
  const html = `<meta http-equiv="Content-Security-Policy" content="${policy}"><script type="module" src="/page/all.js"></script>`;
  await inFolder({ 'all.js': SHOWN }, async (folder) => {
    const { page, close } = await openPage({ '/dist/': dist, '/test/': join(host, 'test/'), '/page/': folder }, html);
    try {
      await page.waitForFunction(() => document.body.textContent.trim() !== '', undefined, { timeout: 600_000 });
      assert.equal(await page.textContent('body'), await everything(samedeal));
    } finally {
      await close();
    }
  });
});

test('a Worker has everything, and a page goes on meanwhile', async () => {
  const worker = `${LOADED}\nonmessage = async () => postMessage(await all());`;
  await inFolder({ 'worker.js': worker }, async (folder) => {
    const folders = { '/dist/': dist, '/test/': join(host, 'test/'), '/page/': folder };
    const { page, close } = await openPage(folders, '');
    try {
      const outcome = await page.evaluate(async () => {
        const worker = new Worker('/page/worker.js', { type: 'module' });
        const answer = new Promise((resolve, reject) => {
          worker.onmessage = ({ data }) => resolve(data);
          worker.onerror = ({ message }) => reject(new Error(message));
        });
        worker.postMessage('begin');
        return await answer;
      });
      assert.equal(outcome, await everything(samedeal));
    } finally {
      await close();
    }
  });
});

test('a service worker, which has no import(), uses every entry', async () => {
  const worker = `
    import { everything } from '/test/everything.mjs';
    import * as samedeal from '/dist/inline.js';
    import { Sampler } from '/dist/light.js';
    import { init, Sampler as Web } from '/dist/web.js';
    const answer = async () => ({
      all: await everything(samedeal),
      light: new Sampler(10, { seed: 42, epoch: 1, order: 'torch', worldSize: 3 }).indices().join(' '),
      web: await init().then(() => new Web(10, { seed: 42, epoch: 1, order: 'torch', worldSize: 3 }).indices().join(' ')),
    });
    onmessage = ({ source }) => answer().then((found) => source.postMessage(found), (error) => source.postMessage(String(error)));`;
  await inFolder({ 'worker.js': worker }, async (folder) => {
    const folders = { '/dist/': dist, '/test/': join(host, 'test/'), '/page/': folder };
    const { page, close } = await openPage(folders, '');
    try {
      const outcome = await page.evaluate(async () => {
        const { installing, waiting, active } = await navigator.serviceWorker.register('/page/worker.js', {
          type: 'module',
        });
        const answer = new Promise((resolve) =>
          navigator.serviceWorker.addEventListener('message', ({ data }) => resolve(data)),
        );
        navigator.serviceWorker.startMessages();
        (installing ?? waiting ?? active).postMessage('begin');
        return await answer;
      });
      assert.equal(outcome.all, await everything(samedeal), JSON.stringify(outcome).slice(0, 500));
      assert.equal(outcome.light, '8 0 6 3');
      assert.equal(outcome.web, '8 0 6 3');
    } finally {
      await close();
    }
  });
});

const LOADED = `
  import * as samedeal from '/dist/web.js';
  import { everything } from '/test/everything.mjs';
  const all = async () => {
    await samedeal.init();
    return everything(samedeal);
  };`;
const SHOWN = `${LOADED}\ndocument.body.textContent = await all().catch(String);`;

/** Calls `use` with a folder that has these files. */
async function inFolder(files, use) {
  const folder = mkdtempSync(join(tmpdir(), 'samedeal-page-'));
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    await use(`${folder}/`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
