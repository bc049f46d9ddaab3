// A page in headless Chromium, and the server of its files.
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { CHROMIUM } from './browsers.mjs';

const require = createRequire(new URL('../../hosts/js/package.json', import.meta.url));
const { chromium } = require('playwright-core');

const TYPES = { '.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm' };

/**
 * Serves a page with this HTML. `folders` maps the beginning of a path to the folder of its files. `told` gets every
 * text that the page posts to `/told`.
 */
export async function serve(folders, html, told = () => {}) {
  const server = createServer(async (request, response) => {
    // A parsed URL has no `..` in its path.
    const { pathname } = new URL(request.url, 'http://localhost');
    if (pathname === '/') return response.setHeader('content-type', 'text/html').end(`<!doctype html>${html}`);
    if (pathname === '/told') {
      told(await text(request));
      return response.end();
    }
    const [beginning, folder] = Object.entries(folders).find(([start]) => pathname.startsWith(start)) ?? [];
    const file = folder && join(folder, pathname.slice(beginning.length));
    if (!file || !existsSync(file)) return response.writeHead(404).end();
    response.setHeader('content-type', TYPES[extname(file)] ?? 'application/json');
    const bytes = readFileSync(file);
    const [, start, end] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
    if (start === undefined) return response.setHeader('content-length', bytes.length).end(bytes);
    const part = bytes.subarray(Number(start), end ? Number(end) + 1 : bytes.length);
    const range = `bytes ${start}-${Number(start) + part.length - 1}/${bytes.length}`;
    response.writeHead(206, { 'content-range': range }).end(part);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

/** Starts headless Chromium. */
export function startBrowser() {
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  if (!existsSync(executablePath)) {
    const remedy = 'install Chromium (Debian, Ubuntu: apt-get install chromium), or name one in CHROMIUM';
    throw new Error(`no browser at ${executablePath}: ${remedy}`);
  }
  return chromium.launch({ executablePath, headless: true, args: CHROMIUM });
}

/**
 * Opens a page with this HTML; `folders` are as for `serve`. Without a `context`, the page has a browser of its own,
 * which is closed with it.
 */
export async function openPage(folders, html, context) {
  const browser = context?.browser() ?? (await startBrowser());
  const server = await serve(folders, html);
  const page = await (context ?? browser).newPage();
  page.on('pageerror', (error) => console.error(`the page failed: ${error}`));
  await page.goto(server.url);
  return {
    page,
    version: browser.version().split('.')[0],
    async close() {
      await (context ? page : browser).close();
      server.close();
    },
  };
}
