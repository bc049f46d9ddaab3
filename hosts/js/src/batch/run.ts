import type { Copied } from '../bindings/types.js';
import type { BatchConfig, Metrics as RawMetrics, Run } from '../jco/interfaces/samedeal-deal-batches.js';
import { numbers } from '../lists.js';
import { plain } from '../options.js';
import type { Integer } from '../types.js';
import type { Batch, Counting } from './types.js';

/** The batches of a run, each with memory of its own. */
export function batchesOf(run: Copied<Run>): Batch[] {
  const { starts, lengths, rowEnds, batchEnds, paddedLengths, costs, repeated } = run;
  const samples = numbers(run.samples);
  let [row, item] = [0, 0];
  return Array.from(batchEnds, (lastRow, number) => {
    const lastItem = lastRow === row ? item : (rowEnds[lastRow - 1] as number);
    const ends = rowEnds.slice(row, lastRow);
    for (let i = 0; i < ends.length; i++) ends[i] = (ends[i] as number) - item;
    const batch = {
      samples: samples.slice(item, lastItem),
      starts: starts.slice(item, lastItem),
      lengths: lengths.slice(item, lastItem),
      rowEnds: ends,
      paddedLength: paddedLengths[number] as number,
      cost: plain(costs[number] as bigint),
      repeated: repeated[number] as number,
    };
    [row, item] = [lastRow, lastItem];
    return batch;
  });
}

type Sums = 'tokens' | 'padded' | 'slowest' | 'cost' | 'slowestCost';

/** Metrics in JSON. */
export type MetricsJson = Omit<Metrics, Sums | 'toJSON'> & Record<Sums, string>;

/**
 * What batches amount to: tokens, unless it says otherwise, of all ranks together. Numbers beyond 2^53 - 1 are `bigint`s.
 */
export class Metrics {
  /** Steps of every rank. */
  readonly steps!: number;
  /** Items in batches, repetitions included. */
  readonly items!: number;
  /** Rows in batches. */
  readonly rows!: number;
  /** Tokens of the items. */
  readonly tokens!: Integer;
  /** The same with padding. */
  readonly padded!: Integer;
  /** For every step, the tokens with padding of the rank with the most of them, summed up. */
  readonly slowest!: Integer;
  /** The cost of all batches. */
  readonly cost!: Integer;
  /** For every step, the cost of the rank with the most of it, summed up. */
  readonly slowestCost!: Integer;
  /** Lower bound on the number of packs; 0 where nothing is packed, or some were taken. */
  readonly packsBound!: number;
  /** Batches that cost more than the budget: samples by themselves. */
  readonly overBudget!: number;
  /** Batches without an item. */
  readonly empty!: number;
  /** Items that are there again to fill a step. */
  readonly repeated!: number;
  /** Items that are left out at the end. */
  readonly dropped!: number;
  /** Samples that were cut. */
  readonly truncated!: number;
  /** Samples that were left out because of their length. */
  readonly tooLong!: number;
  /** Samples that became several items. */
  readonly split!: number;
  readonly #world: number;
  /** What all batches of a step may cost; 0 for no bound. */
  readonly #budget: number;
  readonly #counting: Counting;

  /** @internal */
  constructor(raw: RawMetrics, { world, strategy, maxBatchSize, capacity, budget, counting }: BatchConfig) {
    // Only sums may be beyond 2^53 - 1.
    Object.assign(this, Object.fromEntries(Object.entries(raw).map(([name, value]) => [name, plain(value)])));
    this.#world = world;
    // What rows have room for is counted in tokens.
    this.#budget = strategy === 'pack' ? maxBatchSize * capacity : Number(budget);
    this.#counting = strategy === 'pack' ? 'unpadded' : counting;
  }

  /** What part of the padded tokens is padding: 0 where there are none. */
  get paddingRatio(): number {
    return ratio(BigInt(this.padded) - BigInt(this.tokens), Number(this.padded), 0);
  }

  /** Tokens, or with `weighted` the cost, divided by the budget of all batches: 1 where there is none. */
  get budgetUtilisation(): number {
    const used = this.#counting === 'weighted' ? this.cost : this.tokens;
    return ratio(used, this.#budget * this.steps * this.#world, 1);
  }

  /** Tokens divided by what all ranks compute while they wait for the slowest of each step: 1 for no tokens. */
  get slowestRankUtilisation(): number {
    return ratio(this.tokens, this.#world * Number(this.slowest), 1);
  }

  /** The greatest cost of a step divided by the mean: 1 where all ranks cost the same, or nothing. */
  get costImbalance(): number {
    return ratio(BigInt(this.#world) * BigInt(this.slowestCost), Number(this.cost), 1);
  }

  /** All of them, ratios too, for `JSON.stringify`; sums, which may have 64 bits, as decimal strings. */
  toJSON(): MetricsJson {
    const { tokens, padded, slowest, cost, slowestCost, ...counts } = this;
    const sums = { tokens, padded, slowest, cost, slowestCost };
    const texts = Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, String(sum)]));
    const { paddingRatio, budgetUtilisation, slowestRankUtilisation, costImbalance } = this;
    const ratios = { paddingRatio, budgetUtilisation, slowestRankUtilisation, costImbalance };
    return { ...counts, ...texts, ...ratios } as MetricsJson;
  }
}

function ratio(part: Integer, whole: number, nothing: number): number {
  return whole === 0 ? nothing : Number(part) / whole;
}
