// What is fuzzed, and the library that does it: both from the folder of the npm package, whose dependencies they are.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

export const require = createRequire(new URL('../../../hosts/js/package.json', import.meta.url));
export const load = (name) => import(pathToFileURL(require.resolve(name)).href);
export const { default: fc } = await load('fast-check');
