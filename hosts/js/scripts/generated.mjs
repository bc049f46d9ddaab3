// The code that is put around generated JavaScript. The generated text itself is neither searched nor changed.
// test/generated.test.mjs says what each of these is for, and fails if a generator no longer needs it.

/**
 * The script that wasm-bindgen writes for pages without modules, in a function. The script has one instance in its
 * variables; the function makes one with every call. Without a registry, it is src/engine.ts that frees objects.
 */
export const page = (text) =>
  `export function generate() {\nconst FinalizationRegistry = undefined;\n${text}\nreturn wasm_bindgen;\n}\n`;

/** The types of this function, from those that wasm-bindgen writes as globals. */
export const pageTypes = (globals) => `/// <reference path="${globals}" />
/** The generated module, with an instance of its own once \`initSync\` was called. */
export function generate(): typeof wasm_bindgen;
`;
