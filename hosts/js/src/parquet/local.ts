// Files of this machine.
import { open } from 'node:fs/promises';
import type { Bytes } from './bytes.js';

/** The bytes of a file. */
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
