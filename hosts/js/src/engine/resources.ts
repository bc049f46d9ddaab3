import { isFailure } from '../errors.js';

/** The method that frees a resource, which src/engine/abi.ts gives it. */
export const disposes: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for('dispose');

/** Frees a resource of a component. */
export const release = (raw: object): void => (raw as Record<symbol, () => void>)[disposes]?.();

/** The result of `use`, after which the resource is freed. */
export function using<T extends object, R>(resource: T, use: (resource: T) => R, free = release): R {
  let result: R;
  try {
    result = use(resource);
  } catch (error) {
    // Any other error than a failure ends the instance: nothing may call it any more, not even to free the resource.
    if (isFailure(error)) free(resource);
    throw error;
  }
  free(resource);
  return result;
}
