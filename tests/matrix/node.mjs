// The golden cases in Node: over the components (transpiled by jco), and over both wasm-bindgen builds.
import { readFileSync } from 'node:fs';
import { bindgenInstances } from '../../hosts/js/dist/bindings/bindgen.js';
import { batchingInstances, dealingInstances, planningInstances } from '../../hosts/js/dist/bindings/components.js';
import { Engine } from '../../hosts/js/dist/engine.js';
import { groupFiles, readGroup, report } from './report.mjs';
import { runGroup } from './runner.mjs';

const read = (path) => readFileSync(new URL(`../../hosts/js/dist/${path}`, import.meta.url));
const compile = (file) => new WebAssembly.Module(read(`jco/${file}`));
const builds = {
  jco: {
    dealing: new Engine(dealingInstances(compile)),
    planning: new Engine(planningInstances(compile)),
    batching: new Engine(batchingInstances(compile)),
  },
  'wasm-bindgen': { dealing: new Engine(await bindgenInstances(read('bindgen/samedeal_bg.wasm'))) },
  'wasm-bindgen, composing': { dealing: new Engine(await bindgenInstances(read('bindgen/composing_bg.wasm'))) },
};

for (const [build, engines] of Object.entries(builds)) {
  for (const file of groupFiles()) report(`node (${build})`, runGroup(build, engines, readGroup(file)));
}
