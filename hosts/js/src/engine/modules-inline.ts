// The core module of the component, compressed in text in a JavaScript module: for bundlers, which do not bring files along.
import samedeal from '../inline/samedeal/index.js';
import { unpacked } from './inflate.js';

export const module = (): WebAssembly.Module => unpacked(samedeal);
