// The two engines with little memory, so that a test can fill it.
import { readFileSync } from 'node:fs';
import { bindgenInstances } from '../dist/bindgen.js';
import { componentInstances } from '../dist/component.js';
import { Engine } from '../dist/engine.js';
import { samplerOf } from '../dist/sampler.js';

/** Where the memory of the engines in these tests ends: 256 pages of 64 KiB. */
export const LIMIT = 256 << 16;

const read = (file) => readFileSync(new URL(`../dist/${file}`, import.meta.url));
const MEMORY_SECTION = 5;

/** The module with its memory ending at `LIMIT`, if it has one. */
function limited(module) {
  const bytes = new Uint8Array(module);
  /** A number in LEB128, and where it ends. */
  const number = (at) => {
    let [value, shift] = [0, 0];
    for (;;) {
      const byte = bytes[at++];
      value |= (byte & 0x7f) << shift;
      shift += 7;
      if (byte < 0x80) return [value, at];
    }
  };
  for (let at = 8; at < bytes.length; ) {
    const id = bytes[at];
    const [size, start] = number(at + 1);
    if (id === MEMORY_SECTION) {
      // One memory, with a maximum, whose number is written over in as many bytes as it has.
      const [, maximum] = number(start + 2);
      const [, end] = number(maximum);
      if (bytes[start] !== 1 || (bytes[start + 1] & 1) === 0) throw new Error('a memory without a maximum');
      let pages = LIMIT >> 16;
      for (let i = maximum; i < end; i++, pages >>= 7) bytes[i] = (pages & 0x7f) | (i < end - 1 ? 0x80 : 0);
    }
    at = start + size;
  }
  return new WebAssembly.Module(bytes);
}

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
