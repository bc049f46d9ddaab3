// The time of a page from the navigation to its first answer, in headless Chromium with an empty cache, over a slow
// network. The pages are those of the documentation, and bundles of them by esbuild (`npm install` in
// hosts/js/test/bundlers). With --explorer: the first view of the explorer, to its first sentence and to its numbers.
//
//   node tests/bench/page.mjs [--runs 9] [--mbit 10] [--rtt 20] [--encoding gzip|br|identity] [--json FILE] [DIST ...]
//   node tests/bench/page.mjs --explorer [--mbit 10] [--rtt 40] [...] [DIST ...]
//
// DIST are folders `dist` of builds of the package, or of the explorer, which are measured in turn; by default the one of
// this checkout.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { startBrowser } from '../matrix/page.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string', default: '9' },
    mbit: { type: 'string', default: '10' },
    rtt: { type: 'string', default: '20' },
    encoding: { type: 'string', default: 'gzip' },
    json: { type: 'string' },
    explorer: { type: 'boolean', default: false },
  },
});
const [runs, mbit, rtt] = [values.runs, values.mbit, values.rtt].map(Number);
const builds =
  positionals.length > 0
    ? positionals.map((path) => resolve(path))
    : [join(root, values.explorer ? 'docs/explorer/dist' : 'hosts/js/dist')];

const TYPES = { '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript', '.wasm': 'application/wasm' };
const ENCODERS = { gzip: (bytes) => gzipSync(bytes, { level: 9 }), br: brotliCompressSync, identity: (bytes) => bytes };
const encode = ENCODERS[values.encoding];
if (!encode) throw new Error(`--encoding is one of ${Object.keys(ENCODERS).join(', ')}`);

/** The blocks of HTML on a page of the documentation. */
const blocks = (file) =>
  Array.from(readFileSync(join(root, file), 'utf8').matchAll(/^```html[^\n]*\n(.*?)^```$/gms), ([, html]) => html);
const [all, light] = blocks('docs/reference/javascript/pages.md');
const [start] = blocks('docs/start/page.md');
const ENTRY = './samedeal/dist/web.js';
/** The measured cases: a page, and whether its script is bundled. */
const PAGES = [
  { name: 'Batcher of web.js', html: all },
  { name: 'Sampler of web.js (docs/start/page.md)', html: start },
  { name: 'Sampler of light.js', html: light },
  { name: 'Batcher of samedeal/web, bundled by esbuild', html: all, bundled: true },
];
/** The measured moments of the explorer: the element whose text is waited for. */
const MOMENTS = [
  { name: 'explorer: the first sentence', until: 'h1' },
  { name: 'explorer: its numbers', until: '[data-count=torch]' },
];

/** Bundles the script of a page with a build of the package; returns the folder of the output. */
function bundle(html, dist, folder) {
  const esbuild = join(root, 'hosts/js/test/bundlers/node_modules/.bin/esbuild');
  if (!existsSync(esbuild)) return undefined;
  const project = join(folder, 'project');
  mkdirSync(join(project, 'node_modules/samedeal'), { recursive: true });
  symlinkSync(dist, join(project, 'node_modules/samedeal/dist'));
  const manifest = readFileSync(join(root, 'hosts/js/package.json'));
  writeFileSync(join(project, 'node_modules/samedeal/package.json'), manifest);
  const [, script] = /<script type="module">(.*)<\/script>/s.exec(html);
  writeFileSync(join(project, 'page.js'), script.replaceAll(ENTRY, 'samedeal/web'));
  const options = ['--bundle', '--minify', '--splitting', '--format=esm', '--preserve-symlinks', '--log-level=error'];
  execFileSync(esbuild, ['page.js', ...options, `--outdir=${join(folder, 'out')}`], { cwd: project });
  return join(folder, 'out');
}

/**
 * Serves files that were compressed before: the pages of each build, and the files of `folders` by the beginning of a
 * path.
 */
async function serve(pages, folders) {
  const kept = new Map();
  const found = (pathname) => {
    const page = pages.get(pathname);
    if (page) return Buffer.from(page);
    const [beginning, folder] = Object.entries(folders).find(([start]) => pathname.startsWith(start)) ?? [];
    const file = folder && join(folder, pathname.slice(beginning.length));
    return file && existsSync(file) ? readFileSync(file) : undefined;
  };
  const answer = (pathname) => {
    const bytes = found(pathname);
    return bytes && encode(bytes);
  };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    if (!kept.has(pathname)) kept.set(pathname, answer(pathname));
    const bytes = kept.get(pathname);
    if (!bytes) return response.writeHead(404).end();
    response.setHeader('content-type', TYPES[extname(pathname) || '.html'] ?? 'application/json');
    response.setHeader('content-length', bytes.length);
    if (values.encoding !== 'identity') response.setHeader('content-encoding', values.encoding);
    response.end(bytes);
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

/**
 * Runs in the page before its scripts. `answered` becomes the time when the element first has text, in milliseconds since
 * the navigation, and this text.
 */
function watch(until) {
  globalThis.answered = new Promise((tell) => {
    const seen = new MutationObserver(() => {
      const text = document.querySelector(until)?.textContent.trim();
      if (!text) return;
      seen.disconnect();
      tell({ time: performance.now(), text });
    });
    seen.observe(document, { childList: true, characterData: true, subtree: true });
  });
}

/** The time of the answer, and the files that the page had loaded by then. */
async function asked() {
  const { time, text } = await globalThis.answered;
  const loaded = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
  const files = loaded.map(({ name, startTime, responseStart, responseEnd, encodedBodySize }) => {
    const [begun, first, last] = [startTime, responseStart, responseEnd].map(Math.round);
    return { file: new URL(name).pathname, begun, first, last, bytes: encodedBodySize };
  });
  return { time, files: files.filter(({ file }) => file !== '/favicon.ico'), text };
}

async function measure(browser, { path, until = 'body' }, origin) {
  // A context has its own caches, and its page has its own process.
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const devtools = await context.newCDPSession(page);
    await devtools.send('Network.enable');
    const throughput = (mbit * 1e6) / 8;
    const network = { offline: false, latency: rtt, downloadThroughput: throughput, uploadThroughput: throughput };
    await devtools.send('Network.emulateNetworkConditions', network);
    await page.addInitScript(watch, until);
    await page.goto(origin + path, { waitUntil: 'commit' });
    return await page.evaluate(asked);
  } finally {
    await context.close();
  }
}

const folder = mkdtempSync(join(tmpdir(), 'samedeal-pages-'));
const browser = await startBrowser();
const cells = [];
const [pages, folders] = [new Map(), {}];
for (const [build, dist] of builds.entries()) {
  if (values.explorer) {
    folders[`/${build}/`] = `${dist}/`;
    for (const moment of MOMENTS) cells.push({ ...moment, dist, path: `/${build}/index.html`, times: [] });
    continue;
  }
  folders[`/${build}/samedeal/dist/`] = `${dist}/`;
  for (const [number, { name, html, bundled }] of PAGES.entries()) {
    const path = `/${build}/${number}`;
    if (bundled) {
      const out = bundle(html, dist, join(folder, path));
      if (!out) continue;
      folders[`${path}/`] = `${out}/`;
      pages.set(path, `<!doctype html><script type="module" src="${path}/page.js"></script>`);
    } else {
      pages.set(path, html.startsWith('<!doctype') ? html : `<!doctype html>${html}`);
    }
    cells.push({ name, dist, path, times: [] });
  }
}
const server = await serve(pages, folders);
try {
  // The first round fills the caches of the server and of the disk.
  for (let run = -1; run < runs; run++) {
    for (const cell of cells) {
      const { time, files, text } = await measure(browser, cell, server.url);
      if (cell.text !== undefined && cell.text !== text)
        throw new Error(`${cell.name}: ${text}, and before ${cell.text}`);
      Object.assign(cell, { files, text });
      if (run >= 0) cell.times.push(time);
    }
  }
} finally {
  server.close();
  await browser.close();
  rmSync(folder, { recursive: true });
}

const found = cells.map(({ name, dist, times, files, text }) => {
  times.sort((a, b) => a - b);
  const kilobytes = files.reduce((sum, { bytes }) => sum + bytes, 0) / 1e3;
  const [median, minimum] = [times[times.length >> 1], times[0]].map(Math.round);
  return { name, dist, median, minimum, requests: files.length, kilobytes: Math.round(kilobytes), text, files };
});
const about = `Chromium ${browser.version()}, ${mbit} Mbit/s, ${rtt} ms, ${values.encoding}, ${runs} runs`;
console.log(`${about}\n\n| page | first answer, median | minimum | requests | loaded |\n|---|---|---|---|---|`);
for (const { name, dist, median, minimum, requests, kilobytes } of found) {
  const title = builds.length > 1 ? `${name}, ${dist}` : name;
  console.log(`| ${title} | ${median} ms | ${minimum} ms | ${requests} | ${kilobytes} kB |`);
}
if (values.json) {
  mkdirSync(dirname(resolve(values.json)), { recursive: true });
  writeFileSync(values.json, `${JSON.stringify({ about, pages: found }, null, 2)}\n`);
}
