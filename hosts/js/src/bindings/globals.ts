// What generated modules find in place of global objects. Each of these mends something that costs more than the work itself,
// or that changes what comes of it. scripts/generated.mjs makes each generated module import them, so that its own text stays as
// it is; test/generated.test.mjs fails where a module does not need one of them any more.

/**
 * jco and wasm-bindgen: they would free objects in an instance that is lost. src/engine.ts frees what needs to be freed.
 */
class NoRegistry {
  register(): void {}
  unregister(): void {}
}

/** jco: a mark of byte order at the beginning of a text is a part of the text. */
class WholeTextDecoder extends TextDecoder {
  constructor() {
    super('utf-8', { ignoreBOM: true });
  }
}

/** jco: for every instance it asks for promises that nothing uses, which throws where the engine has none. */
const withoutPromises = Object.create(WebAssembly, { promising: { value: (callee: unknown) => callee } });

/** jco: it looks for a variable of the environment several times in every call. */
const withoutProcess = { WebAssembly: withoutPromises };

export {
  NoRegistry as FinalizationRegistry,
  WholeTextDecoder as TextDecoder,
  withoutProcess as globalThis,
  withoutPromises as WebAssembly,
};
