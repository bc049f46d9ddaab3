import type { Steps } from './types.js';

/** The smallest and the largest number of steps of a rank, from the numbers that the component returns. */
export const stepsOf = ({ min, max }: { min: bigint; max: bigint }): Steps => {
  return { min: Number(min), max: Number(max), equal: min === max };
};
