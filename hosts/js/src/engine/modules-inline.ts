// The core module of the component, as compressed text in a JavaScript module: for bundlers, which do not copy other
// files.
import samedeal from '../inline/samedeal/index.js';
import { unpacked } from './inflate.js';

export const module = (): WebAssembly.Module => unpacked(samedeal);
