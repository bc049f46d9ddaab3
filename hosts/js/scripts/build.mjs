// Builds dist/ from the WebAssembly builds and src/. The generated parts are made again only if their input is newer.
// With --without-pages, only the parts for Node are built: no web build, and no JavaScript around it.
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
import { fileURLToPath, pathToFileURL } from 'node:url';
import { deflateRawSync } from 'node:zlib';
import { coreOf } from './core.mjs';
import { page, pageTypes } from './generated.mjs';

const here = fileURLToPath(new URL('..', import.meta.url));
const target = join(here, '../../target');
const component = join(here, '../rust/samedeal.wasm');
/** The light build. */
const web = join(target, 'wasm32-unknown-unknown/wasm/samedeal_web.wasm');
/** The path of a program of this project. */
const tool = (name) => join(target, 'debug', process.platform === 'win32' ? `${name}.exe` : name);
const bindgen = tool('bindgen');
const generator = tool('generator');
const withPages = !process.argv.includes('--without-pages');

const needed = [
  [component, 'cargo xtask build node'],
  [generator, 'cargo xtask build node'],
];
if (withPages) needed.push([web, 'cargo xtask build node'], [bindgen, 'cargo xtask build node']);
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
await generate('components', 'samedeal.core.wasm', [component, generator, LOCK, ...wits], async (folder) => {
  execFileSync(generator, ['javascript', WIT, folder], { stdio: 'inherit' });
  await writeTypes(folder, 'samedeal', component);
  writeFileSync(join(folder, 'samedeal.core.wasm'), coreOf(readFileSync(component)));
});

// Generates the plain members of each class. A file that would not change is not written.
execFileSync(generator, ['typescript', WIT, join(here, 'src/generated')], { stdio: 'inherit' });

/** The types of the interfaces of a component, as jco has them. */
async function writeTypes(folder, name, wasm) {
  const { transpile } = await import('@bytecodealliance/jco');
  const { files } = await transpile(await readFile(wasm), { name, instantiation: { tag: 'sync' } });
  mkdirSync(join(folder, 'interfaces'), { recursive: true });
  for (const [file, content] of Object.entries(files)) {
    if (file.startsWith('interfaces/')) writeFileSync(join(folder, file), content);
  }
}

if (withPages) await generate('bindgen', 'generated.d.ts', [web, bindgen], generatePages);

async function generatePages(folder) {
  const { transform } = await import('esbuild');
  const [script, types] = ['samedeal.js', 'samedeal.d.ts'].map((file) => join(folder, file));
  execFileSync(bindgen, [web, folder, 'samedeal'], { stdio: 'inherit' });
  const { code } = await transform(page(readFileSync(script, 'utf8')), { minify: true });
  writeFileSync(script, code);
  renameSync(types, join(folder, 'generated.d.ts'));
  writeFileSync(types, pageTypes('./generated.d.ts'));
}

const inlined = new Set();

/**
 * Writes a file as compressed text in a JavaScript module, for bundlers. A decompressor that works in one call needs
 * its size.
 */
async function inline(name, file) {
  inlined.add(name);
  await generate(`inline/${name}`, 'index.js', [join(here, 'dist', file)], (folder) => {
    const bytes = readFileSync(join(here, 'dist', file));
    const found = { text: deflateRawSync(bytes, { level: 9 }).toString('base64'), size: bytes.length };
    writeFileSync(join(folder, 'index.js'), `export default ${JSON.stringify(found)};\n`);
    const type = '{ text: string; size: number }';
    writeFileSync(join(folder, 'index.d.ts'), `declare const found: ${type};\nexport default found;\n`);
  });
}
await inline('samedeal', 'components/samedeal.core.wasm');
if (withPages) await inline('light', 'bindgen/samedeal_bg.wasm');

// Removes files of an earlier layout, which would be packed too.
for (const name of readdirSync(join(here, 'dist'))) {
  if (!['bindgen', 'components', 'inline'].includes(name)) rmSync(join(here, 'dist', name), { recursive: true });
}
for (const name of readdirSync(join(here, 'dist/inline'))) {
  if (!inlined.has(name)) rmSync(join(here, 'dist/inline', name), { recursive: true });
}

const project = join(here, withPages ? 'tsconfig.json' : 'tsconfig.node.json');
// Types keep their comments, for editors. JavaScript has none, since pages load it.
for (const part of [['--emitDeclarationOnly'], ['--declaration', 'false', '--removeComments']]) {
  const compiler = join(here, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [compiler, '-p', project, ...part], { stdio: 'inherit' });
}

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
// Without this mark, some bundlers keep the call that prepares the engine.
for (const file of ['engines', 'engines-light']) {
  const path = join(here, `dist/engine/${file}.js`);
  if (existsSync(path))
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(' = lazily(', ' = /* @__PURE__ */ lazily('));
}
/** The readers that know Parquet alone, so that a bundle needs no package for other formats. */
variant('readers.js', 'parquet.js', { 'files/formats-all': 'files/formats-parquet' });
writeFileSync(join(here, 'dist/parquet.d.ts'), "export * from './readers.js';\n");
for (const kind of withPages ? ['files', 'workerd'] : ['files']) {
  variant('engine/engines.js', `engine/engines-${kind}.js`, { 'modules-inline': `modules-${kind}` });
  variant('index.js', `index-${kind}.js`, { 'engine/engines': `engine/engines-${kind}` });
}
if (withPages) {
  for (const kind of ['inline', 'workerd']) {
    const engines = `engine/engines-page-${kind}`;
    variant('engine/engines-page.js', `${engines}.js`, { place: `place-${kind}` });
    variant('index.js', `page-${kind}.js`, { 'engine/engines': engines });
    variant('web.js', `web-${kind}.js`, { index: `page-${kind}`, 'engine/engines-page': engines });
  }
  variant('engine/engines-light.js', 'engine/engines-light-workerd.js', {
    'modules-light': 'modules-light-workerd',
  });
  for (const [kind, engines] of [
    ['workerd', 'engines-light-workerd'],
    ['inline', 'engines-light'],
  ]) {
    variant('index.js', `index-light-${kind}.js`, { 'engine/engines': `engine/${engines}` });
    variant('light.js', `light-${kind}.js`, { index: `index-light-${kind}` });
  }
  variant('index.js', 'page.js', { 'engine/engines': 'engine/engines-page' });
  variant('web.js', 'web.js', { index: 'page' });
  for (const kind of ['-inline', '-workerd', '']) {
    if (kind) variant('files/host-page.js', `files/host-page${kind}.js`, { '../web': `../web${kind}` });
    variant('parquet.js', `web-parquet${kind}.js`, { 'files/host': `files/host-page${kind}` });
  }
  const { writePages } = await import('./pages.mjs');
  await writePages(join(here, 'dist'));
}

/**
 * Writes the types again into dist/older: for TypeScript before 5.7, whose typed arrays are not generic, and for
 * modules that are required in CommonJS.
 */
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

/** Entries for `require`, which gives the same modules as `import` in Node. */
const required = {
  index: 'index-files',
  files: 'files',
  inline: 'index',
  light: 'light-inline',
  node: 'node',
  parquet: 'parquet',
  web: 'web-inline',
  'web-parquet': 'web-parquet-inline',
};
for (const [entry, module] of Object.entries(required)) {
  const path = join(here, `dist/${module}.js`);
  if (!existsSync(path)) continue;
  // Node reads the names from the text, for an import of this file.
  const names = Object.keys(await import(pathToFileURL(path).href)).join(', ');
  writeFileSync(
    join(here, `dist/${entry}.cjs`),
    `module.exports = require('./${module}.js');\n0 && (module.exports = { ${names} });\n`,
  );
}

if (withPages) copyFileSync(join(here, 'src/web-wasm.d.ts'), join(here, 'dist/web-wasm.d.ts'));
for (const license of ['LICENSE-MIT', 'LICENSE-APACHE']) {
  copyFileSync(join(here, '../..', license), join(here, 'dist', license));
}
