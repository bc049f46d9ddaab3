// The core modules of the components, compressed in text in JavaScript modules: for bundlers, which do not bring files along, and leave out the
// texts of the components that a program does not use.

import batching from '../inline/batching/index.js';
import composing from '../inline/composing/index.js';
import planning from '../inline/planning/index.js';
import { unpacked } from './inflate.js';
import type { Modules } from './instances.js';

/** `composing.core.wasm` has all that `samedeal.core.wasm` has: a bundle with both would have most of it twice. */
export const ofDealing: Modules = () => unpacked(composing);
export const ofPlanning: Modules = () => unpacked(planning);
export const ofBatching: Modules = () => unpacked(batching);
