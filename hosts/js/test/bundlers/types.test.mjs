// The types with older versions of TypeScript, in ES modules and in CommonJS, by the resolution rules of Node since
// version 16; and the values that `require` returns.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makeProject } from './project.mjs';

const run = promisify(execFile);

let made;
before(async () => {
  made = await makeProject();
});
after(() => made?.remove());

const USE = `
  import { Batcher, blend, Mesh, SamedealError, Sampler, type Indices, type Kind } from 'samedeal';
  import { Sampler as Light } from 'samedeal/light';
  import { FolderLog } from 'samedeal/node';
  import { readShards, type Row } from 'samedeal/parquet';
  import { init } from 'samedeal/web';
  const sampler: Sampler = new Sampler(10, { seed: 3 });
  const indices: Indices = sampler.indices();
  const sum: number = indices.reduce((sum, index) => sum + index, 0);
  const again: Sampler = new Sampler(sampler.length, { seed: indices.map((index) => index + 1).slice(0, 1)[0]! });
  new Batcher(indices, { maxTokens: 40 });
  const steps: number = new Batcher([3], { maxTokens: 4 }).numSteps();
  const few: number = new Light(10).length;
  { using scoped = new Sampler(3); scoped.length; }
  async function all() {
    await init();
    for await (const row of readShards('data')) { const one: Row = row; one['id']; }
    for await (const rows of readShards<{ id: bigint }>('data', { batchSize: 3 })) { const id: bigint | undefined = rows[0]?.id; id; }
    new FolderLog('log');
  }
  // @ts-expect-error
  new Sampler('10');
  // @ts-expect-error
  sampler.length = 3;
  // @ts-expect-error
  const wrong: string = sampler.indices();
  // @ts-expect-error
  new Mesh(4, { dp: 4 });
  export { again, all, blend, few, indices, SamedealError, steps, sum, wrong, type Indices, type Kind };`;

// A program without the types of pages, for a worker or for several platforms.
const PLAIN = `
  import { init, Sampler } from 'samedeal/web';
  import { Sampler as Light } from 'samedeal/light';
  await init('samedeal.wasm');
  await init(new Uint8Array(8));
  export const lengths: number[] = [new Sampler(10).length, new Light(10).length];`;

for (const name of [
  'bundlers/node_modules/typescript-5-4',
  'bundlers/node_modules/typescript-5-7',
  '../node_modules/typescript',
]) {
  test(`strict, with ${name}`, async () => {
    const tsc = fileURLToPath(new URL(`../${name}/bin/tsc`, import.meta.url));
    for (const [file, text, lib] of [
      ['use.ts', USE, ['es2022', 'dom']],
      ['use.cts', USE, ['es2022', 'dom']],
      ['plain.mts', PLAIN, ['es2022']],
    ]) {
      writeFileSync(join(made.project, file), text);
      for (const module of ['node16', 'nodenext']) {
        const compilerOptions = {
          noEmit: true,
          strict: true,
          module,
          target: 'es2022',
          lib,
          types: [],
        };
        const path = join(made.project, 'tsconfig.json');
        writeFileSync(path, JSON.stringify({ compilerOptions, files: [file] }));
        const { stdout } = await run(process.execPath, [tsc, '-p', path]).catch((error) => error);
        assert.equal(stdout, '', `${file}, ${module}`);
      }
    }
  });
}

test('require gives what import gives, from every entry', async () => {
  const program = `(async () => {
    const { exports } = require('samedeal/package.json');
    for (const entry of Object.keys(exports)) {
      if (/[.](json|wasm)$/.test(entry)) continue;
      const name = 'samedeal' + entry.slice(1);
      const [required, imported] = [require(name), await import(name)];
      const resolved = await import(require.resolve(name));
      const isSame = (key) => required[key] === imported[key] && resolved[key] === imported[key];
      console.log(name, Object.keys(imported).every(isSame));
    }
  })();`;
  const { stdout } = await run(process.execPath, ['--eval', program], { cwd: made.project });
  const entries = ['', '/inline', '/light', '/web', '/node', '/files', '/parquet', '/web/parquet'];
  assert.deepEqual(
    stdout.trim().split('\n'),
    entries.map((entry) => `samedeal${entry} true`),
  );
});
