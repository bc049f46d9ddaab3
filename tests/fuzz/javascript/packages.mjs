// The package under test, and the fuzzing library: both from the npm package's folder, whose dependencies they are.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

export const require = createRequire(new URL('../../../hosts/js/package.json', import.meta.url));
export const load = (name) => import(pathToFileURL(require.resolve(name)).href);
export const { default: fc } = await load('fast-check');
