// What an import of a WebAssembly file gives in workerd.
declare module '*.wasm' {
  const module: WebAssembly.Module;
  export default module;
}
