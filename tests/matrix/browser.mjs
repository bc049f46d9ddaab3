// The golden cases in a page of headless Chromium, over both builds, without a bundler.
import { fileURLToPath } from 'node:url';
import { openPage } from './page.mjs';
import { fail, groupFiles, readGroup, report } from './report.mjs';

const folders = ['hosts/js/dist', 'tests/matrix'].map((folder) => [
  `/${folder}/`,
  fileURLToPath(new URL(`../../${folder}/`, import.meta.url)),
]);
const { page, version, close } = await openPage(Object.fromEntries(folders), '<title>samedeal</title>').catch(
  ({ message }) => fail(message),
);
try {
  for (const build of ['wasm-bindgen', 'wasm-bindgen, composing', 'jco']) {
    for (const file of groupFiles()) {
      report(`chromium ${version} (${build})`, await page.evaluate(runInPage, { build, group: readGroup(file) }));
    }
  }
} finally {
  await close();
}

/** Runs in the page. */
async function runInPage({ build, group }) {
  const { Engine } = await import('/hosts/js/dist/engine.js');
  const page = async (file) => {
    const { bindgenInstances } = await import('/hosts/js/dist/bindings/bindgen.js');
    return { dealing: new Engine(await bindgenInstances(`/hosts/js/dist/bindgen/${file}`)) };
  };
  const loaders = {
    'wasm-bindgen': () => page('samedeal_bg.wasm'),
    'wasm-bindgen, composing': () => page('composing_bg.wasm'),
    async jco() {
      const modules = async (name, ...others) => {
        const files = [...['core', 'core2', 'core3'].map((core) => `${name}.${core}.wasm`), ...others];
        const fetched = files.map((file) => WebAssembly.compileStreaming(fetch(`/hosts/js/dist/jco/${file}`)));
        const compiled = await Promise.all(fetched);
        return (file) => compiled[files.indexOf(file)];
      };
      const { batchingInstances, dealingInstances, planningInstances } = await import(
        '/hosts/js/dist/bindings/components.js'
      );
      return {
        dealing: new Engine(dealingInstances(await modules('samedeal', 'composing.core.wasm'))),
        planning: new Engine(planningInstances(await modules('planning'))),
        batching: new Engine(batchingInstances(await modules('batching'))),
      };
    },
  };
  globalThis.builds ??= {};
  globalThis.builds[build] ??= await loaders[build]();
  const { runGroup } = await import('/tests/matrix/runner.mjs');
  return runGroup(build, globalThis.builds[build], group);
}
