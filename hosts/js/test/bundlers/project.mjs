// A project in which the packed package is installed, as users do it. The bundlers in this folder work on it.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openPage, startBrowser } from '../../../../tests/matrix/page.mjs';
import * as samedeal from '../../dist/index-files.js';
import { everything } from '../everything.mjs';
import { write } from '../parquet-files.mjs';

const run = promisify(execFile);
const host = fileURLToPath(new URL('../..', import.meta.url));

/** The calls in every bundle: some of their own, and those of `everything`. */
const CALLS = `
  const answers = () => [
    new Sampler(10, { seed: 42, epoch: 1, order: 'torch', worldSize: 3 }).indices(),
    new ShardPlan([5, 6, 7], { worldSize: 2 }).shards(0),
    new Batcher([3, 1, 2], { maxBatchSize: 2, maxTokens: 6 }).batch(0).samples,
    [new Mesh(4, { dp: 2, tp: 2 }, ['dp']).dataRank(3), detectRank({ environment: {} }).worldSize],
  ].map((list) => Array.from(list).join(' ')).join(' / ');
  const all = async () => answers() + ' / ' + await everything(samedeal);`;

/** The answers to these calls. The first part is the example of the README. */
export const ANSWERS = `8 0 6 3 / 2 / 0 2 / 1 1 / ${await everything(samedeal)}`;
export const LIGHT_ANSWERS = '8 0 6 3 / 1';

const imported = (entry) => `
  import { Batcher, detectRank, Mesh, Sampler, ShardPlan } from '${entry}';
  import * as samedeal from '${entry}';
  import { everything } from './everything.js';${CALLS}\n`;
const light = (show) => `
  import { Mesh, Sampler } from 'samedeal/light';
  const sampler = new Sampler(10, { seed: 42, epoch: 1, order: 'torch', worldSize: 3 });
  ${show}(sampler.indices().join(' ') + ' / ' + new Mesh(4, { dp: 2, tp: 2 }, ['dp']).dataRank(3));`;
const web = (show) => `
  import { init } from 'samedeal/web';
  ${imported('samedeal/web')}
  await init();
  ${show}(await all());`;
const show = '((text) => { document.body.textContent = text; })';

/** A page that shows the messages of its Worker. */
const thread = (name) => `
  const worker = new Worker(new URL('./${name}.js', import.meta.url), { type: 'module' });
  worker.onmessage = ({ data }) => ${show}(data);
  worker.onerror = ({ message }) => ${show}('failed: ' + message);`;

/** The packages with which `samedeal/parquet` reads, and their dependencies. */
const PARQUET = ['hyparquet', 'hyparquet-compressors', 'fzstd', 'hysnappy'];
/** The sum of the numbers of all rows. */
export const PARQUET_ANSWER = '4950';

/** The files of the project. */
const FILES = {
  'package.json': '{ "private": true, "type": "module" }',
  'everything.js': readFileSync(join(host, 'test/everything.mjs'), 'utf8'),
  'node.js': `${imported('samedeal')}all().then(console.log);`,
  'node-inline.js': `${imported('samedeal/inline')}all().then(console.log);`,
  'node-web.js': web('console.log'),
  'node-light.js': light('console.log'),
  'node-parquet.js': `
    import { readShards } from 'samedeal/parquet';
    let sum = 0;
    for await (const { id } of readShards(process.env.DATA, { seed: 3 })) sum += id;
    console.log(sum);`,
  'node-files.js': `
    import { findShards } from 'samedeal/files';
    const { sizes } = await findShards(process.env.DATA);
    console.log(sizes.join(' '));`,
  'page.js': `${imported('samedeal')}all().then(${show});`,
  'page-web.js': web(show),
  'page-light.js': light(show),
  'page-parquet.js': `
    import { init } from 'samedeal/web';
    import { readShards } from 'samedeal/web/parquet';
    await init();
    let sum = 0;
    for await (const { id } of readShards(['/data/0.parquet', '/data/1.parquet'], { seed: 3 })) sum += id;
    ${show}(String(sum));`,
  'service-worker.js': `
    import { init } from 'samedeal/web';
    import { readShards } from 'samedeal/parquet';
    async function sum() {
      await init();
      let sum = 0;
      for await (const { id } of readShards(['/data/0.parquet', '/data/1.parquet'], { seed: 3 })) sum += id;
      return sum;
    }
    onmessage = ({ source }) => sum().then((found) => source.postMessage(String(found)), (error) => source.postMessage(String(error)));`,
  'page-thread.js': thread('thread'),
  'page-thread-light.js': thread('thread-light'),
  'thread.js': `
    import { init } from 'samedeal/web';
    ${imported('samedeal/web')}
    init().then(all).then(postMessage, (error) => postMessage(String(error)));`,
  'thread-light.js': light('postMessage'),
  'worker.js': `
    import { Sampler as Light } from 'samedeal/light';
    import * as page from 'samedeal/web';
    ${imported('samedeal')}
    export default {
      async fetch() {
        await page.init();
        if (new Light(10).length !== 10) throw new Error('samedeal/light');
        return new Response((await all()) + ' / ' + (await everything(page)));
      },
    };`,
};

/** Makes the project. Its method `remove` deletes it. */
export async function makeProject() {
  // Some tools compare paths of files with their real paths, so links are resolved here.
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'samedeal-bundlers-')));
  const project = join(root, 'project');
  mkdirSync(project);
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(project, name), text);
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', root], { cwd: host });
  const [{ filename }] = Object.values(JSON.parse(stdout));
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', join(root, filename)], { cwd: project });
  const packages = join(project, 'node_modules');
  for (const name of PARQUET) symlinkSync(join(host, 'node_modules', name), join(packages, name));
  const data = join(root, 'data');
  mkdirSync(data);
  write(data, [60, 40]);
  return {
    project,
    data,
    /** An empty folder outside of the project, so that a bundle finds no file of the project. */
    out: (name) => {
      const folder = join(root, 'out', name);
      mkdirSync(folder, { recursive: true });
      return folder;
    },
    remove: async () => {
      await (await context)?.browser().close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** The output of a bundle in Node. */
export async function printed(bundle, environment = {}) {
  const options = { cwd: dirname(bundle), env: { ...process.env, ...environment } };
  const { stdout } = await run(process.execPath, [bundle], options);
  return stdout.trim();
}

/** The context of the browser for all pages of a file of tests. A browser starts slower than a page. */
let context;

/**
 * The text that a page finally shows. The page has one of these files, or is at a URL. `loads` gets the path of every
 * file that the page loads.
 */
export async function shown({ folder, data, bundle, url, loads = () => {} }) {
  const html = bundle ? `<body><script type="module" src="/out/${bundle}"></script></body>` : '';
  context ??= startBrowser().then((browser) => browser.newContext());
  const folders = { ...(folder && { '/out/': folder }), ...(data && { '/data/': data }) };
  const { page, close } = await openPage(folders, html, await context);
  try {
    page.on('request', (request) => loads(new URL(request.url()).pathname));
    await page.goto(url ?? page.url());
    await page.waitForFunction(() => document.body.textContent.trim() !== '', undefined, { timeout: 600_000 });
    return (await page.textContent('body')).trim();
  } finally {
    await close();
  }
}

/** Imports a tool of the package.json in this folder. */
export async function tool(name) {
  try {
    return await import(name);
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Error(`${name} is not installed: npm install in hosts/js/test/bundlers`, { cause: error });
  }
}
