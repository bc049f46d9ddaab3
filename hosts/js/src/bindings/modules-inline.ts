// The core module of the component, as text in a JavaScript module: for bundlers, which do not bring files along.
import samedeal from '../inline/samedeal/index.js';
import { decoded } from './inline.js';

export const module = (): WebAssembly.Module => new WebAssembly.Module(decoded(samedeal));
