// The place of the component in a bundle, which has no other files: text in a module that `init` loads.
import { inflated } from './inline.js';
import type { Source } from './source.js';

export const place = async (): Promise<Source> => inflated((await import('../inline/samedeal/index.js')).default.text);
