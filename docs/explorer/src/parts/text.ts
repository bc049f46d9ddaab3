const whole = new Intl.NumberFormat('en');
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** A whole number, such as 1,234,567. */
export const grouped = (number: number | bigint): string => whole.format(number);
/** The characters of exponents: a chart has no element for superscripts. */
const RAISED: Readonly<Record<string, string>> = Object.fromEntries(
  [...'-0123456789'].map((plain, at) => [plain, [...'⁻⁰¹²³⁴⁵⁶⁷⁸⁹'][at] as string]),
);
/** A power of ten, such as 10¹². */
export const powerOfTen = (exponent: number): string =>
  `10${[...String(exponent)].map((digit) => RAISED[digit]).join('')}`;

/** A large or a small number, such as 2 × 10¹¹, with at most two decimals. */
function scientific(number: number): string {
  const [mantissa = '', exponent = ''] = number.toExponential(2).split('e');
  const short = String(Number(mantissa));
  return short === '1' ? powerOfTen(Number(exponent)) : `${short}\u00a0×\u00a0${powerOfTen(Number(exponent))}`;
}

/**
 * A short number for axes and legends, such as 1.2M or 2 × 10¹¹. A letter for thousands of millions is not used, because
 * languages differ in what “billion” means.
 */
export const short = (number: number): string => {
  const size = Math.abs(number);
  return size < 10_000 ? grouped(number) : size < 1e9 ? compact.format(number) : scientific(number);
};
/** A share in percent, such as 12.3 %. The number and its sign stay on one line. */
export const percent = (share: number, digits = 1): string => `${(100 * share).toFixed(digits)}\u00a0%`;
/** A share of a mixture in percent with three decimals, or as a power of ten if these would be zeros: 2 × 10⁻⁵ %. */
export const shareOf = (share: number): string =>
  share === 0 || share >= 5e-6 ? percent(share, 3) : `${scientific(100 * share)}\u00a0%`;
/**
 * A difference, such as +1.5 or −1.5, with a minus as wide as the plus. `least` decimals are shown even if they are
 * zeros.
 */
export const signed = (number: number, most: number, least = 0): string =>
  number
    .toLocaleString('en', { minimumFractionDigits: least, maximumFractionDigits: most, signDisplay: 'exceptZero' })
    .replace('-', '\u2212');
/** The parts of a typed list, with commas or spaces between them. */
export const listed = (text: string): string[] => text.split(/[,;\s]+/).filter(Boolean);
/** A number with its noun, such as 1 rank or 2 ranks. */
export const counted = (number: number, noun: string): string => `${grouped(number)} ${noun}${number === 1 ? '' : 's'}`;
