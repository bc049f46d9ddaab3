import { Batcher, joinIndices } from 'samedeal/web';
import type { Values } from '../../engine/lengths.ts';

/** The totals of windows, for all ranks together. */
export interface Totals {
  steps: number;
  rows: number;
  tokens: number;
  padding: number;
  slowest: number;
}

/** Number of parts of an index that are collected before they are joined. */
const PARTS = 256;

/**
 * For each epoch that was planned as a whole, or whose index was opened: its index, and the number of shapes of its
 * batches if it is known.
 */
const indices = new Map<string, { index: string; shapes: number | undefined }>();

/**
 * The batches of a recipe in an epoch. Some windows are known: the first ones, which were planned one after the other,
 * or all of them, from an index.
 */
export class Plan {
  readonly batcher: Batcher;
  readonly windows: number;
  readonly worldSize: number;
  /** Number of lengths that were looked up. */
  asked = 0;
  /** The error that ended the planning. */
  problem: unknown;
  /** The number of steps up to the end of each known window. */
  #ends: number[] = [];
  /** The index of the known windows, in parts. */
  #parts: string[] = [];
  /**
   * The shapes (rows and padded length) of the batches of known windows; undefined after an index was opened, which
   * does not have them.
   */
  #shapes: Set<number> | undefined = new Set();
  /** The number of shapes, if the opened index was made by this plan. */
  #numShapes: number | undefined;
  readonly #key: string;

  constructor(recipe: string, values: Values, epoch: number | bigint) {
    const take = (samples: Float64Array) => {
      this.asked += samples.length;
      const lengths = new Uint32Array(samples.length);
      for (let at = 0; at < lengths.length; at++) lengths[at] = values[samples[at] as number] as number;
      return lengths;
    };
    this.batcher = Batcher.fromRecipe(recipe, { length: values.length, take }, { epoch });
    try {
      this.windows = this.batcher.numWindows;
      this.worldSize = this.batcher.worldSize;
      this.#key = `${this.batcher.recipeFingerprint()} ${epoch}`;
      const known = indices.get(this.#key);
      if (known) this.#follow(known.index, known.shapes);
    } catch (error) {
      this.batcher.dispose();
      throw error;
    }
  }

  /** Number of known windows. */
  get known(): number {
    return this.#ends.length;
  }

  get isWhole(): boolean {
    return this.known === this.windows;
  }

  /** Number of steps of the known windows. */
  get steps(): number {
    return this.#ends.at(-1) ?? 0;
  }

  /** The number of shapes of the batches of known windows; undefined if it is not known. */
  get shapes(): number | undefined {
    return this.#shapes?.size ?? this.#numShapes;
  }

  /**
   * Plans the next window. After a failure, every further call fails: the counts of the failed window may be
   * incomplete.
   */
  more(): void {
    if (this.problem) throw this.problem;
    try {
      this.#next();
    } catch (error) {
      this.problem = error;
      throw error;
    }
  }

  #next(): void {
    const window = this.known;
    const index = this.batcher.index(window, 1);
    const first = this.steps;
    this.#ends.push(first + (stepsOf(index)[0] ?? 0));
    this.#parts.push(index);
    if (this.#parts.length >= PARTS) this.#parts = [joinIndices(this.#parts)];
    // The shapes are counted now, while the component has the window in memory.
    for (let step = first; step < this.steps; step++)
      for (const { rowEnds, paddedLength } of this.batcher.step(step))
        this.#shapes?.add(2 ** 32 * rowEnds.length + paddedLength);
    if (this.isWhole) indices.set(this.#key, { index: this.index(), shapes: this.shapes });
  }

  /** Plans windows until `isEnough`, or until the time `end`. Returns true if enough are planned, or all are. */
  moreUntil(isEnough: () => boolean, end: number): boolean {
    while (!this.isWhole && !isEnough()) {
      if (performance.now() >= end) return false;
      this.more();
    }
    return true;
  }

  /** The index of the known windows. */
  index(): string {
    if (this.#parts.length > 1) this.#parts = [joinIndices(this.#parts)];
    return this.#parts[0] ?? this.batcher.index(0, 0);
  }

  /** Opens an index of all windows. */
  use(index: string): void {
    const shapes = this.isWhole ? this.shapes : undefined;
    this.#follow(index, shapes);
    indices.set(this.#key, { index, shapes });
  }

  #follow(index: string, shapes: number | undefined): void {
    this.batcher.useIndex(index);
    this.#ends = [];
    for (const steps of stepsOf(index)) this.#ends.push(this.steps + steps);
    this.#parts = [index];
    this.#shapes = undefined;
    this.#numShapes = shapes;
  }

  /** The steps of the window that has a step. The window must be known. */
  around(step: number): { from: number; to: number } {
    const window = this.#ends.findIndex((end) => end > step);
    return { from: this.#ends[window - 1] ?? 0, to: this.#ends[window] ?? 0 };
  }

  /** The totals of the known windows. */
  totals(): Totals {
    if (this.isWhole) {
      const { steps, rows, tokens, paddingRatio, slowestRankUtilization } = this.batcher.metrics();
      return { steps, rows, tokens: Number(tokens), padding: paddingRatio, slowest: slowestRankUtilization };
    }
    const { metrics } = JSON.parse(this.index()) as { metrics: Record<string, number | string> };
    const of = (name: string) => Number(metrics[name] ?? 0);
    const [steps, rows, tokens] = [of('steps'), of('rows'), of('tokens')];
    const [padded, slowest] = [of('padded'), of('slowest')];
    const ratio = (part: number, whole: number, none: number) => (whole > 0 ? part / whole : none);
    return {
      ...{ steps, rows, tokens },
      padding: ratio(padded - tokens, padded, 0),
      slowest: ratio(tokens, this.worldSize * slowest, 1),
    };
  }

  dispose(): void {
    this.batcher.dispose();
  }
}

const stepsOf = (index: string): number[] => (JSON.parse(index) as { steps: number[] }).steps;
