// The JavaScript host in a page of a browser: `page.mjs REQUEST [chromium | firefox]`. The page cannot write files, so
// it asks this server, which survives when the browser is killed.
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { argv, exit, stdin } from 'node:process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { start } from '../matrix/browsers.mjs';
import { Lines, save, tell } from './disk.mjs';

const [path, name = 'chromium'] = argv.slice(2);
const root = fileURLToPath(new URL('../../', import.meta.url));
const TYPES = { '.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm' };
const PAGE = '<!doctype html><title>crossing</title><script type="module" src="/tests/crossing/in-page.mjs"></script>';
const logs = {};

/** Answers to requests of the page, by the end of the path. */
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
  // A parsed URL has no `..` in its path.
  const file = join(root, pathname);
  if (!/^\/(hosts\/js\/dist|tests\/crossing)\//.test(pathname) || !existsSync(file))
    return response.writeHead(404).end();
  response.setHeader('content-type', TYPES[extname(file)] ?? 'application/json').end(readFileSync(file));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));

// The browser's processes are a group, which the test kills.
const { browser, gone, close } = start(name, `http://127.0.0.1:${server.address().port}/`);
gone.then(({ message }) => {
  if (!browser.pid) console.error(message);
  end(1);
});
// The server ends with the test.
stdin.once('end', () => end(1)).resume();

let ended = false;
function end(code) {
  if (!ended) close().then(() => exit(code));
  ended = true;
}
