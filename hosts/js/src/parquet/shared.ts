/** Things that several users hold at a time, and that are gone when the last one lets go. */
export class Shared<K, V> {
  readonly #held = new Map<K, { users: number; value: Promise<V> }>();

  /** Takes hold of a thing, which `make` makes if nobody holds it; `release` must follow, even if that fails. */
  acquire(key: K, make: () => Promise<V>): Promise<V> {
    const held = this.#held.get(key) ?? { users: 0, value: make() };
    held.users += 1;
    this.#held.set(key, held);
    return held.value;
  }

  /** Lets go; what nobody holds any more is handed to `end`. */
  async release(key: K, end?: (value: V) => Promise<void>): Promise<void> {
    const held = this.#held.get(key);
    if (!held || --held.users > 0) return;
    this.#held.delete(key);
    const value = await held.value.catch(() => undefined);
    if (value !== undefined) await end?.(value);
  }
}
