// The reader of Arrow and its decompressors: packages that a program needs only if it reads Arrow files.
import zlib from 'node:zlib';
import { installed, loadedOnce } from '../packages.js';

export type Library = typeof import('apache-arrow');

/** Loads the packages that are installed. Errors: `apache-arrow` is not installed. */
export const library = loadedOnce(async (): Promise<Library> => {
  const arrow = await installed(import('apache-arrow'));
  if (!arrow) throw new Error('apache-arrow reads Arrow files: npm install apache-arrow');
  for (const [type, { name, remedy, load }] of CODECS.entries()) {
    // A program may have given the library a decompressor of its own.
    if (arrow.compressionRegistry.get(type)?.decode) continue;
    const found = await load();
    const decode = (input: Uint8Array) => aligned(found ? found(input) : refuse(`${name}: ${remedy}`));
    if (!found) ABSENT.add(decode);
    arrow.compressionRegistry.set(type, { decode });
  }
  return arrow;
});

type Decode = (input: Uint8Array) => Uint8Array;

/** The codecs by their numbers in files: their names, what to install for them, and what is installed. */
const CODECS: readonly { name: string; remedy: string; load: () => Promise<Decode | undefined> }[] = [
  {
    name: 'LZ4',
    remedy: 'npm install lz4js',
    // @ts-expect-error: the package has no types
    load: async () => (await installed<{ default: { decompress: Decode } }>(import('lz4js')))?.default.decompress,
  },
  {
    name: 'ZSTD',
    remedy: 'npm install hyparquet-compressors',
    async load() {
      const { zstdDecompressSync: own } = zlib as { zstdDecompressSync?: Decode };
      if (own) return own;
      const found = await installed(import('hyparquet-compressors'));
      return found?.decompressZstd;
    },
  },
];

/** Bytes at a place where an array of 64-bit numbers can begin: copied if they lie elsewhere in a larger buffer. */
const aligned = (bytes: Uint8Array) => (bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes));

/** The functions that stand for decompressors which are not installed. */
const ABSENT = new WeakSet<Decode>();

const refuse = (codec: string): never => {
  throw new Error(`compressed by ${codec}`);
};

/** Refuses a codec without a decompressor. */
export function checkCodec({ compressionRegistry }: Library, type: number): void {
  const decode = compressionRegistry.get(type)?.decode;
  if (!decode) refuse(`codec ${type}: write it with another one`);
  else if (ABSENT.has(decode)) decode(new Uint8Array(0));
}
