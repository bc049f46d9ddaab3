// The two engines with little memory, so that a test can fill it.
import { readFileSync } from 'node:fs';
import { bindgenInstances } from '../dist/bindgen.js';
import { componentInstances } from '../dist/component.js';
import { Engine } from '../dist/engine.js';
import { samplerOf } from '../dist/sampler.js';
import { withMemory } from '../scripts/memory.mjs';

/** Where the memory of the engines in these tests ends: 256 pages of 64 KiB. */
export const LIMIT = 256 << 16;

const read = (file) => readFileSync(new URL(`../dist/${file}`, import.meta.url));
/** The module with its memory ending at `LIMIT`, if it has one. */
const limited = (module) => new WebAssembly.Module(withMemory(module, LIMIT >> 16));

/** A class like `Sampler` for each engine, by the name of the entry that uses the engine. */
export const samplers = Object.fromEntries(
  [
    ['samedeal', componentInstances((file) => limited(read(`jco/${file}`)))],
    ['samedeal/web', await bindgenInstances(limited(read('bindgen/samedeal_bg.wasm')))],
  ].map(([entry, instantiate]) => {
    // One instance, which all samplers have to share.
    const bindings = instantiate();
    const engine = new Engine(() => bindings);
    return [entry, samplerOf(() => engine)];
  }),
);
