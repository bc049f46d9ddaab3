// The place of the component in a bundle, which does not bring files along: text in a module that is loaded by `init`.
import { inflated } from './inline.js';
import type { Source } from './source.js';

export const place = async (): Promise<Source> => inflated((await import('../inline/samedeal/index.js')).default.text);
