/**
 * The forms in which `init` takes the WebAssembly module: its address as a text or a `URL`, a `Request` or a `Response`
 * of `fetch`, its bytes, or a compiled `WebAssembly.Module`. The types of the web are not named here, so that a program
 * without them can be compiled.
 */
export type Source = string | object;

/**
 * The compiled module: an address or a `Request` is fetched first, bytes and a `Response` are only compiled, and a
 * compiled module is returned as it is. @internal
 */
export async function compiled(source: Source): Promise<WebAssembly.Module> {
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return WebAssembly.compile(source as BufferSource);
  const response = source instanceof Response ? source : await fetch(source as string | URL | Request);
  if (!response.ok) throw new Error(`${response.url}: the server answers ${response.status}`);
  // Streaming needs this content type, which some servers do not send.
  const isKnown = response.headers.get('content-type') === 'application/wasm';
  return isKnown ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
}
