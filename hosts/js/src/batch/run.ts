import type { BatchColumns } from '../components/interfaces/samedeal-deal-batches.js';
import type { Copied, RawBatcher, RawBatchStream } from '../engine/types.js';
import { camelled } from '../errors.js';
import { MetricsMembers } from '../generated/batches.js';
import { numbers } from '../lists.js';
import { MILLION, plain } from '../options.js';
import type { Batch } from './types.js';

/** The batches in the columns of a run. Each batch is a copy with memory of its own. */
export function batchesOf(run: Copied<BatchColumns>): Batch[] {
  const { starts, lengths, rowEnds, batchEnds, paddedLengths, costs, repeated, fullRows } = run;
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
      fullRows: fullRows[number] as number,
    };
    [row, item] = [lastRow, lastItem];
    return batch;
  });
}

const RATIOS = [
  ['paddingRatio', 'padding'],
  ['budgetUtilization', 'budget-utilization'],
  ['slowestRankUtilization', 'slowest-rank-utilization'],
  ['costImbalance', 'cost-imbalance'],
] as const;

type Sums = 'tokens' | 'padded' | 'slowest' | 'cost' | 'slowestCost';

/** Metrics in JSON. */
export type MetricsJson = Omit<Metrics, Sums | 'toJSON'> & Record<Sums, string>;

/** The metrics of batches. Numbers beyond 2^53 - 1 are `bigint`s. */
export class Metrics extends MetricsMembers {
  /** @internal */
  constructor(raw: Pick<RawBatcher | RawBatchStream, 'metrics' | 'ratio'>) {
    super();
    // Only sums may be beyond 2^53 - 1.
    const numbers = raw.metrics().map(({ name, number }) => [camelled(name, '-'), plain(number)]);
    const ratios = RATIOS.map(([own, name]) => [own, Number(raw.ratio(name)) / MILLION]);
    Object.assign(this, Object.fromEntries([...numbers, ...ratios]));
  }

  /** All metrics, ratios too, for `JSON.stringify`. Sums, which may have 64 bits, are decimal strings. */
  toJSON(): MetricsJson {
    const { tokens, padded, slowest, cost, slowestCost, ...others } = this;
    const sums = { tokens, padded, slowest, cost, slowestCost };
    const texts = Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, String(sum)]));
    return { ...others, ...texts } as unknown as MetricsJson;
  }
}
