/** The digits of a whole number as somebody types it: 1,000, 1_000 and 1e6 too. Any other text stays, so that the core names it. */
export function digits(text: string): string {
  const plain = text.replaceAll(/[_,\s]/g, '');
  if (/^-?\d+$/.test(plain)) return String(BigInt(plain));
  return plain && Number.isSafeInteger(Number(plain)) ? String(Number(plain)) : text;
}
