// This package against a component with a larger interface than the one for which it was made. The component is in a
// copy of dist/.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { coreOf } from '../../scripts/core.mjs';

const host = fileURLToPath(new URL('../..', import.meta.url));
const grown = process.env.SAMEDEAL_GROWN;
const folder = mkdtempSync(join(tmpdir(), 'samedeal-grown-'));
after(() => rmSync(folder, { recursive: true }));

cpSync(join(host, 'dist'), join(folder, 'dist'), { recursive: true });
cpSync(join(host, 'package.json'), join(folder, 'package.json'));
symlinkSync(join(host, 'node_modules'), join(folder, 'node_modules'));
writeFileSync(join(folder, 'dist/components/samedeal.core.wasm'), coreOf(readFileSync(join(grown, 'samedeal.wasm'))));
const { Batcher, Sampler, SamedealError } = await import(pathToFileURL(join(folder, 'dist/index-files.js')).href);

test('another order is a name', () => {
  assert.deepEqual([...new Sampler(5, { order: 'backward' })], [4, 3, 2, 1, 0]);
  assert.deepEqual([...new Sampler(5, { order: 'sequential' })], [0, 1, 2, 3, 4]);
  assert.throws(
    () => new Sampler(5, { order: 'sideways' }),
    (error) => error instanceof SamedealError && error.kind === 'unknown-name' && error.known.includes('backward'),
  );
});

const recipe = (batch) => JSON.stringify({ batch, order: { name: 'sequential' } });

test('a strategy, an option and a metric are names', () => {
  const text = recipe({ strategy: 'as-they-come', max_batch_size: 2, latest_epoch: 99 });
  const metrics = Batcher.fromRecipe(text, [1, 3, 2, 2]).metrics();
  assert.deepEqual([metrics.padded, metrics.paddingTokens], [10, 2]);
});

test('a failure of another kind has its name and its facts', () => {
  const text = recipe({ max_tokens: 9, latest_epoch: 100 });
  assert.throws(
    () => Batcher.fromRecipe(text, [1, 3]),
    (error) => {
      assert(error instanceof SamedealError);
      const { kind, field, value, min, max, message } = error;
      assert.deepEqual([kind, field, value, min, max], ['too-late', 'latest_epoch', '100', 0, 99]);
      assert.equal(message, 'latestEpoch is 100; allowed: 0 to 99');
      return true;
    },
  );
});
