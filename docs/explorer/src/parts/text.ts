const whole = new Intl.NumberFormat('en');
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** 1,234,567 */
export const grouped = (number: number | bigint): string => whole.format(number);
/** 1.2M: for axes and cells. */
export const short = (number: number): string => (Math.abs(number) < 10_000 ? grouped(number) : compact.format(number));
/** 12.3 % */
export const percent = (share: number, digits = 1): string => `${(100 * share).toFixed(digits)} %`;
/** 1 rank, 2 ranks */
export const counted = (number: number, noun: string): string => `${grouped(number)} ${noun}${number === 1 ? '' : 's'}`;
