import type { Steps } from './types.js';

/** The fewest and the most steps of a rank, from the numbers that the component returns. */
export const stepsOf = ({ least, most }: { least: bigint; most: bigint }): Steps => {
  return { least: Number(least), most: Number(most), equal: least === most };
};
