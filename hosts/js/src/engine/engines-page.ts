// The engine of a page, which `init` loads before anything is used.
import { Engine } from '../engine.js';
import { componentInstances } from './component.js';
import { place } from './place.js';
import { compiled, type Source } from './source.js';
import type { ComponentBindings } from './types.js';

let loading: Promise<void> | undefined;
let engine: Engine<ComponentBindings> | undefined;

/**
 * Loads the WebAssembly module of the package. Await it before you use anything else. Once the module was loaded,
 * further calls do nothing. If the loading failed, call it again. `source` is the address of the WebAssembly module,
 * its bytes, or the compiled module itself (default: the file of the package, or the copy in the bundle). Errors: those
 * of the network, an answer of the server that is no success, and those of the compiler.
 */
export function init(source?: Source | Promise<Source>): Promise<void> {
  loading ??= load(source).catch((error) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function load(source: Source | Promise<Source> | undefined): Promise<void> {
  const module = await compiled((await source) ?? (await place()));
  engine = new Engine(componentInstances(() => module));
}

export const component = (): Engine<ComponentBindings> => {
  if (!engine) throw new Error('samedeal/web is not loaded: await init() first');
  return engine;
};
export const light = component;
