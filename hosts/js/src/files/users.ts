/** Values that several users share. A value is dropped when its last user releases it. */
export class Shared<K, V> {
  readonly #held = new Map<K, { users: number; value: Promise<V> }>();

  /**
   * Returns the value of a key. `make` makes this value if the key has no user. `release` must follow, even if `make`
   * fails.
   */
  acquire(key: K, make: () => Promise<V>): Promise<V> {
    const held = this.#held.get(key) ?? { users: 0, value: make() };
    held.users += 1;
    this.#held.set(key, held);
    return held.value;
  }

  /** Ends one use of a value. After the last use, the value is dropped, and passed to `end`. */
  async release(key: K, end?: (value: V) => Promise<void>): Promise<void> {
    const held = this.#held.get(key);
    if (!held || --held.users > 0) return;
    this.#held.delete(key);
    const value = await held.value.catch(() => undefined);
    if (value !== undefined) await end?.(value);
  }
}
