// Packages that a program needs only for some files.

/** A package that is imported; undefined if it is not installed. */
export const installed = <T>(loading: Promise<T>): Promise<T | undefined> =>
  loading.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  });

/** Calls `load` once; again only after a failure. */
export function loadedOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= load().catch((error) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}
