import type { Copied, RawBatcher, RawBatchStream } from '../bindings/types.js';
import type { Run } from '../components/interfaces/samedeal-deal-batches.js';
import { camelled } from '../errors.js';
import { numbers } from '../lists.js';
import { MILLION, plain } from '../options.js';
import type { Integer } from '../types.js';
import type { Batch } from './types.js';

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
  /** Batches that exceed `maxTokens` or `maxCost`. Each of them is one sample. */
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
  /** What part of the padded tokens is padding: 0 where there are none. Ratios have six decimal places. */
  readonly paddingRatio: number;
  /** Tokens, or with `weighted` the cost, divided by what the limits of all batches allow: 1 without a limit. */
  readonly budgetUtilisation: number;
  /** Tokens divided by what all ranks compute while they wait for the slowest of each step: 1 for no tokens. */
  readonly slowestRankUtilisation: number;
  /** The greatest cost of a step divided by the mean: 1 where all ranks cost the same, or nothing. */
  readonly costImbalance: number;

  /** @internal */
  constructor(raw: Pick<RawBatcher | RawBatchStream, 'metrics' | 'ratio'>) {
    // Only sums may be beyond 2^53 - 1.
    const numbers = raw.metrics().map(({ name, number }) => [camelled(name, '-'), plain(number)]);
    Object.assign(this, Object.fromEntries(numbers));
    const ratio = (name: string) => Number(raw.ratio(name)) / MILLION;
    this.paddingRatio = ratio('padding');
    this.budgetUtilisation = ratio('budget-utilisation');
    this.slowestRankUtilisation = ratio('slowest-rank-utilisation');
    this.costImbalance = ratio('cost-imbalance');
  }

  /** All of them, ratios too, for `JSON.stringify`; sums, which may have 64 bits, as decimal strings. */
  toJSON(): MetricsJson {
    const { tokens, padded, slowest, cost, slowestCost, ...others } = this;
    const sums = { tokens, padded, slowest, cost, slowestCost };
    const texts = Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, String(sum)]));
    return { ...others, ...texts } as unknown as MetricsJson;
  }
}
