// The golden cases in Node: over the component (transpiled by jco), and over the wasm-bindgen build.
import { readFileSync } from 'node:fs';
import { bindgenInstances } from '../../hosts/js/dist/bindgen.js';
import { componentInstances } from '../../hosts/js/dist/component.js';
import { Engine } from '../../hosts/js/dist/engine.js';
import { groupFiles, readGroup, report } from './report.mjs';
import { runGroup } from './runner.mjs';

const read = (path) => readFileSync(new URL(`../../hosts/js/dist/${path}`, import.meta.url));
const engines = [
  ['node (jco)', componentInstances((file) => new WebAssembly.Module(read(`jco/${file}`)))],
  ['node (wasm-bindgen)', await bindgenInstances(read('bindgen/samedeal_bg.wasm'))],
];

for (const [name, instantiate] of engines) {
  const engine = new Engine(instantiate);
  for (const file of groupFiles()) report(name, runGroup(engine, readGroup(file)));
}
