// Makes a component of guest.js: node --import ./open-folders.mjs build.mjs OUTPUT
import { rename, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { componentize } from '@bytecodealliance/componentize-js';

const [output] = process.argv.slice(2);
if (!output) {
  console.error('Usage: node --import ./open-folders.mjs build.mjs OUTPUT');
  process.exit(2);
}
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const { component } = await componentize({
  sourcePath: here('guest.js'),
  witPath: here('../guest-world/wit'),
  worldName: 'guest',
  // The guest needs no interface of the system, so none is linked in.
  disableFeatures: ['clocks', 'fetch-event', 'http', 'random', 'stdio'],
});
await writeFile(`${output}.new`, component);
await rename(`${output}.new`, output);
