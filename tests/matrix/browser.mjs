// The golden cases in a page of headless Chromium, with the entry for pages, without a bundler.
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
  for (const build of ['light', 'page']) {
    for (const file of groupFiles()) {
      // The question is a text, because Chromium copies objects member by member, which takes longer than all cases.
      const question = { build, group: JSON.stringify(readGroup(file)) };
      report(`chromium ${version} (${build})`, await page.evaluate(runInPage, question));
    }
  }
} finally {
  await close();
}

/** Runs in the page, on the engines of its entries: first on the light one, then on the component. */
async function runInPage({ build, group }) {
  const loaders = {
    async light() {
      const { light } = await import('/hosts/js/dist/engine/engines-light.js');
      return { light: light() };
    },
    async page() {
      const { component, init } = await import('/hosts/js/dist/engine/engines-page.js');
      await init();
      return { light: component(), component: component() };
    },
  };
  globalThis.builds ??= {};
  globalThis.builds[build] ??= await loaders[build]();
  const { runGroup } = await import('/tests/matrix/runner.mjs');
  return runGroup(build, globalThis.builds[build], JSON.parse(group));
}
