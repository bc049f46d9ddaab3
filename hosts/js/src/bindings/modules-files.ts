// The core modules of the components, as files: what Node, Deno and Bun read.
import { readFileSync } from 'node:fs';
import { PLACES } from '../components/places.js';
import type { Modules } from './instances.js';

const modules: Modules = (file) => {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = readFileSync((PLACES[file] as () => URL)());
  } catch (error) {
    const remedy = `import 'samedeal/inline' in place of 'samedeal', or leave samedeal out of the bundle`;
    const problem = `samedeal cannot read ${file}, which belongs beside its JavaScript`;
    const { message } = error as Error;
    throw new Error(`${problem} (${message}). If a bundler moved the JavaScript, ${remedy}`, { cause: error });
  }
  return new WebAssembly.Module(bytes);
};

export { modules as ofBatching, modules as ofDealing, modules as ofPlanning };
