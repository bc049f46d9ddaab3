// Both engines with so little memory that a test can fill it.
import { readFileSync } from 'node:fs';
import { BaseSampler } from '../dist/deal/sampler.js';
import { bindgenInstances } from '../dist/engine/bindgen.js';
import { componentInstances } from '../dist/engine/component.js';
import { Engine, over } from '../dist/engine.js';
import { withMemory } from './memory.mjs';

/** The memory limit of the engines in these tests: 256 pages of 64 KiB. */
export const LIMIT = 256 << 16;

const read = (file) => readFileSync(new URL(`../dist/${file}`, import.meta.url));
/** The module with the memory limit `LIMIT`, if it has a memory. */
const little = (module) => new WebAssembly.Module(withMemory(module, LIMIT >> 16));

/** The module of the component: unchanged, and with little memory. */
export const compiled = () => new WebAssembly.Module(read('components/samedeal.core.wasm'));
export const limited = () => little(read('components/samedeal.core.wasm'));

/** A class of an interface whose objects get other methods. `methodsOf` returns these methods for an object. */
export function overridden(Class, methodsOf) {
  return function Other(...args) {
    const raw = new Class(...args);
    return Object.assign(raw, methodsOf(raw));
  };
}

/** A method that leaves its instance in an unknown state. */
export const trap = () => {
  throw new WebAssembly.RuntimeError('unreachable');
};

/** For each engine, a class like `Sampler`, by the name of the entry that uses the engine. */
export const samplers = Object.fromEntries(
  [
    ['samedeal', componentInstances(limited)],
    ['samedeal/light', bindgenInstances(little(read('bindgen/samedeal_bg.wasm')))],
  ].map(([entry, instantiate]) => {
    // All samplers share this one instance.
    const bindings = instantiate();
    const engine = new Engine(() => bindings);
    return [entry, over(BaseSampler, () => engine)];
  }),
);
