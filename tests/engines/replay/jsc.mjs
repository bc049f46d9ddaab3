// Transcripts in the shell of JavaScriptCore, which has functions of its own for files: `jsc -m jsc.mjs -- FOLDER VERSION`.
import { lines, replay } from './replay.mjs';

const [folder, version] = globalThis.arguments;
const words = (file) => readFile(`${folder}/${file}`).trim().split('\n');
const compile = (name) => [name, new WebAssembly.Module(readFile(`${folder}/${name}.core.wasm`, 'binary'))];
const modules = Object.fromEntries(words('components.txt').map(compile));
for (const group of words('groups.txt')) {
  const outcome = replay(readFile(`${folder}/${group}.txt`), modules);
  print(lines(`jsc (${version})`, outcome));
  // A failed group only prints its errors. An exit code other than 0 would end the script before the other groups.
  for (const error of outcome.errors) printErr(error);
}
