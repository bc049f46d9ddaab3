import type { Steps } from './types.js';

/** The bounds of the ranks' numbers of steps, from those that the component returns. */
export const stepsOf = ({ least, most }: { least: bigint; most: bigint }): Steps => {
  return { least: Number(least), most: Number(most), equal: least === most };
};
