/** What the WebAssembly module can be given as. */
export type Source = string | URL | Request | Response | BufferSource | WebAssembly.Module;

/** The module, fetched and compiled where it is not. */
export async function compiled(source: Source): Promise<WebAssembly.Module> {
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return WebAssembly.compile(source);
  const response = source instanceof Response ? source : await fetch(source as string | URL | Request);
  if (!response.ok) throw new Error(`${response.url}: the server answers ${response.status}`);
  // A server may not know the type of such files.
  const isKnown = response.headers.get('content-type') === 'application/wasm';
  return isKnown ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
}
