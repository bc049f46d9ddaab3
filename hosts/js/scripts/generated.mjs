// What is put around generated JavaScript. Its own text stays as the generators write it: nothing in there is looked for or
// replaced. test/generated.test.mjs says what each of these is for, and fails where a generator no longer needs it.

/**
 * What wasm-bindgen writes for pages without modules, in a function: it has one instance in its variables, and this makes one
 * for every call. Without a registry it leaves it to src/engine.ts to free objects.
 */
export const page = (text) =>
  `export function generate() {\nconst FinalizationRegistry = undefined;\n${text}\nreturn wasm_bindgen;\n}\n`;

/** The types of that, which wasm-bindgen writes as globals. */
export const pageTypes = (globals) => `/// <reference path="${globals}" />
/** The generated module, with an instance of its own once \`initSync\` was called. */
export function generate(): typeof wasm_bindgen;
`;
