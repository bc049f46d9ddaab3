// The package in a Worker of Cloudflare, which cannot compile WebAssembly while it runs.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import * as samedeal from '../../dist/index-files.js';
import { everything } from '../everything.mjs';
import { ANSWERS, makeProject, tool } from './project.mjs';

let made;
before(async () => {
  made = await makeProject();
});
after(() => made?.remove());

test('a Worker, bundled as wrangler does it', async () => {
  const [{ build }, { Miniflare }] = [await tool('esbuild'), await tool('miniflare')];
  const out = made.out('workerd');
  await build({
    entryPoints: [join(made.project, 'worker.js')],
    bundle: true,
    format: 'esm',
    conditions: ['workerd', 'worker', 'browser'],
    loader: { '.wasm': 'copy' },
    outdir: out,
    logLevel: 'error',
  });
  // The first of these dates has no FinalizationRegistry yet.
  for (const compatibilityDate of ['2024-09-01', '2025-09-01']) {
    const worker = new Miniflare({
      modules: true,
      modulesRoot: out,
      modulesRules: [{ type: 'CompiledWasm', include: ['**/*.wasm'] }],
      scriptPath: join(out, 'worker.js'),
      compatibilityDate,
    });
    try {
      const response = await worker.dispatchFetch('http://localhost/');
      assert.equal(await response.text(), `${ANSWERS} / ${await everything(samedeal)}`);
    } finally {
      await worker.dispose();
    }
  }
});
