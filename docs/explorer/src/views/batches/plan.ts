import { Batcher, joinIndices } from 'samedeal/web';
import type { Values } from '../../engine/lengths.ts';

/** What windows amount to, all ranks together. */
export interface Totals {
  steps: number;
  rows: number;
  tokens: number;
  padding: number;
  slowest: number;
}

/** So many parts of an index are joined at a time. */
const PARTS = 256;

/** The index of an epoch that was planned as a whole or whose index was opened, and how many shapes its batches have, if that is known. */
const indices = new Map<string, { index: string; shapes: number | undefined }>();

/** The batches of a recipe in an epoch, of which some windows are planned: the first ones, one after the other, or all by an index. */
export class Plan {
  readonly batcher: Batcher;
  readonly windows: number;
  readonly worldSize: number;
  /** How many lengths were looked up. */
  asked = 0;
  /** Why there are no more windows. */
  problem: unknown;
  /** How many steps there are up to the end of each window that is known. */
  #ends: number[] = [];
  /** The index of these windows, in parts. */
  #parts: string[] = [];
  /** The rows and padded lengths of their batches; undefined if an index was opened, which does not say it. */
  #shapes: Set<number> | undefined = new Set();
  /** How many there were when that index was made, if it was here. */
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

  /** How many windows are known. */
  get known(): number {
    return this.#ends.length;
  }

  get isWhole(): boolean {
    return this.known === this.windows;
  }

  /** How many steps the known windows have. */
  get steps(): number {
    return this.#ends.at(-1) ?? 0;
  }

  /** How many shapes their batches have, if that is known. */
  get shapes(): number | undefined {
    return this.#shapes?.size ?? this.#numShapes;
  }

  /** Plans the next window. After a failure, never again: what is counted of it may not be whole. */
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
    // While the component has the window.
    for (let step = first; step < this.steps; step++)
      for (const { rowEnds, paddedLength } of this.batcher.step(step))
        this.#shapes?.add(2 ** 32 * rowEnds.length + paddedLength);
    if (this.isWhole) indices.set(this.#key, { index: this.index(), shapes: this.shapes });
  }

  /** Plans windows until it is enough, or a time is over. Returns whether it is enough, or there are no more windows. */
  moreUntil(isEnough: () => boolean, end: number): boolean {
    while (!this.isWhole && !isEnough()) {
      if (performance.now() >= end) return false;
      this.more();
    }
    return true;
  }

  /** The index of the windows that are known. */
  index(): string {
    if (this.#parts.length > 1) this.#parts = [joinIndices(this.#parts)];
    return this.#parts[0] ?? this.batcher.index(0, 0);
  }

  /** Takes the index of all windows from somebody else. */
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

  /** The steps of the window that has a step, which is known. */
  around(step: number): { from: number; to: number } {
    const window = this.#ends.findIndex((end) => end > step);
    return { from: this.#ends[window - 1] ?? 0, to: this.#ends[window] ?? 0 };
  }

  /** What the known windows amount to. */
  totals(): Totals {
    if (this.isWhole) {
      const { steps, rows, tokens, paddingRatio, slowestRankUtilisation } = this.batcher.metrics();
      return { steps, rows, tokens: Number(tokens), padding: paddingRatio, slowest: slowestRankUtilisation };
    }
    const { metrics } = JSON.parse(this.index()) as { metrics: (number | string)[] };
    const [steps = 0, , rows = 0, tokens = 0, padded = 0, slowest = 0] = metrics.map(Number);
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
