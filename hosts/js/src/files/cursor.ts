import type { FileCursor, Values } from './format.js';
import { naming } from './naming.js';
import type { Shards } from './shards.js';

/** Rows of a shard, column by column. */
export interface Run {
  count: number;
  columns: Values[];
}

/**
 * A place in a shard from which rows are read onwards. A run that begins where the last one ended costs only its own
 * rows.
 */
export class Cursor {
  readonly #shards: Shards;
  #shard: number | undefined;
  #file: FileCursor | undefined;

  constructor(shards: Shards) {
    this.#shards = shards;
  }

  /** Rows `first` to `first` + `count` - 1 of a shard. Errors name the shard. */
  async read(shard: number, first: number, count: number): Promise<Run> {
    try {
      if (this.#file === undefined || shard !== this.#shard) await this.#open(shard);
      const columns = await (this.#file as FileCursor).read(first, count);
      if (first + count === this.#shards.sizes[shard]) await this.close();
      return { count, columns };
    } catch (error) {
      throw naming(this.#shards.paths[shard] as string, error, this.#shards.signal);
    }
  }

  /** Leaves the shard, whose file is closed if no other cursor reads this shard. */
  async close(): Promise<void> {
    const [file, shard] = [this.#file, this.#shard];
    this.#file = undefined;
    this.#shard = undefined;
    file?.leave();
    if (shard !== undefined) await this.#shards.release(shard);
  }

  async #open(shard: number): Promise<void> {
    await this.close();
    this.#shard = shard;
    this.#file = (await this.#shards.acquire(shard)).cursor(this.#shards.columns);
  }
}
