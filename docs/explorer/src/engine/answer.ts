/** A failure in an answer of the Worker to the page: which value was wrong, and what is allowed. */
export interface Problem {
  /** The name of the value in the core, such as `world-size`; empty if no value is at fault. */
  field: string;
  message: string;
  /** The largest number that is allowed, if the core says it. */
  max?: number | bigint | undefined;
}

export type Answer<T> = { value: T } | { problem: Problem };

/** A problem that the page found before the core could, such as a text without a number. */
export class PageError extends Error {
  constructor(
    readonly field: string,
    message: string,
  ) {
    super(message);
  }
}

/** Runs a computation and makes an answer of what it returns or throws. */
export async function answer<T>(compute: () => T | Promise<T>): Promise<Answer<T>> {
  try {
    return { value: await compute() };
  } catch (error) {
    const { field = '', message = String(error), max } = error as Partial<Problem>;
    return { problem: { field, message, max } };
  }
}
