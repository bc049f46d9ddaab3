// The golden cases in Node: over the component (transpiled by jco), and over the wasm-bindgen build.
import { readFileSync } from 'node:fs';
import { bindgenBindings } from '../../hosts/js/dist/bindgen.js';
import { componentBindings } from '../../hosts/js/dist/component.js';
import { groupFiles, readGroup, report } from './report.mjs';
import { runGroup } from './runner.mjs';

const read = (path) => readFileSync(new URL(`../../hosts/js/dist/${path}`, import.meta.url));
const engines = [
  ['node (jco)', componentBindings((file) => new WebAssembly.Module(read(`jco/${file}`)))],
  ['node (wasm-bindgen)', await bindgenBindings(read('bindgen/samedeal_bg.wasm'))],
];

for (const [engine, bindings] of engines) {
  for (const file of groupFiles()) report(engine, runGroup(bindings, readGroup(file)));
}
