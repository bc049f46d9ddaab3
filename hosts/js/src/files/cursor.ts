import { naming, type ParquetFile, type Unit, type Values } from './file.js';
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
  readonly #columns: ColumnCursor[];
  #shard: number | undefined;
  #file: ParquetFile | undefined;

  constructor(shards: Shards) {
    this.#shards = shards;
    this.#columns = shards.columns.map((name) => new ColumnCursor(name));
  }

  /** Rows `first` to `first` + `count` - 1 of a shard. Errors name the shard. */
  async read(shard: number, first: number, count: number): Promise<Run> {
    try {
      if (this.#file === undefined || shard !== this.#shard) await this.#open(shard);
      const file = this.#file as ParquetFile;
      // Waits for all columns, even after a failure, so that nothing reads any more when the file is closed.
      const read = await Promise.allSettled(this.#columns.map((column) => column.read(file, first, count)));
      const columns = read.map((outcome) => {
        if (outcome.status === 'rejected') throw outcome.reason;
        return outcome.value;
      });
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
    if (file) for (const column of this.#columns) column.leave(file);
    if (shard !== undefined) await this.#shards.release(shard);
  }

  async #open(shard: number): Promise<void> {
    await this.close();
    this.#shard = shard;
    this.#file = await this.#shards.acquire(shard);
  }
}

/** Reads runs of rows of one column. */
class ColumnCursor {
  readonly #name: string;
  /** The decoded unit that has the row which was read last. `leave` releases it. */
  #held: { unit: Unit; values: Promise<Values> } | undefined;

  constructor(name: string) {
    this.#name = name;
  }

  async read(file: ParquetFile, first: number, count: number): Promise<Values> {
    const parts: Values[] = [];
    const end = first + count;
    for (let at = first; at < end; ) {
      let held = this.#held;
      if (!held || at < held.unit.start || at >= held.unit.end) {
        const unit = await file.unit(this.#name, at);
        held = { unit, values: file.decoded.acquire(unit.key, unit.decode) };
        // The old unit is released only now: a dictionary is dropped when no page that needs it is in use.
        this.leave(file);
        this.#held = held;
      }
      const { unit } = held;
      const values = await held.values;
      const to = Math.min(unit.end, end);
      // A copy, since a view would keep the values of the whole unit in memory.
      parts.push(values.slice(at - unit.start, to - unit.start));
      at = to;
    }
    return joined(parts);
  }

  leave(file: ParquetFile): void {
    if (this.#held) file.decoded.release(this.#held.unit.key, this.#held.unit.leave);
    this.#held = undefined;
  }
}

/** The values of all parts; in a typed array if all parts are typed arrays of one type. */
function joined(parts: Values[]): Values {
  const [first] = parts;
  if (first && parts.length === 1) return first;
  if (!ArrayBuffer.isView(first) || parts.some((part) => part.constructor !== first.constructor)) {
    return parts.flatMap((part) => Array.from(part));
  }
  const type = first.constructor as new (length: number) => Values & { set(part: Values, at: number): void };
  const out = new type(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
