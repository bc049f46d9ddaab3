// Errors that name the file.

/**
 * An error with the path in front of its message, and with its `code`; unchanged if it is an error of this package.
 * After an abort, the reason of the abort.
 */
export function naming(path: string, error: unknown, signal?: AbortSignal): unknown {
  if (signal?.aborted) return signal.reason;
  if (!(error instanceof Error) || error.name === 'SamedealError') return error;
  const code = codeOf(error);
  const told = typeof code === 'string' && !error.message.includes(code) ? ` (${code})` : '';
  const named = new Error(`${path}: ${error.message}${told}${hint(path, code)}`, { cause: error });
  return typeof code === 'string' ? Object.assign(named, { code }) : named;
}

/** The code of a system error. With `fetch`, it is in a `cause` of the error. */
function codeOf(error: unknown, depth = 0): unknown {
  if (typeof error !== 'object' || error === null || depth > 8) return undefined;
  const { code, cause } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : codeOf(cause, depth + 1);
}

/** Advice about an error with this code. */
function hint(path: string, code: unknown): string {
  if (code === 'EMFILE')
    return ' (a reader has a file open for each of its lanes: raise `ulimit -n`, or take fewer lanes)';
  const isPattern = code === 'ENOENT' && /[*?[{]/.test(path);
  return isPattern ? ' (patterns are not expanded: pass a directory, or a list of files)' : '';
}
