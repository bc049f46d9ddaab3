// Builds dist/ from the two WebAssembly builds and src/. The generated parts are made again only if their input is newer.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('..', import.meta.url));
const target = join(here, '../../target');
const component = join(target, 'wasm32-wasip2/wasm/samedeal.wasm');
const web = join(target, 'wasm32-unknown-unknown/wasm/samedeal_web.wasm');
const bindgen = join(target, 'release/bindgen');

for (const [path, remedy] of [
  [component, 'cargo build --profile wasm -p samedeal-component --target wasm32-wasip2'],
  [web, 'cargo build --profile wasm -p samedeal-web --target wasm32-unknown-unknown'],
  [bindgen, 'cargo build --release -p bindgen'],
]) {
  if (!existsSync(path)) {
    console.error(`${path} is missing; make it with: ${remedy}`);
    process.exit(1);
  }
}

/** Runs `make` in an empty dist/`name`, unless `output` there is newer than all of `inputs`. */
async function generate(name, output, inputs, make) {
  const folder = join(here, 'dist', name);
  const made = join(folder, output);
  const self = fileURLToPath(import.meta.url);
  if (existsSync(made) && [...inputs, self].every((input) => statSync(input).mtimeMs < statSync(made).mtimeMs)) return;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await make(folder);
}

await generate('jco', 'samedeal.js', [component, join(here, 'package-lock.json')], async (folder) => {
  const { transpile } = await import('@bytecodealliance/jco');
  const { files } = await transpile(await readFile(component), {
    name: 'samedeal',
    instantiation: { tag: 'sync' },
    minify: true,
    noComponentErrorWrapping: true,
  });
  for (const [file, content] of Object.entries(files)) {
    const path = join(folder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, file.endsWith('.js') ? withoutDebugging(content) : content);
  }
});

/** Every call into the component reads an environment variable several times, which costs more than the call. */
function withoutDebugging(content) {
  const parts = new TextDecoder().decode(content).split('globalThis?.process?.env?.JCO_DEBUG');
  if (parts.length !== 2) throw new Error('jco no longer generates the debugging switch that this build takes out');
  return parts.join('false');
}

await generate('bindgen', 'samedeal.js', [web, bindgen], (folder) => {
  execFileSync(bindgen, [web, folder, 'samedeal'], { stdio: 'inherit' });
});

execFileSync(process.execPath, [join(here, 'node_modules/typescript/bin/tsc'), '-p', here], { stdio: 'inherit' });

for (const license of ['LICENSE-MIT', 'LICENSE-APACHE']) {
  copyFileSync(join(here, '../..', license), join(here, 'dist', license));
}
