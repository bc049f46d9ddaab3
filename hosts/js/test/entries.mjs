// The entries of the package with samplers, for the tests that hold for all of them.
import { readFileSync } from 'node:fs';
import * as node from 'samedeal';
import * as web from 'samedeal/web';
import * as composing from 'samedeal/web/composing';

await web.init(readFileSync(new URL(import.meta.resolve('samedeal/web.wasm'))));

await composing.init(readFileSync(new URL(import.meta.resolve('samedeal/web/composing.wasm'))));

export const entries = { samedeal: node, 'samedeal/web': web };
/** Those that have composed orders. */
export const composed = { samedeal: node, 'samedeal/web/composing': composing };
