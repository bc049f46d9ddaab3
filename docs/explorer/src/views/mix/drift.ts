import { integer, samplerOf } from '../../engine/samplers.ts';
import { isObject, type Members, parsed, shown } from '../../parts/json.ts';

export interface DriftQuestion {
  recipe: string;
  epoch: string;
  /** The positions on the screen. If `to` is 0, they go to the end of the epoch. */
  from: number;
  to: number;
}

/** For each column of the picture, the distance of a source's count from its share. */
export interface SourceDrift {
  name: string;
  /** The share of the positions on the screen that the source should have by its weight. */
  asked: number;
  /** Number of positions on the screen that have a sample of the source. */
  count: number;
  /** Number of samples of the source; undefined if the recipe does not say it. */
  size: number | undefined;
  /** The bound that the drift never exceeds, in samples. */
  bound: number;
  least: number[];
  most: number[];
}

export interface DriftAnswer {
  /** Positions of the epoch. */
  length: number;
  from: number;
  to: number;
  /** The last position of each column. */
  columns: number[];
  /** Whether every position on the screen was looked at. */
  isExact: boolean;
  sources: SourceDrift[];
  /**
   * Whether shares follow from the weights alone. With `renormalize` they change when a source is exhausted, so a drift
   * cannot be computed.
   */
  isSteady: boolean;
}

const COLUMNS = 96;
/** The largest number of prefixes of the epoch whose counts are asked for. */
const LOOKS = 1152;
/**
 * A factor for uneven distances between the prefixes. Equal distances would miss a drift that repeats at the same
 * distance.
 */
const GOLDEN = 0.618033988749895;

/**
 * The weights of a blend, with the position at which each set of weights begins. If the sources continue across the
 * ends of epochs (`goesOn`), positions are counted over all epochs.
 */
export class Weights {
  readonly #stages: { from: bigint; weights: bigint[]; sum: bigint }[];
  readonly #first: bigint;
  readonly goesOn: boolean;
  readonly isSteady: boolean;

  constructor(recipe: string, epoch: bigint, length: number) {
    const document = parsed(recipe) as Members;
    const order = isObject(document.order) ? document.order : {};
    const list = (value: unknown) => (Array.isArray(value) ? value : []);
    const whole = (value: unknown) => BigInt(JSON.stringify(value) ?? 0);
    const stage = (from: bigint, weights: bigint[]) => ({
      from,
      weights,
      sum: weights.reduce((sum, weight) => sum + weight, 0n) || 1n,
    });
    this.#stages = [
      stage(
        0n,
        list(order.sources).map(({ weight }) => whole(weight)),
      ),
      ...list(order.stages).map(({ from, weights }) => stage(whole(from), list(weights).map(whole))),
    ];
    this.goesOn = order.exhaustion === 'repeat';
    this.isSteady = order.exhaustion !== 'renormalize';
    this.#first = this.goesOn ? epoch * BigInt(length) : 0n;
  }

  /** The share of a source, by its weight, at a position. */
  share(source: number, position: number): number {
    const at = this.#first + BigInt(position);
    const stage = this.#stages.findLast(({ from }) => from <= at);
    return Number(stage?.weights[source] ?? 0n) / Number(stage?.sum ?? 1n);
  }

  /**
   * The number of samples that a source has by exact proportion in the positions `from` to `to` - 1 of the epoch, in
   * millionths. If `from` is undefined, the count begins with the blend.
   */
  expected(source: number, from: number | undefined, to: number): bigint {
    const [start, end] = [from === undefined ? 0n : this.#first + BigInt(from), this.#first + BigInt(to)];
    return this.#stages.reduce((total, { from: begin, weights, sum }, at) => {
      const next = this.#stages[at + 1]?.from ?? end;
      const [low, high] = [start > begin ? start : begin, end < next ? end : next];
      return high > low ? total + ((high - low) * 1_000_000n * (weights[source] ?? 0n)) / sum : total;
    }, 0n);
  }
}

/** The drift of every source along a part of the epoch. Counts are only asked for where the picture shows them. */
export function drift(question: DriftQuestion): DriftAnswer {
  const epoch = integer(question.epoch);
  const sampler = samplerOf(question.recipe, epoch);
  const names = sampler.sources;
  const length = sampler.epochLength;
  const weights = new Weights(sampler.recipe, BigInt(epoch), length);
  const bounds = sampler.sourceBounds;
  const from = Math.min(question.from, Math.max(0, length - 1));
  const to = question.to > from ? Math.min(question.to, length) : length;
  const before = weights.goesOn ? sampler.sourceCounts(0, 0).first : names.map(() => 0);
  const looks = Math.min(LOOKS, to - from);
  const columns = looks <= 2 * COLUMNS ? looks : COLUMNS;
  const ends: number[] = [];
  const counts = sampler.sourceCounts(from, to).count;
  const sizes = sizesOf(sampler.recipe);
  const sources = names.map((name, source) => ({
    name,
    asked: Number(weights.expected(source, from, to)) / 1e6 / Math.max(1, to - from),
    count: counts[source] as number,
    size: sizes[source],
    bound: (bounds[source] as number) / 1e6,
    least: [] as number[],
    most: [] as number[],
  }));
  if (weights.isSteady) {
    for (let look = 0; look < looks; look++) {
      const column = Math.floor((look * columns) / looks);
      const part = (to - from) / looks;
      const position = part === 1 ? from + look + 1 : from + 1 + Math.floor((look + ((look * GOLDEN) % 1)) * part);
      const { count } = sampler.sourceCounts(0, position);
      ends[column] = position;
      for (const [at, source] of sources.entries()) {
        const exact =
          BigInt((count[at] as number) + (before[at] as number)) * 1_000_000n -
          weights.expected(at, undefined, position);
        const value = Number(exact) / 1e6;
        source.least[column] = Math.min(source.least[column] ?? value, value);
        source.most[column] = Math.max(source.most[column] ?? value, value);
      }
    }
  }
  return { length, from, to, columns: ends, isExact: looks === to - from, sources, isSteady: weights.isSteady };
}

/** The numbers of samples of the sources of a blend, as far as its recipe has them. */
function sizesOf(recipe: string): (number | undefined)[] {
  const { order } = parsed(recipe) as { order: Members };
  return (order.sources as Members[]).map((source) => {
    const size = isObject(source.order) ? Number(shown(source.order.samples)) : 0;
    return size > 0 ? size : undefined;
  });
}

export interface MixedStepsQuestion {
  recipe: string;
  epoch: string;
  batch: string;
  step: string;
  rank: string;
  /** Number of steps on the screen. */
  count: number;
}

export interface MixedStepsAnswer {
  steps: number;
  worldSize: number;
  step: number;
  names: string[];
  /** The first step on the screen, and for every step the samples of each source, on all ranks. */
  first: number;
  counts: number[][];
  /** The positions of the step that was asked for. */
  from: number;
  to: number;
  asked: number[];
  /** The samples of each source in the batch of the rank; null if several sources may have the same sample. */
  own: number[] | null;
}

/**
 * The samples of each source in some steps. The positions of a step come from states, because a state has the number of
 * positions that all ranks together have read.
 */
export function mixedSteps(question: MixedStepsQuestion): MixedStepsAnswer {
  const epoch = integer(question.epoch);
  const sampler = samplerOf(question.recipe, epoch);
  const names = sampler.sources;
  const size = integer(question.batch);
  sampler.setRank(0);
  const [steps, most] = [sampler.numBatches(size), sampler.length];
  sampler.setRank(integer(question.rank));
  const step = Number(integer(question.step));
  // The core checks the step and the rank.
  const samples = sampler.batch(integer(question.step), size);
  sampler.setRank(0);
  const weights = new Weights(sampler.recipe, BigInt(epoch), sampler.epochLength);
  const consumed = (number: number): number =>
    Number((parsed(sampler.state(Math.min(number * Number(size), most))) as Members).consumed);
  const first = Math.min(step, Math.floor(step / question.count) * question.count);
  const ends = Array.from({ length: Math.min(question.count, steps - first) + 1 }, (_, at) => consumed(first + at));
  const counts = ends.slice(1).map((end, at) => Array.from(sampler.sourceCounts(ends[at] as number, end).count));
  const [from, to] = [ends[step - first] as number, ends[step - first + 1] as number];
  const asked = names.map((_, source) => Number(weights.expected(source, from, to)) / 1e6);
  const own = names.map(() => 0);
  let isJoined = true;
  try {
    for (const sample of samples) {
      const { source } = sampler.sourceOf(sample);
      own[source] = (own[source] as number) + 1;
    }
  } catch {
    // In a shared index space, several sources may have a sample, so its index does not tell its source.
    isJoined = false;
  }
  return {
    steps,
    worldSize: sampler.worldSize,
    step,
    names,
    first,
    counts,
    from,
    to,
    asked,
    own: isJoined ? own : null,
  };
}

/** The step of a position. */
export function stepOf({
  recipe,
  epoch,
  batch,
  position,
}: {
  recipe: string;
  epoch: string;
  batch: string;
  position: number;
}): number {
  return samplerOf(recipe, integer(epoch)).placeOf(position, integer(batch)).batch;
}
