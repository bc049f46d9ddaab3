import { installed, loadedOnce } from '../packages.js';

/** The reader of Parquet and its decompressors: packages that a program needs only if it reads Parquet files. */
export interface Library {
  parquet: typeof import('hyparquet');
  /** Undefined if the package is not installed: then only columns without compression, or with Snappy, can be read. */
  compressors: typeof import('hyparquet-compressors').compressors | undefined;
}

/** Loads the packages that are installed. Errors: `hyparquet` is not installed. */
export const library = loadedOnce(async (): Promise<Library> => {
  const parquet = await installed(import('hyparquet'));
  if (!parquet) throw new Error('hyparquet reads Parquet files: npm install hyparquet hyparquet-compressors');
  const found = (await installed(import('hyparquet-compressors')))?.compressors;
  const compressors =
    found && Object.fromEntries(Object.entries(found).map(([codec, decompress]) => [codec, careful(decompress)]));
  return { parquet, compressors };
});

type Decompress = (input: Uint8Array, length: number) => Uint8Array;

/**
 * The limits of a decompressed page: in bytes, and as a multiple of its compressed size. A page that exceeds both is
 * refused.
 */
const [MOST_BYTES, MOST_TIMES] = [2 ** 28, 64];

/** A decompressor with a check of the size. It also returns no bytes for length 0, which some codecs do not handle. */
const careful = (decompress: Decompress): Decompress => {
  return (input, length) => {
    if (length > Math.max(MOST_BYTES, MOST_TIMES * input.length)) {
      const told = `a page becomes ${length} bytes, though the file has ${input.length}`;
      throw new Error(`${told}: refused, as more than ${MOST_TIMES} times of it is no data`);
    }
    return length === 0 ? new Uint8Array(0) : decompress(input, length);
  };
};
