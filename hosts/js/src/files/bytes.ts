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

/** A typed array, as far as parts of it are laid end to end. */
export interface Typed {
  readonly length: number;
  set(part: never, at: number): void;
}

/** The values of typed arrays of one type, of which there is at least one, one after the other. */
export function concat<T extends Typed>(parts: readonly T[]): T {
  const [first] = parts as [T, ...T[]];
  if (parts.length === 1) return first;
  const out = new (first.constructor as new (length: number) => T)(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part as never, at);
    at += part.length;
  }
  return out;
}
