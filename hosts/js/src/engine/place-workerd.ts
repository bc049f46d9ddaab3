// The place of the component in Cloudflare's workerd, which compiles what a Worker imports, and nothing while one runs.
import samedeal from '../components/samedeal.core.wasm';
import type { Source } from './source.js';

export const place = (): Source | Promise<Source> => samedeal;
