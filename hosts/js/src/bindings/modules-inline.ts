// The core modules of the components, as text in JavaScript modules: for bundlers, which do not bring files along, and leave out the texts of
// the components that a program does not use.

import batching from '../inline/batching/index.js';
import composing from '../inline/composing/index.js';
import planning from '../inline/planning/index.js';
import samedeal from '../inline/samedeal/index.js';
import { decoded } from './inline.js';
import type { Modules } from './instances.js';

const compiled = (text: string) => new WebAssembly.Module(decoded(text));

export const ofDealing: Modules = (file) => compiled(file === 'samedeal.core.wasm' ? samedeal : composing);
export const ofPlanning: Modules = () => compiled(planning);
export const ofBatching: Modules = () => compiled(batching);
