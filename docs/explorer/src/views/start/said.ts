import { grouped } from '../../parts/text.ts';
import type { StoryAnswer } from './compute.ts';

/** The sentence of the first view: at most 15 words. */
export function said({ own, torch }: StoryAnswer): string {
  const repeats = ({ twice, never }: { twice: number; never: number }) =>
    twice === 0 && never === 0
      ? 'repeats no sample'
      : `repeats ${grouped(twice)}${never > 0 ? ` and loses ${grouped(never)}` : ''}`;
  return `Ranks are lost mid-epoch: samedeal ${repeats(own)}, torch’s sampler ${repeats(torch)}.`;
}
