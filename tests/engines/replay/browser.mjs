// Transcripts in a browser: `node browser.mjs firefox|chromium FOLDER`. The browser is headless and sends the outcomes
// to the server of this script.
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { basename, extname, join } from 'node:path';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';
import { start } from '../../matrix/browsers.mjs';
import { lines } from './replay.mjs';

const [name, folder] = argv.slice(2);
const here = fileURLToPath(new URL('.', import.meta.url));
const TYPES = { '.mjs': 'text/javascript', '.wasm': 'application/wasm', '.txt': 'text/plain' };
// The script runs in a worker, because browsers interrupt a script of a page that runs for seconds.
const PAGE = `<!doctype html><title>replay</title><script>
  const worker = new Worker('/replay/page.mjs', { type: 'module' });
  worker.onerror = ({ message }) => fetch('/failed', { method: 'POST', body: message ?? 'the worker failed' });
</script>`;

const [outcome, ended] = [{}, {}];
ended.promise = new Promise((resolve, reject) => Object.assign(ended, { resolve, reject }));

function receive(path, body) {
  if (path === '/failed') return ended.reject(new Error(body));
  if (path === '/end') return ended.resolve();
  const { engine, ...group } = JSON.parse(body);
  outcome.failed ||= group.failed > 0;
  console.log(lines(engine, group));
  for (const error of group.errors) console.error(error);
}

const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url, 'http://localhost');
  if (request.method === 'POST') {
    receive(pathname, Buffer.concat(await request.toArray()).toString());
    return response.end();
  }
  if (pathname === '/') return response.setHeader('content-type', 'text/html').end(PAGE);
  // A parsed URL has no `..` in its path.
  const file = pathname.startsWith('/replay/') ? join(here, basename(pathname)) : join(folder, basename(pathname));
  if (!existsSync(file)) return response.writeHead(404).end();
  response.setHeader('content-type', TYPES[extname(file)] ?? 'text/plain').end(readFileSync(file));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));

const { gone, close } = start(name, `http://127.0.0.1:${server.address().port}/`, 'inherit');
gone.then(ended.reject);
try {
  await ended.promise;
  process.exitCode = outcome.failed ? 1 : 0;
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  await close();
  server.close();
  server.closeAllConnections();
}
