const whole = new Intl.NumberFormat('en');
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** 1,234,567 */
export const grouped = (number: number | bigint): string => whole.format(number);
/** 1.2M: for axes and cells. */
export const short = (number: number): string => (Math.abs(number) < 10_000 ? grouped(number) : compact.format(number));
/** 12.3 % */
export const percent = (share: number, digits = 1): string => `${(100 * share).toFixed(digits)} %`;
/** +1.5 and −1.5, with a minus as wide as the plus: for differences. `least` digits are there even if they are zeros. */
export const signed = (number: number, most: number, least = 0): string =>
  number
    .toLocaleString('en', { minimumFractionDigits: least, maximumFractionDigits: most, signDisplay: 'exceptZero' })
    .replace('-', '\u2212');
/** The parts of a list that somebody typed, with commas or spaces. */
export const listed = (text: string): string[] => text.split(/[,;\s]+/).filter(Boolean);
/** 1 rank, 2 ranks */
export const counted = (number: number, noun: string): string => `${grouped(number)} ${noun}${number === 1 ? '' : 's'}`;
