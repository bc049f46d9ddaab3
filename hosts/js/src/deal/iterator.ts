import type { Indices } from '../types.js';

/** An iterator over numbers that are read in windows. A generator would cost several times as much for each number. */
export class WindowIterator implements IterableIterator<number> {
  readonly #check: () => void;
  readonly #read: (start: number, end: number) => Indices;
  readonly #size: number;
  /** The number of the first sample after the current window. */
  #next = 0;
  #end: number;
  #window: Indices = new Uint32Array(0);
  #at = 0;

  /**
   * Iterates over the elements 0 to `end` - 1 of `read`, at most `size` of which are read at a time. `check` is called
   * before each element, and may throw.
   */
  constructor(check: () => void, end: number, size: number, read: (start: number, end: number) => Indices) {
    this.#check = check;
    this.#end = end;
    this.#size = size;
    this.#read = read;
  }

  [Symbol.iterator](): this {
    return this;
  }

  next(): IteratorResult<number, undefined> {
    const empty = this.#at === this.#window.length;
    if (empty && this.#next === this.#end) return { value: undefined, done: true };
    this.#check();
    if (empty) {
      const end = Math.min(this.#next + this.#size, this.#end);
      // If this read throws, the next call reads the same window again.
      this.#window = this.#read(this.#next, end);
      this.#next = end;
      this.#at = 0;
    }
    return { value: this.#window[this.#at++] as number, done: false };
  }

  /** Ends the iteration; `break` calls it. */
  return(): IteratorResult<number, undefined> {
    this.#at = this.#window.length;
    this.#next = this.#end;
    return { value: undefined, done: true };
  }
}
