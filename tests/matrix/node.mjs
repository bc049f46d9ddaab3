// The golden cases in Node, on the component and on the light build.
import { readFileSync } from 'node:fs';
import { bindgenInstances } from '../../hosts/js/dist/engine/bindgen.js';
import { componentInstances } from '../../hosts/js/dist/engine/component.js';
import { Engine } from '../../hosts/js/dist/engine.js';
import { groupFiles, readGroup, report } from './report.mjs';
import { runGroup } from './runner.mjs';

const compiled = (path) =>
  new WebAssembly.Module(readFileSync(new URL(`../../hosts/js/dist/${path}`, import.meta.url)));
const component = new Engine(componentInstances(() => compiled('components/samedeal.core.wasm')));
const builds = {
  component: { light: component, component },
  light: { light: new Engine(bindgenInstances(compiled('bindgen/samedeal_bg.wasm'))) },
};

for (const [build, engines] of Object.entries(builds)) {
  for (const file of groupFiles()) report(`node (${build})`, runGroup(build, engines, readGroup(file)));
}
