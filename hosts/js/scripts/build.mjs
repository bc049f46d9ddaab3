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
import { coreOf } from './core.mjs';
import { page, pageTypes } from './generated.mjs';

const here = fileURLToPath(new URL('..', import.meta.url));
const target = join(here, '../../target');
const components = Object.fromEntries(
  ['samedeal', 'planning', 'batching'].map((name) => [name, join(target, `wasm32-wasip2/wasm/${name}.wasm`)]),
);
/** The component of samplers that has composed orders, too, with the interface of `samedeal.wasm`. */
const composing = join(target, 'composing.wasm');
const web = join(target, 'wasm32-unknown-unknown/wasm/samedeal_web.wasm');
/** The same of the build for pages. */
const webComposing = join(target, 'samedeal_web_composing.wasm');
const bindgen = join(target, 'debug/bindgen');
const bindings = join(target, 'debug/bindings');
const withPages = !process.argv.includes('--without-pages');

const needed = [
  [components.samedeal, 'cargo build --profile wasm -p samedeal-sampling --target wasm32-wasip2'],
  [composing, 'cargo xtask build node'],
  [bindings, 'cargo build -p bindings'],
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
  const scripts = ['build', 'core', 'generated'].map((script) => join(here, `scripts/${script}.mjs`));
  if (existsSync(made) && [...inputs, ...scripts].every((input) => statSync(input).mtimeMs < statSync(made).mtimeMs))
    return;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await make(folder);
}

const LOCK = join(here, 'package-lock.json');
const WIT = join(here, '../../wit');
const wits = readdirSync(WIT).map((file) => join(WIT, file));
const inputs = [...Object.values(components), composing, bindings, LOCK, ...wits];
await generate('components', 'compiled.js', inputs, async (folder) => {
  execFileSync(bindings, ['javascript', WIT, folder], { stdio: 'inherit' });
  for (const [name, wasm] of Object.entries(components)) await writeTypes(folder, name, wasm);
  const files = Object.entries({ ...components, composing }).map(([name, wasm]) => {
    writeFileSync(join(folder, `${name}.core.wasm`), coreOf(readFileSync(wasm)));
    return `${name}.core.wasm`;
  });
  writeLists(folder, files);
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

/** The types of the interfaces of a component, as jco has them. */
async function writeTypes(folder, name, wasm) {
  const { transpile } = await import('@bytecodealliance/jco');
  const { files } = await transpile(await readFile(wasm), { name, instantiation: { tag: 'sync' } });
  mkdirSync(join(folder, 'interfaces'), { recursive: true });
  for (const [file, content] of Object.entries(files)) {
    if (file.startsWith('interfaces/')) writeFileSync(join(folder, file), content);
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

const inlined = new Set();

/** A file, compressed in text, for bundlers; `found` makes of it what the module exports, of this type. */
async function inline(name, file, found, type) {
  inlined.add(name);
  await generate(`inline/${name}`, 'index.js', [join(here, 'dist', file)], (folder) => {
    const bytes = readFileSync(join(here, 'dist', file));
    const text = deflateRawSync(bytes, { level: 9 }).toString('base64');
    writeFileSync(join(folder, 'index.js'), `export default ${JSON.stringify(found(text, bytes.length))};\n`);
    writeFileSync(join(folder, 'index.d.ts'), `declare const found: ${type};\nexport default found;\n`);
  });
}
/** What is there at once: who unpacks it in one call needs its size. */
for (const [name, component] of Object.entries({
  batching: 'batching',
  composing: 'composing',
  light: 'samedeal',
  planning: 'planning',
})) {
  const file = `components/${component}.core.wasm`;
  await inline(name, file, (text, size) => ({ text, size }), '{ text: string; size: number }');
}
/** What a page loads for the parts that have another build there. */
for (const [part, file] of withPages
  ? [
      ['sampling', 'samedeal'],
      ['composing', 'composing'],
    ]
  : []) {
  await inline(`page-${part}`, `bindgen/${file}_bg.wasm`, (text) => text, 'string');
}

// What an earlier layout of the sources left would be packed too.
for (const name of readdirSync(join(here, 'dist'))) {
  if (!['bindgen', 'components', 'inline'].includes(name)) rmSync(join(here, 'dist', name), { recursive: true });
}
for (const name of readdirSync(join(here, 'dist/inline'))) {
  if (!inlined.has(name)) rmSync(join(here, 'dist/inline', name), { recursive: true });
}

const project = join(here, withPages ? 'tsconfig.json' : 'tsconfig.node.json');
// Comments are for editors, which read the types, and not for pages.
for (const part of [['--emitDeclarationOnly'], ['--declaration', 'false', '--removeComments']]) {
  const compiler = join(here, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [compiler, '-p', project, ...part], { stdio: 'inherit' });
}

// The entries with another place of their WebAssembly modules, by the one import that tells it.
// Without this mark, some bundlers keep every class of an entry.
const index = join(here, 'dist/index.js');
writeFileSync(index, readFileSync(index, 'utf8').replaceAll(' extends over(', ' extends /* @__PURE__ */ over('));

/** Writes dist/`made`: dist/`of` with other modules in place of some that it imports. */
function variant(of, made, others) {
  let text = readFileSync(join(here, 'dist', of), 'utf8');
  for (const [module, other] of Object.entries(others)) {
    const path = (name) => `'${name.startsWith('.') ? name : `./${name}`}.js'`;
    const changed = text.replaceAll(path(module), path(other));
    if (changed === text) throw new Error(`dist/${of} no longer imports ${module}`);
    text = changed;
  }
  writeFileSync(join(here, 'dist', made), text);
}
// For the same reason: each engine is made of what its component has.
for (const file of ['engines', 'engines-light']) {
  const path = join(here, `dist/bindings/${file}.js`);
  if (existsSync(path))
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(' = lazily(', ' = /* @__PURE__ */ lazily('));
}
for (const kind of withPages ? ['files', 'workerd'] : ['files']) {
  variant('bindings/engines.js', `bindings/engines-${kind}.js`, { 'modules-inline': `modules-${kind}` });
  variant('index.js', `index-${kind}.js`, { 'bindings/engines': `bindings/engines-${kind}` });
}
if (withPages) {
  for (const kind of ['inline', 'workerd']) {
    const engines = `bindings/engines-page-${kind}`;
    variant('bindings/engines-page.js', `${engines}.js`, { parts: `parts-${kind}` });
    variant('index.js', `page-${kind}.js`, { 'bindings/engines': engines });
    variant('web.js', `web-${kind}.js`, { index: `page-${kind}`, 'bindings/engines-page': engines });
  }
  variant('bindings/engines-light.js', 'bindings/engines-light-workerd.js', {
    'modules-light': 'modules-light-workerd',
  });
  for (const kind of ['-workerd', '']) {
    variant('index.js', `index-light${kind}.js`, { 'bindings/engines': `bindings/engines-light${kind}` });
    variant('light.js', `light${kind}.js`, { index: `index-light${kind}` });
  }
  variant('index.js', 'page.js', { 'bindings/engines': 'bindings/engines-page' });
  variant('web.js', 'web.js', { index: 'page' });
  for (const kind of ['-inline', '-workerd', '']) {
    if (kind) variant('parquet/host-page.js', `parquet/host-page${kind}.js`, { '../web': `../web${kind}` });
    variant('parquet.js', `web-parquet${kind}.js`, { 'parquet/host': `parquet/host-page${kind}` });
  }
}

/** The types once more in dist/older: for TypeScript before 5.7, whose typed arrays are not generic, and for what is required in CommonJS. */
const declarations = readdirSync(join(here, 'dist'), { recursive: true }).filter((file) => file.endsWith('.d.ts'));
for (const file of withPages ? declarations : []) {
  const text = readFileSync(join(here, 'dist', file), 'utf8').replaceAll(/(Array)<ArrayBuffer(?:Like)?>/g, '$1');
  const path = join(here, 'dist/older', file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  const own = text.replaceAll(/((?:from |import\()['"])(\.[^'"]+)\.js/g, '$1$2.cjs');
  const others = own.replaceAll(
    /import\('(hyparquet[^']*)'\)/g,
    "import('$1', { with: { 'resolution-mode': 'import' } })",
  );
  writeFileSync(path.replace(/\.ts$/, '.cts'), others);
}

if (withPages) copyFileSync(join(here, 'src/web-wasm.d.ts'), join(here, 'dist/web-wasm.d.ts'));
for (const license of ['LICENSE-MIT', 'LICENSE-APACHE']) {
  copyFileSync(join(here, '../..', license), join(here, 'dist', license));
}
