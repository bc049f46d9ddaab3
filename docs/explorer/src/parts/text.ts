const whole = new Intl.NumberFormat('en');
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** A whole number, such as 1,234,567. */
export const grouped = (number: number | bigint): string => whole.format(number);
/** A short number for axes and cells, such as 1.2M. */
export const short = (number: number): string => (Math.abs(number) < 10_000 ? grouped(number) : compact.format(number));
/** A share in percent, such as 12.3 %. */
export const percent = (share: number, digits = 1): string => `${(100 * share).toFixed(digits)} %`;
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
