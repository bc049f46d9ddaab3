import { counted, grouped, percent } from '../../parts/text.ts';
import type { DriftAnswer } from './drift.ts';
import type { LabelsAnswer } from './labels.ts';
import type { RankDriftAnswer } from './ranks.ts';

const samples = (number: number) => Math.abs(number).toLocaleString('en', { maximumFractionDigits: 3 });

/** The value with the largest distance from zero. */
export const farthest = (...values: number[]): number =>
  values.reduce((found, value) => (Math.abs(value) > Math.abs(found) ? value : found), 0);

/** The largest drift of a source, and whether all drifts are within their bounds. */
function worstOf({ sources }: DriftAnswer) {
  const drifts = sources.map(({ least, most }) => farthest(...least, ...most));
  const worst = drifts.findIndex((value) => Math.abs(value) === Math.abs(farthest(...drifts)));
  const { name, bound } = sources[worst] ?? { name: '', bound: 0 };
  const holds = sources.every((source, at) => Math.abs(drifts[at] ?? 0) <= source.bound + 1e-6);
  return { drift: drifts[worst] ?? 0, name, bound, holds };
}

/** A short sentence that says whether the mixture is the one that the weights ask for. */
export function blendVerdict(drift: DriftAnswer, ranks: RankDriftAnswer | undefined): string {
  const { isSteady, from, to, length } = drift;
  if (!isSteady) return 'The shares change when a source leaves, as the recipe asks for it (exhaustion renormalize).';
  const { holds, name, drift: off } = worstOf(drift);
  const where = to - from < length ? `from position ${grouped(from)} to ${grouped(to - 1)}` : 'everywhere in the epoch';
  const far = Math.abs(off) <= 1 ? 'at most one sample away' : `at most ${samples(off)} samples away`;
  const all = holds
    ? `The sources are mixed as their weights ask for, ${where}: ${far}`
    : `The mixture does not hold ${where}: ${name} is ${samples(off)} samples away from its weight`;
  if (!ranks?.unlike) return `${all}.`;
  const { rank, source, share, asked } = ranks.unlike;
  return `${all}. But rank ${grouped(rank)} alone reads ${percent(share)} ${ranks.names[source]} in place of ${percent(asked)}.`;
}

/** A sentence about the largest drift, and its bound. */
export function driftSaid(drift: DriftAnswer): string {
  const { drift: off, name, bound, holds } = worstOf(drift);
  const limit = holds ? `it is never above ${samples(bound)}` : `its bound is ${samples(bound)}`;
  return `The drift is the number of samples that a source is ahead of its weight, or behind it, on all ranks together. The largest one${drift.isExact ? '' : ' found'} is ${samples(off)} samples (${name}; ${limit}).`;
}

/** A sentence about the largest drift of one rank by itself. */
export function rankSaid(ranks: RankDriftAnswer): string {
  if (!ranks.worst) return '';
  const { rank, source, drift: own, chance: limit } = ranks.worst;
  const read = ranks.ranks.find((one) => one.rank === rank)?.samples ?? 0;
  const chance = ranks.unlike
    ? 'a rank drifts farther than chance explains'
    : `chance explains up to ${samples(Math.round(limit))}`;
  return `On one rank alone, the largest drift is ${samples(own)} of ${grouped(read)} samples (${ranks.names[source]} on rank ${grouped(rank)}, within ${counted(ranks.to - ranks.from, 'position')}; ${chance}).`;
}

/** A sentence that says how far batches are from the mix of the dataset. */
export function labelsVerdict({ orders, perfect }: LabelsAnswer): string {
  const of = (id: string) => percent(orders.find((order) => order.id === id)?.distance ?? 0);
  return `A batch is ${of('feistel')} away from the mix of the dataset with the order feistel, ${of('sharded')} with sharded, and ${of('buffer')} with a shuffle buffer; a perfect shuffle has ${percent(perfect)}.`;
}
