/**
 * The digits of the whole number in a typed text; `1,000`, `1_000` and `1e6` are numbers, too. Any other text is
 * returned as it is, so that the core's error names it.
 */
export function digits(text: string): string {
  const plain = text.replaceAll(/[_,\s]/g, '');
  if (/^-?\d+$/.test(plain)) return String(BigInt(plain));
  return plain && Number.isSafeInteger(Number(plain)) ? String(Number(plain)) : text;
}

/**
 * The numbers of a list, each as its digits. Spaces and semicolons separate numbers. A comma separates them only before
 * a space, because `1,000` is one number. A number whose commas do not group thousands stays as it is.
 */
export function digitsOfEach(text: string): string[] {
  const parts = text.split(/[;\s]+|,(?=\s|$)/).filter(Boolean);
  return parts.map((part) => (!part.includes(',') || /^\d{1,3}(,\d{3})+$/.test(part) ? digits(part) : part));
}

/** Whether a text is a list of numbers: one on each line, or a list of JSON. */
export const isNumbers = (text: string): boolean => /^[\d\s,;.[\]]+$/.test(text);
