// The golden cases in a page of headless Chromium, over both builds, without a bundler.
import { fileURLToPath } from 'node:url';
import { openPage } from './page.mjs';
import { fail, groupFiles, report } from './report.mjs';

const folders = ['hosts/js/dist', 'tests/matrix', 'tests/vectors'].map((folder) => [
  `/${folder}/`,
  fileURLToPath(new URL(`../../${folder}/`, import.meta.url)),
]);
const { page, version, close } = await openPage(Object.fromEntries(folders), '<title>samedeal</title>').catch(
  ({ message }) => fail(message),
);
try {
  for (const build of ['wasm-bindgen', 'jco']) {
    for (const file of groupFiles()) {
      report(`chromium ${version} (${build})`, await page.evaluate(runInPage, { build, file }));
    }
  }
} finally {
  await close();
}

/** Runs in the page. */
async function runInPage({ build, file }) {
  const loaders = {
    async 'wasm-bindgen'() {
      const { bindgenInstances } = await import('/hosts/js/dist/bindgen.js');
      return bindgenInstances();
    },
    async jco() {
      const files = ['samedeal.core.wasm', 'samedeal.core2.wasm', 'samedeal.core3.wasm'];
      const fetched = files.map((name) => WebAssembly.compileStreaming(fetch(`/hosts/js/dist/jco/${name}`)));
      const modules = await Promise.all(fetched);
      const { componentInstances } = await import('/hosts/js/dist/component.js');
      return componentInstances((name) => modules[files.indexOf(name)]);
    },
  };
  const { Engine } = await import('/hosts/js/dist/engine.js');
  globalThis.engines ??= {};
  globalThis.engines[build] ??= new Engine(await loaders[build]());
  const { runGroup } = await import('/tests/matrix/runner.mjs');
  const group = await (await fetch(`/tests/vectors/${file}`)).json();
  return runGroup(globalThis.engines[build], group);
}
