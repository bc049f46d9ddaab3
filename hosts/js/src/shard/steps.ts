import type { Steps } from './types.js';

/** Between which bounds the ranks' numbers of steps lie, of what the component gives. */
export const stepsOf = ({ least, most }: { least: bigint; most: bigint }): Steps => {
  return { least: Number(least), most: Number(most), equal: least === most };
};
