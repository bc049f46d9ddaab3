import { counted, grouped, percent } from '../../parts/text.ts';
import type { CheckpointAnswer } from './compute.ts';

/** A sentence about how far the run was, and what is left of the epoch. */
export function said({ epoch, consumed, positions, begun, run }: CheckpointAnswer): string {
  const read = `${grouped(consumed)} of ${counted(positions, 'position')} (${percent(consumed / Math.max(1, positions))})`;
  const where = `The run stopped in epoch ${grouped(BigInt(epoch))} after ${read}`;
  if (!run) return `${where}. On how many ranks did it run, and with which batch size?`;
  const { taken, last, next } = run;
  const since = begun > 0 ? ` since position ${grouped(begun)}` : '';
  const own = `after step ${grouped(taken)} of ${grouped(last.steps)}${since} on ${counted(last.worldSize, 'rank')}`;
  if (consumed === positions) return `${where}, ${own}. Nothing of this epoch is left.`;
  const left = counted(positions - consumed, 'position');
  return `${where}, ${own}. ${counted(next.worldSize, 'rank')} ${next.worldSize === 1 ? 'goes' : 'go'} on with the other ${left}, in ${counted(next.steps, 'step')}.`;
}
