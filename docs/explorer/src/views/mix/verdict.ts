import { counted, grouped, percent } from '../../parts/text.ts';
import type { DriftAnswer } from './drift.ts';
import type { LabelsAnswer } from './labels.ts';
import type { RankDriftAnswer } from './ranks.ts';

const samples = (number: number) => Math.abs(number).toLocaleString('en', { maximumFractionDigits: 3 });

/** The value with the largest distance from zero. */
export const farthest = (...values: number[]): number =>
  values.reduce((found, value) => (Math.abs(value) > Math.abs(found) ? value : found), 0);

/** A sentence that says whether the mixture holds at every part of the epoch. */
export function blendVerdict(drift: DriftAnswer, ranks: RankDriftAnswer | undefined): string {
  const { sources, isSteady, isExact, from, to, length } = drift;
  if (!isSteady)
    return 'The shares change when a source leaves, as the recipe asks for it (exhaustion renormalise): there is no mixture that holds at every part of the epoch.';
  const drifts = sources.map(({ least, most }) => farthest(...least, ...most));
  const worst = drifts.findIndex((value) => Math.abs(value) === Math.abs(farthest(...drifts)));
  const { name, bound } = sources[worst] ?? { name: '', bound: 0 };
  const holds = sources.every((source, at) => Math.abs(drifts[at] ?? 0) <= source.bound + 1e-6);
  const where = to - from < length ? `positions ${grouped(from)} to ${grouped(to - 1)}` : 'the epoch';
  const all = `${holds ? 'The mixture of all ranks together holds everywhere' : 'The mixture does not hold'} in ${where}: the largest drift${isExact ? '' : ' found'} is ${samples(drifts[worst] ?? 0)} samples (${name}, ${holds ? `and never above ${samples(bound)}` : `above the bound of ${samples(bound)}`})`;
  if (!ranks?.worst) return `${all}.`;
  const { rank, source, drift: own, chance: limit } = ranks.worst;
  const read = ranks.ranks.find((one) => one.rank === rank)?.samples ?? 0;
  const chance = ranks.unlike
    ? 'a rank drifts farther than chance explains'
    : `chance explains up to ${samples(Math.round(limit))}`;
  return `${all}; on one rank alone it is ${samples(own)} of ${grouped(read)} samples (${ranks.names[source]} on rank ${grouped(rank)}, within ${counted(ranks.to - ranks.from, 'position')}; ${chance}).`;
}

/** A sentence that says how far batches are from the mix of the dataset. */
export function labelsVerdict({ orders, perfect }: LabelsAnswer): string {
  const of = (id: string) => percent(orders.find((order) => order.id === id)?.distance ?? 0);
  return `A batch is ${of('feistel')} away from the mix of the dataset with the order feistel, ${of('sharded')} with sharded, and ${of('buffer')} with a shuffle buffer; a perfect shuffle has ${percent(perfect)}.`;
}
