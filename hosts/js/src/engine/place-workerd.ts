// The place of the component in Cloudflare's workerd, which compiles the modules that a Worker imports, but none while
// the Worker runs.
import samedeal from '../components/samedeal.core.wasm';
import type { Source } from './source.js';

export const place = (): Source | Promise<Source> => samedeal;
