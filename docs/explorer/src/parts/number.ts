/**
 * The digits of the whole number in a typed text: 1,000, 1_000 and 1e6 too. Any other text is returned as it is, so
 * that the core's error names it.
 */
export function digits(text: string): string {
  const plain = text.replaceAll(/[_,\s]/g, '');
  if (/^-?\d+$/.test(plain)) return String(BigInt(plain));
  return plain && Number.isSafeInteger(Number(plain)) ? String(Number(plain)) : text;
}

/**
 * The numbers of a list, each as its digits. Spaces and semicolons separate; a comma does only before a space, since 1,000 is one number. A
 * number whose commas do not group thousands stays as it is.
 */
export function digitsOfEach(text: string): string[] {
  const parts = text.split(/[;\s]+|,(?=\s|$)/).filter(Boolean);
  return parts.map((part) => (!part.includes(',') || /^\d{1,3}(,\d{3})+$/.test(part) ? digits(part) : part));
}

/** Whether a text is a list of numbers, one a line or as JSON has them. */
export const isNumbers = (text: string): boolean => /^[\d\s,;.[\]]+$/.test(text);
