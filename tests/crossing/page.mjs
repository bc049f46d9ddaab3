// The JavaScript host in a page of a browser: `page.mjs REQUEST [chromium | firefox]`. The page has no disk: it tells this server, which
// stays while the browser is killed.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { argv, env, exit, getuid, stdin } from 'node:process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Lines, save, tell } from './disk.mjs';

const [path, name = 'chromium'] = argv.slice(2);
const program = { chromium: env.CHROMIUM ?? 'chromium', firefox: env.FIREFOX ?? 'firefox-esr' }[name];
const root = fileURLToPath(new URL('../../', import.meta.url));
const TYPES = { '.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm' };
const PAGE = '<!doctype html><title>crossing</title><script type="module" src="/tests/crossing/in-page.mjs"></script>';
const profile = mkdtempSync(join(tmpdir(), 'samedeal-crossing-'));
const logs = {};

/** What the page asks, by the end of the path. */
const answers = {
  request: () => readFileSync(path, 'utf8'),
  tell: (_, body) => tell(JSON.parse(body)),
  read: ({ path }) => readFileSync(path, 'utf8'),
  save: ({ path }, body) => save(path, body),
  entries({ path, from }) {
    logs[path] ??= new Lines(path);
    return JSON.stringify(logs[path].read(Number(from)));
  },
  append: ({ path, number }, body) => JSON.stringify(logs[path].append(Number(number), body)),
  begun({ agent }) {
    const [, engine, version] = /(Firefox|Chrome)\/([\d.]+)/.exec(agent);
    return tell([{ host: name, engine: `${engine} ${version}`, pid: browser.pid }]);
  },
  failed(_, body) {
    console.error(body);
    end(1);
  },
  finished() {
    end(0);
  },
};

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://localhost');
  if (pathname === '/') return response.setHeader('content-type', 'text/html').end(PAGE);
  if (pathname.startsWith('/do/')) {
    const answer = await answers[pathname.slice(4)](Object.fromEntries(searchParams), await text(request));
    return response.end(answer ?? '');
  }
  // A URL has no `..` left in its path.
  const file = join(root, pathname);
  if (!/^\/(hosts\/js\/dist|tests\/crossing)\//.test(pathname) || !existsSync(file))
    return response.writeHead(404).end();
  response.setHeader('content-type', TYPES[extname(file)] ?? 'application/json').end(readFileSync(file));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));

/** What makes a browser start with nothing but the page. */
function options() {
  if (name === 'firefox') {
    const quiet = [
      'app.normandy.enabled',
      'browser.aboutwelcome.enabled',
      'datareporting.policy.dataSubmissionEnabled',
    ];
    writeFileSync(join(profile, 'user.js'), quiet.map((name) => `user_pref("${name}", false);\n`).join(''));
    return ['--headless', '--no-remote', '--profile', profile];
  }
  const network = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-quic'];
  // Root has no sandbox to give.
  const sandbox = getuid?.() === 0 ? ['--no-sandbox'] : [];
  return ['--headless', '--disable-gpu', '--no-first-run', `--user-data-dir=${profile}`, ...network, ...sandbox];
}

const url = `http://127.0.0.1:${server.address().port}/`;
// Its processes are a group, which the test kills.
const browser = spawn(program, [...options(), url], { stdio: 'ignore', detached: true });
browser.once('error', ({ message }) => answers.failed({}, `${program}: ${message}`));
browser.once('exit', () => end(1));
// It ends with the test.
stdin.once('end', () => end(1)).resume();

let code;
function end(how) {
  code ??= how;
  if (browser.pid && browser.exitCode === null && browser.signalCode === null)
    return void process.kill(-browser.pid, 'SIGKILL');
  rmSync(profile, { recursive: true, force: true, maxRetries: 10 });
  exit(code);
}
