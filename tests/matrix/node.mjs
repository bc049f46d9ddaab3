// The golden cases in Node: over the components, and over both wasm-bindgen builds.
import { readFileSync } from 'node:fs';
import { batchingInstances } from '../../hosts/js/dist/bindings/batching.js';
import { bindgenInstances } from '../../hosts/js/dist/bindings/bindgen.js';
import { dealingInstances } from '../../hosts/js/dist/bindings/dealing.js';
import { planningInstances } from '../../hosts/js/dist/bindings/planning.js';
import { Engine } from '../../hosts/js/dist/engine.js';
import { groupFiles, readGroup, report } from './report.mjs';
import { runGroup } from './runner.mjs';

const read = (path) => readFileSync(new URL(`../../hosts/js/dist/${path}`, import.meta.url));
const compile = (file) => new WebAssembly.Module(read(`components/${file}`));
const page = (file) => ({ dealing: new Engine(bindgenInstances(new WebAssembly.Module(read(`bindgen/${file}`)))) });
const dealing = new Engine(dealingInstances(compile));
const builds = {
  components: {
    dealing,
    topology: dealing,
    planning: new Engine(planningInstances(compile)),
    batching: new Engine(batchingInstances(compile)),
  },
  'wasm-bindgen': page('samedeal_bg.wasm'),
  'wasm-bindgen, composing': page('composing_bg.wasm'),
};

for (const [build, engines] of Object.entries(builds)) {
  for (const file of groupFiles()) report(`node (${build})`, runGroup(build, engines, readGroup(file)));
}
