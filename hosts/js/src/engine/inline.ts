/** The bytes of a text in base64. */
export function decoded(text: string): Uint8Array<ArrayBuffer> {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}

/** The decompressed bytes of a text in base64. The text is compressed, since a page has to load it. */
export function inflated(text: string): Promise<ArrayBuffer> {
  const compressed = new Blob([decoded(text)]).stream();
  return new Response(compressed.pipeThrough(new DecompressionStream('deflate-raw'))).arrayBuffer();
}
