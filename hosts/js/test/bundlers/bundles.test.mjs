// The package in bundles for Node and for pages, which each bundler makes with its defaults. Each bundle runs in a
// place where it finds no file of the package.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { openPage } from '../../../../tests/matrix/page.mjs';
import { ANSWERS, LIGHT_ANSWERS, makeProject, PARQUET_ANSWER, printed, shown, tool } from './project.mjs';

const run = promisify(execFile);

let made;
before(async () => {
  made = await makeProject();
});
after(() => made?.remove());

/** For each bundler: a function that bundles an entry of the project, for Node or for a page. */
const BUNDLERS = {
  async esbuild(entry, outdir, platform) {
    const { build } = await tool('esbuild');
    const absWorkingDir = made.project;
    await build({
      entryPoints: [entry],
      bundle: true,
      format: 'esm',
      platform,
      outdir,
      absWorkingDir,
      logLevel: 'error',
    });
  },
  async rollup(entry, dir, platform) {
    const [{ rollup }, { nodeResolve }] = [await tool('rollup'), await tool('@rollup/plugin-node-resolve')];
    const resolve = nodeResolve({ browser: platform === 'browser', preferBuiltins: true });
    const bundle = await rollup({ input: join(made.project, entry), plugins: [resolve], external: /^node:/ });
    await bundle.write({ dir, format: 'esm' });
    await bundle.close();
  },
  async webpack(entry, path, platform) {
    const { default: webpack } = await tool('webpack');
    const compiler = webpack({
      mode: 'production',
      context: made.project,
      entry: `./${entry}`,
      target: platform === 'node' ? 'node20' : 'web',
      experiments: { outputModule: true },
      // Minifying takes most of the time, so only the largest bundle is minified. It contains everything that the
      // others do.
      optimization: { minimize: entry === 'page.js' },
      output: { path, filename: entry, module: true },
    });
    const stats = await promisify((then) => compiler.run(then))();
    await promisify((then) => compiler.close(then))();
    assert(!stats.hasErrors(), stats.toString({ all: false, errors: true }));
  },
  async bun(entry, outdir, platform) {
    // The command of the package `bun` is a link on some systems and a file on others. Both lead to this program.
    const bun = fileURLToPath(new URL('node_modules/bun/bin/bun.exe', import.meta.url));
    await run(bun, ['build', entry, `--outdir=${outdir}`, `--target=${platform}`], { cwd: made.project });
  },
};

for (const [name, bundle] of Object.entries(BUNDLERS)) {
  describe(name, () => {
    for (const [entry, answers] of [
      ['node.js', ANSWERS],
      ['node-inline.js', ANSWERS],
      ['node-web.js', ANSWERS],
      ['node-light.js', LIGHT_ANSWERS],
      ['node-parquet.js', PARQUET_ANSWER],
    ]) {
      test(`for Node: ${entry}`, async () => {
        const out = made.out(`${name}-${entry}`);
        await bundle(entry, out, 'node');
        writeFileSync(join(out, 'package.json'), '{ "type": "module" }');
        assert.equal(await printed(join(out, entry), { DATA: made.data }), answers);
      });
    }
    for (const [entry, answers] of [
      ['page.js', ANSWERS],
      ['page-web.js', ANSWERS],
      ['page-light.js', LIGHT_ANSWERS],
      ['page-parquet.js', PARQUET_ANSWER],
    ]) {
      test(`for a page: ${entry}`, async () => {
        const out = made.out(`${name}-${entry}`);
        await bundle(entry, out, 'browser');
        assert.equal(await shown({ folder: out, data: made.data, bundle: entry }), answers);
      });
    }
  });
}

// The section "In a bundle" of docs/how-to/other-formats.md says this.
describe('samedeal/files without the packages of other formats', () => {
  const missing = ['apache-arrow', 'lz4js'];
  const entry = 'node-files.js';
  const runs = async (out, file = entry) => {
    writeFileSync(join(out, 'package.json'), '{ "type": "module" }');
    assert.match(await printed(join(out, file), { DATA: made.data }), /^\d+( \d+)*$/);
  };

  test('esbuild stops, unless they are external', async () => {
    const { build } = await tool('esbuild');
    const outdir = made.out('esbuild-external');
    const settings = { bundle: true, format: 'esm', platform: 'node', absWorkingDir: made.project, logLevel: 'silent' };
    await assert.rejects(build({ ...settings, entryPoints: [entry], outdir }), /Could not resolve "lz4js"/);
    await build({ ...settings, entryPoints: [entry], outdir, external: missing });
    await runs(outdir);
  });

  test('webpack stops, unless they are external', async () => {
    const { default: webpack } = await tool('webpack');
    const path = made.out('webpack-external');
    const errors = async (externals) => {
      const module = { experiments: { outputModule: true }, output: { path, filename: entry, module: true } };
      const compiler = webpack({
        mode: 'development',
        context: made.project,
        entry: `./${entry}`,
        target: 'node20',
        ...module,
        externals,
      });
      const stats = await promisify((then) => compiler.run(then))();
      await promisify((then) => compiler.close(then))();
      return stats.toString({ all: false, errors: true });
    };
    assert.match(await errors(), /Can't resolve 'lz4js'/);
    assert.equal(await errors(missing), '');
    await runs(path);
  });

  test('Bun stops, unless they are external', async () => {
    const bun = fileURLToPath(new URL('node_modules/bun/bin/bun.exe', import.meta.url));
    const out = made.out('bun-external');
    const build = (...options) =>
      run(bun, ['build', entry, `--outdir=${out}`, '--target=node', ...options], { cwd: made.project });
    await assert.rejects(build(), /Could not resolve: "apache-arrow"/);
    await build(...missing.flatMap((name) => ['--external', name]));
    await runs(out);
  });

  test('Rollup warns, and leaves them external', async () => {
    const [{ rollup }, { nodeResolve }] = [await tool('rollup'), await tool('@rollup/plugin-node-resolve')];
    const dir = made.out('rollup-external');
    const warned = [];
    const bundle = await rollup({
      input: join(made.project, entry),
      plugins: [nodeResolve({ preferBuiltins: true })],
      external: /^node:/,
      onwarn: ({ exporter }) => warned.push(exporter),
    });
    await bundle.write({ dir, format: 'esm' });
    await bundle.close();
    assert.deepEqual(warned, missing);
    await runs(dir);
  });

  test('Vite leaves them external', async () => {
    const { build } = await tool('vite-8');
    const outDir = made.out('vite-external');
    const settings = { root: made.project, configFile: false, logLevel: 'silent', ssr: { noExternal: true } };
    await build({ ...settings, build: { ssr: entry, outDir } });
    await runs(outDir);
  });
});

test('esbuild: a bundle in CommonJS', async () => {
  const { build } = await tool('esbuild');
  const outfile = join(made.out('esbuild-cjs'), 'node.cjs');
  const settings = { bundle: true, format: 'cjs', platform: 'node', absWorkingDir: made.project, logLevel: 'error' };
  const { warnings } = await build({ ...settings, entryPoints: ['node.js'], outfile });
  assert.deepEqual(warnings, []);
  assert.equal(await printed(outfile), ANSWERS);
});

test("esbuild: conditions of one's own, which take the place of `module`", async () => {
  const { build } = await tool('esbuild');
  const settings = { bundle: true, platform: 'node', absWorkingDir: made.project, logLevel: 'error' };
  const outfile = join(made.out('esbuild-own'), 'node.mjs');
  await build({ ...settings, conditions: ['own'], format: 'esm', entryPoints: ['node.js'], outfile });
  assert.equal(await printed(outfile), ANSWERS);
});

test('where a bundler takes the module for Node without its files, the error says what to import', async () => {
  const { build } = await tool('esbuild');
  const settings = { bundle: true, platform: 'node', absWorkingDir: made.project, logLevel: 'silent' };
  for (const format of ['esm', 'cjs']) {
    const outfile = join(made.out(`esbuild-files-${format}`), format === 'esm' ? 'node.mjs' : 'node.cjs');
    await build({ ...settings, conditions: ['module-sync'], format, entryPoints: ['node.js'], outfile });
    const remedy = /samedeal cannot read samedeal\.core\.wasm.*import 'samedeal\/inline' in place of 'samedeal'/;
    await assert.rejects(printed(outfile), remedy);
    await build({ ...settings, conditions: ['module-sync'], format, entryPoints: ['node-inline.js'], outfile });
    assert.equal(await printed(outfile), ANSWERS);
  }
});

test('esbuild: a service worker reads Parquet files in one bundle', async () => {
  const { build } = await tool('esbuild');
  const outdir = made.out('esbuild-worker');
  const settings = { bundle: true, format: 'esm', platform: 'browser', logLevel: 'error', outdir };
  await build({ ...settings, absWorkingDir: made.project, entryPoints: ['service-worker.js'] });
  const { page, close } = await openPage({ '/out/': `${outdir}/`, '/data/': made.data }, '');
  try {
    const answer = await page.evaluate(async () => {
      const { serviceWorker } = navigator;
      const worker = await serviceWorker.register('/out/service-worker.js', { type: 'module' });
      const answer = new Promise((resolve) => serviceWorker.addEventListener('message', ({ data }) => resolve(data)));
      serviceWorker.startMessages();
      (worker.installing ?? worker.waiting ?? worker.active).postMessage('begin');
      return await answer;
    });
    assert.equal(answer, PARQUET_ANSWER);
  } finally {
    await close();
  }
});

for (const name of ['vite-5', 'vite-7', 'vite-8']) {
  describe(name, () => {
    const html = (entry) => `<!doctype html><body><script type="module" src="/${entry}"></script></body>`;
    for (const [entry, answers, most] of [
      ['page.js', ANSWERS],
      ['page-web.js', ANSWERS, 480_000],
      ['page-light.js', LIGHT_ANSWERS, 103_000],
      ['page-thread.js', ANSWERS],
      ['page-thread-light.js', LIGHT_ANSWERS],
    ]) {
      test(`the server for development: ${entry}`, async () => {
        const { createServer } = await tool(name);
        writeFileSync(join(made.project, 'index.html'), html(entry));
        const server = await createServer({
          root: made.project,
          configFile: false,
          logLevel: 'error',
          cacheDir: made.out(`${name}-cache-${entry}`),
          server: { port: 0, host: '127.0.0.1' },
        });
        try {
          await server.listen();
          assert.equal(await shown({ url: server.resolvedUrls.local[0] }), answers);
        } finally {
          await server.close();
        }
      });

      test(`a build: ${entry}`, async () => {
        const { build } = await tool(name);
        const outDir = made.out(`${name}-${entry}`);
        writeFileSync(join(made.project, 'index.html'), html(entry));
        // The first page has an `await` at its top level, which older targets do not support.
        const settings = { outDir, emptyOutDir: true, target: 'es2022' };
        // Vite 5 to 7 make a Worker of a plain script by default. It has no `import()`, by which `samedeal/web` loads
        // its engine.
        const worker = entry === 'page-thread.js' && name !== 'vite-8' ? { format: 'es' } : {};
        await build({
          root: made.project,
          base: '/out/',
          configFile: false,
          logLevel: 'error',
          build: settings,
          worker,
        });
        const [, script] = /src="\/out\/(assets\/[^"]+\.js)"/.exec(readFileSync(join(outDir, 'index.html'), 'utf8'));
        const loaded = new Set();
        const loads = (path) => path.startsWith('/out/') && loaded.add(path.slice('/out/'.length));
        assert.equal(await shown({ folder: `${outDir}/`, bundle: script, loads }), answers);
        assert(loaded.has(script));
        if (most === undefined) return;
        const size = [...loaded].reduce((sum, file) => sum + gzipSync(readFileSync(join(outDir, file))).length, 0);
        assert(size < most, `${size} bytes, compressed`);
      });
    }
  });
}
