// Open files: how their bytes are read.
import type { FileBytes } from './format.js';
import { library } from './parquet/library.js';

/** The bytes of a file that is open. */
export interface Bytes extends FileBytes {
  close(): Promise<void>;
}

/** Whether a path is the address of a file that a server has. */
export const isAddress = (path: string) => /^https?:\/\//i.test(path);

/** The bytes of a file on a server, which is asked for ranges of bytes: by `hyparquet`, whatever the format is. */
export async function remote(url: string, signal: AbortSignal | undefined): Promise<Bytes> {
  const { parquet } = await library();
  const { byteLength, slice } = await parquet.asyncBufferFromUrl({ url, ...(signal && { requestInit: { signal } }) });
  return {
    byteLength,
    async slice(start, end = byteLength) {
      if (start === end) return new ArrayBuffer(0);
      const bytes = await slice(start, end);
      if (bytes.byteLength !== end - start) {
        throw new Error(`the server gave ${bytes.byteLength} bytes where ${end - start} were asked for`);
      }
      return bytes;
    },
    close: async () => {},
  };
}

/** All parts, one after the other. */
export function concat(parts: readonly Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer> {
  const [only] = parts;
  if (only && parts.length === 1) return only;
  const out = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.byteLength;
  }
  return out;
}
