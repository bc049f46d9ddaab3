// Builds dist/ from the WebAssembly builds and src/. The generated parts are made again only if their input is newer.
// With --without-pages only what Node needs: no web build, and nothing that writes the JavaScript around it.
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateRawSync } from 'node:zlib';
import { component, page, pageTypes } from './generated.mjs';
import { withMemory } from './memory.mjs';

const here = fileURLToPath(new URL('..', import.meta.url));
const target = join(here, '../../target');
const components = Object.fromEntries(
  ['samedeal', 'planning', 'batching'].map((name) => [name, join(target, `wasm32-wasip2/wasm/${name}.wasm`)]),
);
/** What has large lists before its objects in memory, and must not come to lie above 1 GiB: see src/engine.ts. */
const LARGE = ['composing', 'planning', 'batching'];
/** The component of samplers that has composed orders, too: with the interface of `samedeal.wasm`, and one JavaScript for both. */
const composing = join(target, 'composing.wasm');
const web = join(target, 'wasm32-unknown-unknown/wasm/samedeal_web.wasm');
/** The same of the build for pages. */
const webComposing = join(target, 'samedeal_web_composing.wasm');
const bindgen = join(target, 'debug/bindgen');
const withPages = !process.argv.includes('--without-pages');

const needed = [
  [components.samedeal, 'cargo build --profile wasm -p samedeal-sampling --target wasm32-wasip2'],
  [composing, 'cargo xtask build node'],
  [components.planning, 'cargo build --profile wasm -p samedeal-planning --target wasm32-wasip2'],
  [components.batching, 'cargo build --profile wasm -p samedeal-batching --target wasm32-wasip2'],
];
if (withPages) {
  needed.push(
    [web, 'cargo build --profile wasm -p samedeal-web --target wasm32-unknown-unknown'],
    [webComposing, 'cargo xtask build node'],
    [bindgen, 'cargo build -p bindgen'],
  );
}
for (const [path, remedy] of needed) {
  if (!existsSync(path)) {
    console.error(`${path} is missing; make it with: ${remedy}`);
    process.exit(1);
  }
}

/** Runs `make` in an empty dist/`name`, unless `output` there is newer than all of `inputs`. */
async function generate(name, output, inputs, make) {
  const folder = join(here, 'dist', name);
  const made = join(folder, output);
  const scripts = ['build', 'generated', 'memory'].map((script) => join(here, `scripts/${script}.mjs`));
  if (existsSync(made) && [...inputs, ...scripts].every((input) => statSync(input).mtimeMs < statSync(made).mtimeMs))
    return;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await make(folder);
}

const LOCK = join(here, 'package-lock.json');
await generate('jco', 'batching.js', [...Object.values(components), composing, LOCK], async (folder) => {
  for (const [name, wasm] of Object.entries({ ...components, composing })) {
    if (name === 'composing') await transpileLike(folder, 'samedeal', wasm, name);
    else await transpileTo(folder, name, wasm);
    if (!LARGE.includes(name)) continue;
    const core = join(folder, `${name}.core.wasm`);
    writeFileSync(core, withMemory(readFileSync(core), 1 << 14));
  }
  writeLists(
    folder,
    readdirSync(folder).filter((file) => file.endsWith('.wasm')),
  );
});

/** The core modules by name: as places of files, each written out, since tools that gather the files of a program look for this
 * expression; and as what an import gives in workerd. */
function writeLists(folder, files) {
  const listed = (name, type, head, value) => {
    const entries = files.map((file, i) => `  '${file}': ${value(file, i)},\n`);
    writeFileSync(join(folder, `${name.toLowerCase()}.js`), `${head}export const ${name} = {\n${entries.join('')}};\n`);
    writeFileSync(
      join(folder, `${name.toLowerCase()}.d.ts`),
      `export declare const ${name}: Record<string, ${type}>;\n`,
    );
  };
  listed('PLACES', '() => URL', '', (file) => `() => new URL('./${file}', import.meta.url)`);
  const imports = files.map((file, i) => `import module${i} from './${file}';\n`).join('');
  listed('COMPILED', 'WebAssembly.Module', imports, (_, i) => `module${i}`);
}

/** What jco makes of a component, by the names of files. */
async function transpiled(name, wasm) {
  const { transpile } = await import('@bytecodealliance/jco');
  const { files } = await transpile(await readFile(wasm), {
    name,
    instantiation: { tag: 'sync' },
    minify: true,
    noComponentErrorWrapping: true,
  });
  return Object.entries(files).map(([file, content]) => [
    file,
    file.endsWith('.js') ? Buffer.from(component(new TextDecoder().decode(content))) : Buffer.from(content),
  ]);
}

async function transpileTo(folder, name, wasm) {
  for (const [file, content] of await transpiled(name, wasm)) {
    const path = join(folder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
}

/** The core module of a component, as `as`, for which the other files of the component `name` serve. */
async function transpileLike(folder, name, wasm, as) {
  const core = `${name}.core.wasm`;
  for (const [file, content] of await transpiled(name, wasm)) {
    if (file === core) writeFileSync(join(folder, `${as}.core.wasm`), content);
    else sameAs(join(folder, file), content);
  }
}

/** Holds a file to a content. */
function sameAs(path, content) {
  if (!readFileSync(path).equals(content)) throw new Error(`${path} does not serve for both builds any more`);
}

if (withPages) await generate('bindgen', 'generated.d.ts', [web, webComposing, bindgen], generatePages);

async function generatePages(folder) {
  const { minify } = await import('oxc-minify');
  const [script, types] = ['samedeal.js', 'samedeal.d.ts'].map((file) => join(folder, file));
  const wasm = join(folder, 'samedeal_bg.wasm');
  execFileSync(bindgen, [webComposing, folder, 'samedeal'], { stdio: 'inherit' });
  const composed = readFileSync(script);
  renameSync(wasm, join(folder, 'composing_bg.wasm'));
  execFileSync(bindgen, [web, folder, 'samedeal'], { stdio: 'inherit' });
  sameAs(script, composed);
  const { code, errors } = await minify('samedeal.js', page(readFileSync(script, 'utf8')), { module: true });
  if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('\n'));
  writeFileSync(script, code);
  renameSync(types, join(folder, 'generated.d.ts'));
  writeFileSync(types, pageTypes('./generated.d.ts'));
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
for (const name of [...Object.keys(components), 'composing']) {
  const files = readdirSync(jco).filter((file) => file.startsWith(`${name}.core`) && file.endsWith('.wasm'));
  const read = (file) => readFileSync(join(jco, file), 'base64');
  const texts = () => Object.fromEntries(files.sort().map((file) => [file, read(file)]));
  const paths = files.map((file) => join(jco, file));
  await inline(name, paths, texts);
}
if (withPages) {
  for (const [name, file] of [
    ['web', 'samedeal_bg.wasm'],
    ['web-composing', 'composing_bg.wasm'],
  ]) {
    const made = join(here, 'dist/bindgen', file);
    await inline(name, [made], () => deflateRawSync(readFileSync(made), { level: 9 }).toString('base64'));
  }
}

// What an earlier layout of the sources left would be packed too.
for (const name of readdirSync(join(here, 'dist'))) {
  if (!['bindgen', 'inline', 'jco'].includes(name)) rmSync(join(here, 'dist', name), { recursive: true });
}

const project = join(here, withPages ? 'tsconfig.json' : 'tsconfig.node.json');
// Comments are for editors, which read the types, and not for pages.
for (const part of [['--emitDeclarationOnly'], ['--declaration', 'false', '--removeComments']]) {
  const compiler = join(here, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [compiler, '-p', project, ...part], { stdio: 'inherit' });
}

// The entries with another place of their WebAssembly modules, by the one import that tells it.
for (const [entry, kinds, part] of [
  ['index', ['files', ...(withPages ? ['workerd'] : [])], './bindings/modules-inline.js'],
  ['web', withPages ? ['inline', 'workerd'] : [], './bindings/web-source.js'],
  ['web-composing', withPages ? ['inline', 'workerd'] : [], './bindings/web-source-composing.js'],
]) {
  for (const kind of kinds) {
    const text = readFileSync(join(here, `dist/${entry}.js`), 'utf8');
    const other = part.replace(/(-inline)?\.js$/, `-${kind}.js`);
    const changed = text.replace(`'${part}'`, `'${other}'`);
    if (changed === text) throw new Error(`dist/${entry}.js no longer imports ${part}`);
    writeFileSync(join(here, `dist/${entry}-${kind}.js`), changed);
  }
}

if (withPages) copyFileSync(join(here, 'src/web-wasm.d.ts'), join(here, 'dist/web-wasm.d.ts'));
for (const license of ['LICENSE-MIT', 'LICENSE-APACHE']) {
  copyFileSync(join(here, '../..', license), join(here, 'dist', license));
}
