// A place in a column of a Parquet file.
import { joined } from '../parts.js';
import type { Shared } from '../users.js';

/** Values of a column, in the order of the rows. */
export type Values = ArrayLike<unknown> & { slice(start: number, end: number): Values };

/** A run of rows of a column that is decoded in one piece. */
export interface Unit {
  readonly key: string;
  /** The number of its first row within the file, and of the row after its last one. */
  readonly start: number;
  readonly end: number;
  decode(): Promise<Values>;
  /** Is called when nobody uses the decoded values any more. */
  leave?(): Promise<void>;
}

/** A file whose columns are decoded unit by unit. */
interface ColumnFile {
  unit(column: string, row: number): Promise<Unit>;
  /** Decoded values while they are in use. */
  readonly decoded: Shared<string, Values>;
}

/** Reads runs of rows of one column. */
export class ColumnCursor {
  readonly #file: ColumnFile;
  readonly #name: string;
  /** The decoded unit that has the row which was read last. `leave` releases it. */
  #held: { unit: Unit; values: Promise<Values> } | undefined;

  constructor(file: ColumnFile, name: string) {
    this.#file = file;
    this.#name = name;
  }

  async read(first: number, count: number): Promise<ArrayLike<unknown>> {
    const parts: Values[] = [];
    const end = first + count;
    for (let at = first; at < end; ) {
      let held = this.#held;
      if (!held || at < held.unit.start || at >= held.unit.end) {
        const unit = await this.#file.unit(this.#name, at);
        held = { unit, values: this.#file.decoded.acquire(unit.key, unit.decode) };
        // The old unit is released only now: a dictionary is dropped when no page that needs it is in use.
        this.leave();
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

  leave(): void {
    if (this.#held) this.#file.decoded.release(this.#held.unit.key, this.#held.unit.leave);
    this.#held = undefined;
  }
}
