import { counted, grouped, percent } from '../../parts/text.ts';
import type { Load, ReaderRow, ShardsAnswer } from './compute.ts';

/** A sentence that says how even the samples of the readers are. */
export function verdict({ worldSize, workers, sizes, balance, idle, readers, steps }: ShardsAnswer): string {
  const { looked, most, least } = balance;
  const all = worldSize * workers;
  const name = ({ rank, worker }: Load) =>
    workers > 1 ? `rank ${grouped(rank)}, worker ${grouped(worker)}` : `rank ${grouped(rank)}`;
  const who = `${counted(all, 'reader')} share ${counted(sizes.length, 'file')}`;
  const seen = looked < all ? ` (of ${grouped(looked)} that were counted)` : '';
  const none = idle > 0 ? `; ${counted(idle, 'reader')} ${idle === 1 ? 'has' : 'have'} no batch` : '';
  if (most.samples === least.samples)
    return `${who}, evenly: each reads ${counted(most.samples, 'sample')}${seen}${none}.`;
  // The steps of a run depend on the samples of whole ranks, so ranks are compared as well.
  const loads = new Map<number, number>();
  for (const { rank, samples } of readers) loads.set(rank, (loads.get(rank) ?? 0) + samples);
  const [fewest, greatest] = [Math.min(...loads.values()), Math.max(...loads.values())];
  const isWhole = workers > 1 && worldSize > 1 && readers.length === all;
  const ranks = !isWhole
    ? ''
    : fewest === greatest
      ? `; all ranks read ${grouped(greatest)}`
      : `; ranks read ${grouped(fewest)} to ${grouped(greatest)}`;
  const unequal = steps.equal ? '' : ` in ${grouped(steps.min)} to ${grouped(steps.max)} steps`;
  const more = least.samples > 0 ? `${percent(most.samples / least.samples - 1)} more` : 'all of it';
  return `${who}, not evenly: the largest reads ${grouped(most.samples)} samples (${name(most)}), the smallest ${grouped(least.samples)} (${name(least)}): ${more}${seen}${ranks}${isWhole ? unequal : ''}${none}.`;
}

/** The readers on the screen, for a spreadsheet: one line a reader, with tabs. */
export const asTable = (readers: readonly ReaderRow[]): string =>
  [
    ['rank', 'worker', 'samples', 'files'],
    ...readers.map(({ rank, worker, samples, files }) => [rank, worker, samples, files?.join(' ') ?? '']),
  ]
    .map((cells) => cells.join('\t'))
    .join('\n');
