// The core module of the component, as a file: what Node, Deno and Bun read.
import { readFileSync } from 'node:fs';

export const module = (): WebAssembly.Module => {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    // Tools that collect the files of a program search for this expression of a URL. If a bundler turns this module
    // into CommonJS, `import.meta.url` is undefined, and the expression throws.
    bytes = readFileSync(new URL('../components/samedeal.core.wasm', import.meta.url));
  } catch (error) {
    const remedy = `import 'samedeal/inline' in place of 'samedeal', or leave samedeal out of the bundle`;
    const problem = 'samedeal cannot read samedeal.core.wasm, which belongs beside its JavaScript';
    const { message } = error as Error;
    throw new Error(`${problem} (${message}). If a bundler moved the JavaScript, ${remedy}`, { cause: error });
  }
  return new WebAssembly.Module(bytes);
};
