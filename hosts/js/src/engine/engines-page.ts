// The engine of a page, which `init` loads before anything is used.
import { Engine } from '../engine.js';
import { componentInstances } from './component.js';
import { place } from './place.js';
import { compiled, type Source } from './source.js';
import type { ComponentBindings } from './types.js';

let loading: Promise<void> | undefined;
let engine: Engine<ComponentBindings> | undefined;

/**
 * Loads the WebAssembly module of the package; to be awaited before anything else is used. Calls after it was loaded change nothing. If
 * the loading failed, it can be tried again. `source` is where the module is (default: beside this module, or in it where a bundler
 * made it), or its bytes, or itself. Errors: that of the network, or of the compiler.
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
