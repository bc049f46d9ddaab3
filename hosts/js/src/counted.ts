/** A loop over the batches of a rank that counts the batches it returned. */
export interface Counted<T> extends Generator<T, void, undefined> {
  /**
   * The state for a checkpoint, after every rank got as many batches as this loop returned. Call it within the loop,
   * after `break`, or at the end. The current batch counts as read, so call it after the step that uses this batch.
   * Errors: as `state` of the object that is read, and `epoch`, `consumed`, `state` or `rank` (the object was moved
   * since the loop began).
   */
  state(): string;
}

/**
 * A loop over `batches`, the first of which is number `start`. `state` returns the state after the first `count`
 * batches of the epoch; `isOver`: after the loop has ended, so also after the batches of ranks that have more.
 */
export function counted<T>(
  batches: Iterable<T>,
  start: number,
  state: (count: number, isOver: boolean) => string,
): Counted<T> {
  let count = start;
  let isOver = false;
  function* each() {
    for (const batch of batches) {
      count += 1;
      yield batch;
    }
    isOver = true;
  }
  return Object.assign(each(), { state: () => state(count, isOver) });
}
