// The golden cases in a page of headless Chromium, over both builds, without a bundler.
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { fail, groupFiles, report } from './report.mjs';

const root = new URL('../../', import.meta.url);
const require = createRequire(new URL('hosts/js/package.json', root));
const { chromium } = require('playwright-core');

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
if (!existsSync(executablePath)) {
  fail(
    `no browser at ${executablePath}: install one (Debian, Ubuntu: apt-get install chromium), or name it in CHROMIUM`,
  );
}

/** What a page may ask for, and nothing else of the repository. */
const SERVED = /^\/(hosts\/js\/dist|tests\/matrix|tests\/vectors)\/(?!.*\.\.)[\w./-]+$/;
const TYPES = { '.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm' };

const server = createServer((request, response) => {
  const path = new URL(request.url, root).pathname;
  if (path === '/')
    return response.setHeader('content-type', 'text/html').end('<!doctype html><title>samedeal</title>');
  const file = new URL(`.${request.url}`, root);
  if (!SERVED.test(request.url) || !existsSync(file)) return response.writeHead(404).end();
  response.setHeader('content-type', TYPES[extname(request.url)] ?? 'application/json').end(readFileSync(file));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));

// Root has no sandbox to give; the others keep a browser without a network from looking for one.
const args = ['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'];
args.push('--disable-component-update', '--disable-sync');
if (process.getuid?.() === 0) args.push('--no-sandbox');
const browser = await chromium.launch({ executablePath, headless: true, args });
try {
  const page = await browser.newPage();
  page.on('pageerror', (error) => fail(`the page failed: ${error}`));
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  const version = browser.version().split('.')[0];
  for (const build of ['wasm-bindgen', 'jco']) {
    for (const file of groupFiles()) {
      report(`chromium ${version} (${build})`, await page.evaluate(runInPage, { build, file }));
    }
  }
} finally {
  await browser.close();
  server.close();
}

/** Runs in the page. */
async function runInPage({ build, file }) {
  const loaders = {
    async 'wasm-bindgen'() {
      const { bindgenBindings } = await import('/hosts/js/dist/bindgen.js');
      return bindgenBindings();
    },
    async jco() {
      const files = ['samedeal.core.wasm', 'samedeal.core2.wasm', 'samedeal.core3.wasm'];
      const fetched = files.map((name) => WebAssembly.compileStreaming(fetch(`/hosts/js/dist/jco/${name}`)));
      const modules = await Promise.all(fetched);
      const { componentBindings } = await import('/hosts/js/dist/component.js');
      return componentBindings((name) => modules[files.indexOf(name)]);
    },
  };
  globalThis.engines ??= {};
  globalThis.engines[build] ??= await loaders[build]();
  const { runGroup } = await import('/tests/matrix/runner.mjs');
  const group = await (await fetch(`/tests/vectors/${file}`)).json();
  return runGroup(globalThis.engines[build], group);
}
