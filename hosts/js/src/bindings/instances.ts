// Instances of the components, over their core modules.
import { type Bindings, Engine } from '../engine.js';
import type { Raw } from '../errors.js';
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

/** The engine over a component, made when it is first asked for. */
export function lazily<B extends Bindings>(
  modules: Modules,
  instances: (modules: Modules) => () => B,
): () => Engine<B> {
  let engine: Engine<B> | undefined;
  return () => {
    engine ??= new Engine(instances(modules));
    return engine;
  };
}

/** A failure where a module is asked for that `samedeal/light` does not have. */
export function onlySamplers(file: string): void {
  if (file === 'samedeal.core.wasm') return;
  const allowed = "one that is not, in samedeal/light; import Sampler from 'samedeal' in place of it";
  throw { kind: 'contradiction', field: 'order', value: 'made of others', allowed } satisfies Raw;
}
