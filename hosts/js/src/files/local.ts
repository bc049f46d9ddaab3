// Files of this machine.
import { constants, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Bytes } from './bytes.js';

/** The flags to open a file. Without `O_NONBLOCK`, to open a FIFO would wait for a writer. Windows has no such flag. */
const READ_AT_ONCE = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** The bytes of a file. */
export async function local(path: string): Promise<Bytes> {
  const handle = await open(path, READ_AT_ONCE);
  try {
    const found = await handle.stat();
    // The path was a regular file when the files were found, but may have been replaced since.
    if (!found.isFile()) throw new Error(noFile(found));
    const { size } = found;
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

/** The fault of a path that is no regular file, in words. */
export function noFile(found: Stats): string {
  const kinds: readonly [is: boolean, kind: string][] = [
    [found.isFIFO(), 'a FIFO'],
    [found.isSocket(), 'a socket'],
    [found.isDirectory(), 'a directory'],
  ];
  const [, kind] = kinds.find(([is]) => is) ?? [true, 'a device'];
  return `it is ${kind}, and no regular file${found.isDirectory() ? '' : ' and no directory'}`;
}
