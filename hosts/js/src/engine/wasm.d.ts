// The type of an import of a WebAssembly file in workerd.
declare module '*.wasm' {
  const module: WebAssembly.Module;
  export default module;
}
