import { Sampler } from 'samedeal/web';
import { digits } from '../parts/number.ts';
import { sizesOfFiles } from './files.ts';

/** Number of samplers in the cache. Without it, an order with a table would be shuffled at every question. */
const KEPT = 8;
const kept = new Map<string, Sampler>();

/** The sizes of the files that were dropped, for a recipe that has only the hash of its list `sizes`. */
export function besides(recipe: string): { sizes: Float64Array } | undefined {
  const sizes = sizesOfFiles();
  return sizes && /"sizes"\s*:\s*"/.test(recipe) ? { sizes } : undefined;
}

/**
 * The sampler of a recipe at an epoch, or after a state. It is cached and shared, so every caller sets the rank that it
 * needs.
 */
export function samplerOf(recipe: string, epoch: number | bigint = 0, state = ''): Sampler {
  const key = JSON.stringify([recipe, String(epoch), state]);
  let sampler = kept.get(key);
  if (!sampler) {
    sampler = Sampler.fromRecipe(recipe, { epoch, ...besides(recipe) });
    if (state) sampler.resume(state);
  }
  // Moves the sampler to the end of the cache, because the first samplers are dropped first.
  kept.delete(key);
  kept.set(key, sampler);
  for (const [oldest, unused] of kept) {
    if (kept.size <= KEPT) break;
    kept.delete(oldest);
    unused.dispose();
  }
  return sampler;
}

/**
 * The whole number in a text, for the core to check. A text that is no number is returned as it is, so that the core's
 * error names it.
 */
export function integer(text: string): number | bigint {
  const plain = digits(text);
  if (!/^-?\d+$/.test(plain)) return text as unknown as number;
  const number = BigInt(plain);
  return Number.isSafeInteger(Number(number)) ? Number(number) : number;
}
