// Instances of the components, over their core modules.
import type { Bindings } from '../engine.js';
import { Core, type Interfaces } from './abi.js';
import { release } from './resources.js';

/** Gives the compiled core module of a file in `components/`. */
export type Modules = (file: string) => WebAssembly.Module;

/** What makes instances by `make`. `modules` is asked once for each file. */
export function instances<B extends Bindings>(
  modules: Modules,
  make: (compiled: Modules) => Omit<B, 'release'>,
): () => B {
  const made = new Map<string, WebAssembly.Module>();
  const compiled = (file: string) => {
    const found = made.get(file) ?? modules(file);
    made.set(file, found);
    return found;
  };
  return () => ({ ...make(compiled), release }) as B;
}

/** An instance of a component: its interfaces by their names, as the types of `wit/` have them, and its memory. */
export function instantiate<T>(module: WebAssembly.Module, interfaces: Interfaces): T & { memory: WebAssembly.Memory } {
  const core = new Core(module);
  const made = Object.entries(interfaces).map(([name, each]) => [name, core.interfaceOf(each)]);
  return { ...Object.fromEntries(made), memory: core.memory };
}
