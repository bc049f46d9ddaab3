// The engine of the package where calls need not wait: the component is read and compiled at the first call.
import { componentInstances } from './component.js';
import { lazily } from './instances.js';
import { module } from './modules-inline.js';

export const component = lazily(() => componentInstances(module));
/** Samplers, meshes and launchers: what `samedeal/light` has, too. */
export const light = component;
