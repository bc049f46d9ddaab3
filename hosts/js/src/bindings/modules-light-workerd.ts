// The same in Cloudflare's workerd.
import samedeal from '../components/samedeal.core.wasm';
import { type Modules, onlySamplers } from './instances.js';

export const modules: Modules = (file) => {
  onlySamplers(file);
  return samedeal;
};
