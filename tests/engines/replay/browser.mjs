// Transcripts in a browser: `node browser.mjs firefox|chromium FOLDER`. The browser runs headless and sends the outcomes to the server here.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, extname, join } from 'node:path';
import { argv, env, getuid } from 'node:process';
import { fileURLToPath } from 'node:url';
import { lines } from './replay.mjs';

const [name, folder] = argv.slice(2);
const program = { firefox: env.FIREFOX ?? 'firefox-esr', chromium: env.CHROMIUM ?? 'chromium' }[name];
const here = fileURLToPath(new URL('.', import.meta.url));
const TYPES = { '.mjs': 'text/javascript', '.wasm': 'application/wasm', '.txt': 'text/plain' };
// In a page, a script that runs for seconds is asked after.
const PAGE = `<!doctype html><title>replay</title><script>
  const worker = new Worker('/replay/page.mjs', { type: 'module' });
  worker.onerror = ({ message }) => fetch('/failed', { method: 'POST', body: message ?? 'the worker failed' });
</script>`;

const profile = mkdtempSync(join(tmpdir(), 'samedeal-browser-'));
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
  // A URL has no `..` left in its path.
  const file = pathname.startsWith('/replay/') ? join(here, basename(pathname)) : join(folder, basename(pathname));
  if (!existsSync(file)) return response.writeHead(404).end();
  response.setHeader('content-type', TYPES[extname(file)] ?? 'text/plain').end(readFileSync(file));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${server.address().port}/`;

/** What makes a browser start with nothing but the page. */
function options() {
  if (name === 'firefox') {
    const quiet = [
      'app.normandy.enabled',
      'browser.aboutwelcome.enabled',
      'datareporting.policy.dataSubmissionEnabled',
    ];
    const lines = quiet.map((name) => `user_pref("${name}", false);\n`);
    writeFileSync(join(profile, 'user.js'), lines.join(''));
    return ['--headless', '--no-remote', '--profile', profile];
  }
  const network = ['--disable-background-networking', '--disable-component-update', '--disable-sync'];
  // Root has no sandbox to give.
  const sandbox = getuid?.() === 0 ? ['--no-sandbox'] : [];
  return ['--headless', '--disable-gpu', '--no-first-run', `--user-data-dir=${profile}`, ...network, ...sandbox];
}

const browser = spawn(program, [...options(), url], { stdio: ['ignore', 'ignore', 'inherit'], detached: true });
const gone = new Promise((resolve) => browser.once('exit', resolve).once('error', resolve));
browser.once('error', ended.reject);
browser.once('exit', (code) => ended.reject(new Error(`${program} ended with ${code}`)));
try {
  await ended.promise;
  process.exitCode = outcome.failed ? 1 : 0;
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  // It has processes of its own, which are in its group.
  if (browser.exitCode === null && browser.pid) process.kill(-browser.pid);
  await gone;
  server.close();
  server.closeAllConnections();
  rmSync(profile, { recursive: true, force: true, maxRetries: 10 });
}
