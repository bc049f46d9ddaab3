// The two engines with little memory, so that a test can fill it.
import { readFileSync } from 'node:fs';
import { BaseSampler } from '../dist/deal/sampler.js';
import { bindgenInstances } from '../dist/engine/bindgen.js';
import { componentInstances } from '../dist/engine/component.js';
import { Engine, over } from '../dist/engine.js';
import { withMemory } from './memory.mjs';

/** Where the memory of the engines in these tests ends: 256 pages of 64 KiB. */
export const LIMIT = 256 << 16;

const read = (file) => readFileSync(new URL(`../dist/${file}`, import.meta.url));
/** The module with its memory ending at `LIMIT`, if it has one. */
const little = (module) => new WebAssembly.Module(withMemory(module, LIMIT >> 16));

/** The module of the component, as it is, and with little memory. */
export const compiled = () => new WebAssembly.Module(read('components/samedeal.core.wasm'));
export const limited = () => little(read('components/samedeal.core.wasm'));

/** A class of an interface whose objects have other methods: what `methodsOf` gives for each. */
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

/** A class like `Sampler` for each engine, by the name of the entry that uses the engine. */
export const samplers = Object.fromEntries(
  [
    ['samedeal', componentInstances(limited)],
    ['samedeal/light', bindgenInstances(little(read('bindgen/samedeal_bg.wasm')))],
  ].map(([entry, instantiate]) => {
    // One instance, which all samplers have to share.
    const bindings = instantiate();
    const engine = new Engine(() => bindings);
    return [entry, over(BaseSampler, () => engine)];
  }),
);
