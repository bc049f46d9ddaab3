// Transcripts in Node, Deno and Bun: `files.mjs FOLDER`, where FOLDER has transcripts and core modules.
import { readFileSync } from 'node:fs';
import { argv, exit } from 'node:process';
import { lines, replay } from './replay.mjs';

/** The runtime, and its JavaScript engine. */
function engine() {
  if (globalThis.Bun) return `bun (${Bun.version})`;
  if (globalThis.Deno) return `deno (${Deno.version.deno}, V8 ${Deno.version.v8})`;
  return `node (${process.version}, V8 ${process.versions.v8})`;
}

const folder = argv[2];
const words = (file) => readFileSync(`${folder}/${file}`, 'utf8').trim().split('\n');
const compile = (name) => [name, new WebAssembly.Module(readFileSync(`${folder}/${name}.core.wasm`))];
const modules = Object.fromEntries(words('components.txt').map(compile));
let isGood = true;
for (const group of words('groups.txt')) {
  const outcome = replay(readFileSync(`${folder}/${group}.txt`, 'utf8'), modules);
  console.log(lines(engine(), outcome));
  for (const error of outcome.errors) console.error(error);
  isGood &&= outcome.failed === 0 && outcome.passed > 0;
}
exit(isGood ? 0 : 1);
