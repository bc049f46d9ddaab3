// The entries of the package that have samplers, for tests that hold for all of them.
import * as node from 'samedeal';
import * as light from 'samedeal/light';
import * as web from 'samedeal/web';

await web.init();

export const entries = { samedeal: node, 'samedeal/light': light };
/** The entries that have composed orders. */
export const composed = { samedeal: node, 'samedeal/web': web };
