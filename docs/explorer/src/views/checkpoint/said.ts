import { counted, grouped, percent } from '../../parts/text.ts';
import type { CheckpointAnswer } from './compute.ts';

/** A sentence about how far the run was, and what is left of the epoch. */
export function said({ kind, epoch, consumed, positions, whole, open, begun, lacks, run }: CheckpointAnswer): string {
  const read = `${grouped(consumed)} of ${counted(positions, 'position')} (${percent(consumed / Math.max(1, positions))})`;
  // Without its lengths, a state of batches has no number of positions for the steps of the open window.
  const behind = kind === 'batcher' ? ` in whole windows${run ? '' : stepsOf(open)}` : '';
  const where = `The run stopped in epoch ${grouped(BigInt(epoch))} after ${read}${behind}`;
  if (lacks) return `${where}. ${lacks}`;
  if (!run)
    return `${where}. On how many ranks did it run${kind === 'sampler' || kind === 'reading' ? ', and with which batch size' : ''}?`;
  const { taken, last, next } = run;
  const since = begun > 0 || (open.length > 1 && begun === whole) ? ` since position ${grouped(begun)}` : '';
  const of = last.steps === undefined ? '' : ` of ${grouped(last.steps)}`;
  const own = `after step ${grouped(taken)}${of}${since} on ${counted(last.worldSize, 'rank')}`;
  if (consumed === positions) return `${where}, ${own}. Nothing of this epoch is left.`;
  const others = kind === 'batcher' ? '' : ` with the other ${counted(positions - consumed, 'position')}`;
  const steps = next.steps === undefined ? '' : `${others ? ',' : ''} in ${counted(next.steps, 'step')}`;
  return `${where}, ${own}. ${counted(next.worldSize, 'rank')} ${next.worldSize === 1 ? 'goes' : 'go'} on${others}${steps}.`;
}

/** The steps of the window that is open, by the ranks that took them. */
function stepsOf(open: CheckpointAnswer['open']): string {
  const taken = open.filter(({ steps }) => steps > 0);
  if (taken.length === 0) return '';
  const list = taken.map(({ ranks, steps }) => `${counted(steps, 'step')} on ${counted(ranks, 'rank')}`);
  return ` and ${list.join(', then ')} in the next window`;
}
