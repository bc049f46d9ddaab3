import { Sampler } from 'samedeal/web';
import { digits } from '../parts/number.ts';
import { sizesOfFiles } from './files.ts';

/** How many samplers are cached, so that an order with a table is shuffled once, and not at every question. */
const KEPT = 8;
const kept = new Map<string, Sampler>();

/** The sizes of the files that were dropped, for a recipe that has only the hash of its list `sizes`. */
export function besides(recipe: string): { sizes: Float64Array } | undefined {
  const sizes = sizesOfFiles();
  return sizes && /"sizes"\s*:\s*"/.test(recipe) ? { sizes } : undefined;
}

/**
 * The sampler of a recipe at an epoch, and after a state if there is one. Whoever asks sets the rank that it needs: the sampler is shared.
 */
export function samplerOf(recipe: string, epoch: number | bigint = 0, state = ''): Sampler {
  const key = JSON.stringify([recipe, String(epoch), state]);
  let sampler = kept.get(key);
  if (!sampler) {
    sampler = Sampler.fromRecipe(recipe, { epoch, ...besides(recipe) });
    if (state) sampler.resume(state);
  }
  // The last one that was asked for is the last one to go.
  kept.delete(key);
  kept.set(key, sampler);
  for (const [oldest, unused] of kept) {
    if (kept.size <= KEPT) break;
    kept.delete(oldest);
    unused.dispose();
  }
  return sampler;
}

/** A whole number of a text or of a link, for the core to check; a text that is no number stays one, so that the core names it. */
export function integer(text: string): number | bigint {
  const plain = digits(text);
  if (!/^-?\d+$/.test(plain)) return text as unknown as number;
  const number = BigInt(plain);
  return Number.isSafeInteger(Number(number)) ? Number(number) : number;
}
