// Where the bytes of a file come from.
import { open } from 'node:fs/promises';
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

/** Of a file of this machine. */
export async function local(path: string): Promise<Bytes> {
  const handle = await open(path, 'r');
  try {
    const { size } = await handle.stat();
    return {
      byteLength: size,
      async slice(start, end = size) {
        const bytes = new Uint8Array(end - start);
        for (let at = 0; at < bytes.length; ) {
          const { bytesRead } = await handle.read(bytes, at, bytes.length - at, start + at);
          if (bytesRead === 0) throw new Error(`it ends at byte ${start + at}`);
          at += bytesRead;
        }
        return bytes.buffer;
      },
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Of a file of a server, which is asked for ranges of it. */
export async function remote({ parquet }: Library, url: string): Promise<Bytes> {
  const { byteLength, slice } = await parquet.asyncBufferFromUrl({ url });
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
