/**
 * The notches of a slider whose values double again and again. From each power of two to the next there are 16 equal
 * steps, so a notch changes a value by 3 to 6 %, and the values are as round as possible.
 */
const IN_A_DOUBLING = 16;

/** The value of a notch. */
export function valueAt(notch: number): number {
  const doublings = Math.floor(notch / IN_A_DOUBLING);
  return Math.round(2 ** doublings * (1 + (notch - doublings * IN_A_DOUBLING) / IN_A_DOUBLING));
}

/** The notch whose value is nearest to `value`, which is at least 1. */
export function notchOf(value: number): number {
  const doublings = Math.floor(Math.log2(Math.max(1, value)));
  return Math.round((doublings + Math.max(1, value) / 2 ** doublings - 1) * IN_A_DOUBLING);
}
