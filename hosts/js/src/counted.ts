/** A loop over the batches of a rank, which knows how many of them it gave. */
export interface Counted<T> extends Generator<T, void, undefined> {
  /**
   * The state after every rank got as many batches as this loop, for a checkpoint: within the loop, after `break`, or at its end. The batch
   * that the loop has now counts as read: ask after the step that uses it. Errors: as the `state` of what is read, and `epoch`, `consumed`,
   * `state` or `rank` (that was moved since the loop began).
   */
  state(): string;
}

/** The batches from number `start` on; `state` asks for the state after the first so many. */
export function counted<T>(batches: Iterable<T>, start: number, state: (count: number) => string): Counted<T> {
  let count = start;
  function* each() {
    for (const batch of batches) {
      count += 1;
      yield batch;
    }
  }
  return Object.assign(each(), { state: () => state(count) });
}
