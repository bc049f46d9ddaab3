/**
 * A short form of a long link. A recipe with a list of a thousand sizes makes an address that chats cut off, so its text
 * is compressed with DEFLATE and written in Base64 for addresses (RFC 4648, section 5).
 */
export const PACKED = '#z=';

/** Addresses below this length stay readable. */
const LONG = 400;
/** The largest text that is unpacked, in bytes. A link that unpacks to more was not made by this page. */
const LARGEST = 1 << 20;

/** All bytes of a stream, of which there may be at most `LARGEST`. */
async function bytesOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for (const reader = stream.getReader(); ; ) {
    const { value, done } = await reader.read();
    if (done) return new Uint8Array(await new Blob(parts).arrayBuffer());
    parts.push(value);
    size += value.length;
    if (size > LARGEST) throw new RangeError(`the link has more than ${LARGEST} bytes`);
  }
}

/** The short form of the part of an address behind `#`, or the part itself if it is short, or not shorter when packed. */
export async function packed(hash: string): Promise<string> {
  if (hash.length < LONG || typeof CompressionStream === 'undefined') return hash;
  const [path = '', query = ''] = hash.split('?');
  const text = JSON.stringify([path, ...new URLSearchParams(query)]);
  const bytes = await bytesOf(new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw')));
  const letters = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  const short = PACKED + letters.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  return short.length < hash.length ? short : hash;
}

/** The part of an address behind `#` whose short form this is. Fails if the short form is damaged. */
export async function unpacked(short: string): Promise<string> {
  const letters = atob(short.slice(PACKED.length).replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  const [path, ...values] = JSON.parse(new TextDecoder().decode(await bytesOf(stream))) as [
    string,
    ...[string, string][],
  ];
  return `${path}?${new URLSearchParams(values)}`;
}
