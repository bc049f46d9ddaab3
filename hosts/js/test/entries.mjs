// The entries of the package with samplers, for the tests that hold for all of them.
import { readFileSync } from 'node:fs';
import * as node from 'samedeal';
import * as web from 'samedeal/web';
import * as composing from '../dist/web.js';

const read = (part) => readFileSync(new URL(import.meta.resolve(`samedeal/web/${part}.wasm`)));
await web.init('sampling', read('sampling'));
// The same entry as files, which has engines of its own: here with all parts.
await Promise.all(['composing', 'batching', 'planning', 'topology'].map((part) => composing.init(part, read(part))));

export const entries = { samedeal: node, 'samedeal/web': web };
/** Those that have composed orders. */
export const composed = { samedeal: node, 'samedeal/web, all parts': composing };
