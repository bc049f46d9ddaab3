// Builds dist/ from the WebAssembly builds and src/. The generated parts are made again only if their input is newer.
// With --without-pages only what Node needs: no web build, and nothing that writes the JavaScript around it.
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateRawSync } from 'node:zlib';
import { withMemory } from './memory.mjs';

const here = fileURLToPath(new URL('..', import.meta.url));
const target = join(here, '../../target');
const components = Object.fromEntries(
  ['samedeal', 'planning', 'batching'].map((name) => [name, join(target, `wasm32-wasip2/wasm/${name}.wasm`)]),
);
/** What has large lists before its objects in memory, and must not come to lie above 1 GiB: see src/engine.ts. */
const LARGE = ['planning', 'batching'];
const web = join(target, 'wasm32-unknown-unknown/wasm/samedeal_web.wasm');
const bindgen = join(target, 'debug/bindgen');
const withPages = !process.argv.includes('--without-pages');

const needed = [
  [components.samedeal, 'cargo build --profile wasm -p samedeal-sampling --target wasm32-wasip2'],
  [components.planning, 'cargo build --profile wasm -p samedeal-planning --target wasm32-wasip2'],
  [components.batching, 'cargo build --profile wasm -p samedeal-batching --target wasm32-wasip2'],
];
if (withPages) {
  needed.push(
    [web, 'cargo build --profile wasm -p samedeal-web --target wasm32-unknown-unknown'],
    [bindgen, 'cargo build -p bindgen'],
  );
}
for (const [path, remedy] of needed) {
  if (!existsSync(path)) {
    console.error(`${path} is missing; make it with: ${remedy}`);
    process.exit(1);
  }
}

/** What the generated modules would call in an instance that is lost; src/engine.ts frees what needs to be freed. */
const NO_FINALIZERS = 'const FinalizationRegistry=class{register(){}unregister(){}};';

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

const LOCK = join(here, 'package-lock.json');
const memory = join(here, 'scripts/memory.mjs');
await generate('jco', 'batching.js', [...Object.values(components), memory, LOCK], async (folder) => {
  for (const [name, wasm] of Object.entries(components)) {
    await transpileTo(folder, name, wasm);
    if (!LARGE.includes(name)) continue;
    const core = join(folder, `${name}.core.wasm`);
    writeFileSync(core, withMemory(readFileSync(core), 1 << 14));
  }
});

async function transpileTo(folder, name, wasm) {
  const { transpile } = await import('@bytecodealliance/jco');
  const { files } = await transpile(await readFile(wasm), {
    name,
    instantiation: { tag: 'sync' },
    minify: true,
    noComponentErrorWrapping: true,
  });
  for (const [file, content] of Object.entries(files)) {
    const path = join(folder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, file.endsWith('.js') ? leanComponent(new TextDecoder().decode(content)) : content);
  }
}

/** jco's module without what costs more than the work itself, or changes what comes of it. */
function leanComponent(text) {
  // An environment variable, read several times in every call; for every instance, exceptions that nothing uses; and a
  // mark that is part of a text, wherever it begins with it.
  const lean = [
    [/new TextDecoder(\(\))?(?=[;,)])/g, "new TextDecoder('utf-8',{ignoreBOM:true})"],
    ['globalThis?.process?.env?.JCO_DEBUG', 'false'],
    [/try\{WebAssembly\.promising\(([^()]+|[^()]+\([^()]*\)[^()]*)\)\}catch\{[^{}]*\}/g, ''],
  ].reduce((content, [part, other]) => replaced(content, part, other), text);
  return NO_FINALIZERS + lean;
}

function replaced(text, part, other) {
  const changed = text.replaceAll(part, other);
  if (changed === text) throw new Error(`the generated JavaScript no longer has ${part}`);
  return changed;
}

if (withPages) await generate('bindgen', 'samedeal.js', [web, bindgen], generatePages);

function generatePages(folder) {
  execFileSync(bindgen, [web, folder, 'samedeal'], { stdio: 'inherit' });
  // The module holds one instance in its variables: as a function, one for every call.
  const made = join(folder, 'samedeal.js');
  const body = replaced(readFileSync(made, 'utf8'), /^export (?=class|function)/gm, '');
  const exported = /^export \{ initSync, (\w+) as default \};$/gm;
  const load = exported.exec(body)?.[1];
  const results = `return { initSync, load: ${load}, loaded: () => wasmModule, Sampler, orders };`;
  // Where the module is, src/web-source.ts says: a bundler that saw it here would bring along what nobody loads.
  const place = "new URL('samedeal_bg.wasm', import.meta.url)";
  const text = replaced(replaced(body, exported, results), place, 'undefined')
    .replace(/^\/\* @ts-self-types.*\n/, '')
    .replace(/^ *\/\*\*.*?\*\/\n/gms, '');
  writeFileSync(made, `${NO_FINALIZERS}\nexport function generate() {\n${text}}\n`);
  const types = readFileSync(join(folder, 'samedeal.d.ts'), 'utf8');
  writeFileSync(join(folder, 'generated.d.ts'), types);
  writeFileSync(
    join(folder, 'samedeal.d.ts'),
    `import type * as generated from './generated.js';
type Generated = Pick<typeof generated, 'initSync' | 'Sampler' | 'orders'>;
/** The generated module, with an instance of its own once it is loaded. */
export function generate(): Generated & { load: typeof generated.default; loaded(): WebAssembly.Module };
`,
  );
}

/** Modules of text in place of files, for bundlers. */
async function inline(name, inputs, contents) {
  await generate(`inline/${name}`, 'index.js', inputs, (folder) => {
    const value = contents();
    const type = typeof value === 'string' ? 'string' : 'Record<string, string>';
    writeFileSync(join(folder, 'index.js'), `export default ${JSON.stringify(value)};\n`);
    writeFileSync(join(folder, 'index.d.ts'), `declare const text: ${type};\nexport default text;\n`);
  });
}
const jco = join(here, 'dist/jco');
for (const name of Object.keys(components)) {
  const files = readdirSync(jco).filter((file) => file.startsWith(`${name}.core`) && file.endsWith('.wasm'));
  const read = (file) => readFileSync(join(jco, file), 'base64');
  const texts = () => Object.fromEntries(files.sort().map((file) => [file, read(file)]));
  const paths = files.map((file) => join(jco, file));
  await inline(name, paths, texts);
}
if (withPages) {
  const made = join(here, 'dist/bindgen/samedeal_bg.wasm');
  await inline('web', [made], () => deflateRawSync(readFileSync(made), { level: 9 }).toString('base64'));
}

const project = join(here, withPages ? 'tsconfig.json' : 'tsconfig.node.json');
// Comments are for editors, which read the types, and not for pages.
for (const part of [['--emitDeclarationOnly'], ['--declaration', 'false', '--removeComments']]) {
  const compiler = join(here, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [compiler, '-p', project, ...part], { stdio: 'inherit' });
}

// The entries with another place of their WebAssembly modules, by the one import that tells it.
for (const [entry, kinds, part] of [
  ['index', ['files', ...(withPages ? ['workerd'] : [])], './modules-inline.js'],
  ['web', withPages ? ['inline', 'workerd'] : [], './web-source.js'],
]) {
  for (const kind of kinds) {
    const text = readFileSync(join(here, `dist/${entry}.js`), 'utf8');
    const other = part.replace(/(-inline)?\.js$/, `-${kind}.js`);
    writeFileSync(join(here, `dist/${entry}-${kind}.js`), replaced(text, `'${part}'`, `'${other}'`));
  }
}

if (withPages) copyFileSync(join(here, 'src/web-wasm.d.ts'), join(here, 'dist/web-wasm.d.ts'));
for (const license of ['LICENSE-MIT', 'LICENSE-APACHE']) {
  copyFileSync(join(here, '../..', license), join(here, 'dist', license));
}
