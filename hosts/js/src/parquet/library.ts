/** The reader of Parquet and its decompressors: packages that a program needs only if it reads Parquet files. */
export interface Library {
  parquet: typeof import('hyparquet');
  /** Without the package, what it could decompress is an error; plain and Snappy columns are read. */
  compressors: typeof import('hyparquet-compressors').compressors | undefined;
}

let loading: Promise<Library> | undefined;

/** Loads what is installed. Errors: `hyparquet` is not. */
export function library(): Promise<Library> {
  loading ??= load().catch((error) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function load(): Promise<Library> {
  const parquet = await import('hyparquet').catch((error) => {
    if (!absent(error)) throw error;
    const remedy = 'samedeal/parquet reads with hyparquet: npm install hyparquet hyparquet-compressors';
    throw new Error(remedy, { cause: error });
  });
  const compressors = await import('hyparquet-compressors').then(
    ({ compressors }) => Object.fromEntries(Object.entries(compressors).map(([codec, of]) => [codec, careful(of)])),
    (error) => {
      if (!absent(error)) throw error;
      return undefined;
    },
  );
  return { parquet, compressors };
}

type Decompress = (input: Uint8Array, length: number) => Uint8Array;

/** A page that becomes more than both, in bytes and in times of what the file has, is refused. */
const [MOST_BYTES, MOST_TIMES] = [2 ** 28, 64];

/** Nothing is what nothing was compressed from; not every codec there knows. */
const careful = (decompress: Decompress): Decompress => {
  return (input, length) => {
    if (length > Math.max(MOST_BYTES, MOST_TIMES * input.length)) {
      const told = `a page becomes ${length} bytes, though the file has ${input.length}`;
      throw new Error(`${told}: refused, as more than ${MOST_TIMES} times of it is no data`);
    }
    return length === 0 ? new Uint8Array(0) : decompress(input, length);
  };
};

const absent = (error: NodeJS.ErrnoException) => error.code === 'ERR_MODULE_NOT_FOUND';
