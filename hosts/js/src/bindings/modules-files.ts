// The core modules of the components, as files: what Node, Deno and Bun read. Each place is written out, as tools that
// gather the files of a program look for exactly this expression.
import { readFileSync } from 'node:fs';
import type { Modules } from './components.js';

const PLACES: Record<string, () => URL> = {
  'samedeal.core.wasm': () => new URL('../jco/samedeal.core.wasm', import.meta.url),
  'samedeal.core2.wasm': () => new URL('../jco/samedeal.core2.wasm', import.meta.url),
  'samedeal.core3.wasm': () => new URL('../jco/samedeal.core3.wasm', import.meta.url),
  'planning.core.wasm': () => new URL('../jco/planning.core.wasm', import.meta.url),
  'planning.core2.wasm': () => new URL('../jco/planning.core2.wasm', import.meta.url),
  'planning.core3.wasm': () => new URL('../jco/planning.core3.wasm', import.meta.url),
  'batching.core.wasm': () => new URL('../jco/batching.core.wasm', import.meta.url),
  'batching.core2.wasm': () => new URL('../jco/batching.core2.wasm', import.meta.url),
  'batching.core3.wasm': () => new URL('../jco/batching.core3.wasm', import.meta.url),
};

export const modules: Modules = (file) => {
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
