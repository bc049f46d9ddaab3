// Open files: how their bytes are read.
import type { Library } from './library.js';

/** The bytes of a file that is open. */
export interface Bytes {
  readonly byteLength: number;
  /** All bytes from `start` to `end` - 1. */
  slice(start: number, end?: number): Promise<ArrayBuffer>;
  close(): Promise<void>;
}

/** Whether a path is the address of a file that a server has. */
export const isAddress = (path: string) => /^https?:\/\//i.test(path);

/** The bytes of a file on a server, which is asked for ranges of bytes. */
export async function remote({ parquet }: Library, url: string, signal: AbortSignal | undefined): Promise<Bytes> {
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
