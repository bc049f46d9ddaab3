// Both entries of the package, for the tests that hold for both.
import { readFileSync } from 'node:fs';
import * as node from 'samedeal';
import * as web from 'samedeal/web';

await web.init(readFileSync(new URL(import.meta.resolve('samedeal/web.wasm'))));

export const entries = { samedeal: node, 'samedeal/web': web };
