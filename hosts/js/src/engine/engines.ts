// The engine where the component can be loaded without waiting: it is read and compiled at the first call.
import { componentInstances } from './component.js';
import { lazily } from './instances.js';
import { module } from './modules-inline.js';

export const component = lazily(() => componentInstances(module));
/** The engine of samplers, meshes and launchers. `samedeal/light` has another one for these. */
export const light = component;
