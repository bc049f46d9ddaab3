/** Reads and writes JSON without losing the digits of numbers beyond 2^53, such as seeds of 64 bits. */

type Raw = { rawJSON?: (text: string) => unknown; isRawJSON?: (value: unknown) => boolean };
const { rawJSON } = JSON as unknown as Raw;

export type Members = Record<string, unknown>;
export const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value of a text, or nothing if it is no JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text, (_key: string, value: unknown, context?: { source?: string }) => {
      const source = context?.source ?? '';
      return typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) && rawJSON
        ? rawJSON(source)
        : value;
    });
  } catch {
    return undefined;
  }
}

/** The text that a field shows for a member. */
export function shown(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : Array.isArray(value) ? value.join(', ') : JSON.stringify(value);
}

/**
 * The number in a typed text; `1e6` and `1_000` are numbers, too. Any other text is returned as it is, so that the
 * core's error names it. A large seed stays a text.
 */
function typed(text: string, member = ''): unknown {
  const plain = text.replaceAll(/[_,\s]/g, '');
  if (/^-?\d+$/.test(plain)) {
    if (Number.isSafeInteger(Number(plain))) return Number(plain);
    const digits = BigInt(plain).toString();
    return member === 'seed' || !rawJSON ? digits : rawJSON(digits);
  }
  if (plain !== '' && Number.isSafeInteger(Number(plain))) return Number(plain);
  return text;
}

/**
 * A recipe with another value of a member such as `deal.world_size`. An empty text removes the member, which then has
 * its default.
 */
export function edited(recipe: string, path: string, text: string, isList = false): string {
  const document = parsed(recipe);
  const whole: Members = isObject(document) ? document : {};
  const [section = '', member = ''] = path.split('.');
  const inner: Members = isObject(whole[section]) ? { ...whole[section] } : {};
  if (text.trim() === '') delete inner[member];
  else if (isList)
    inner[member] = text
      .split(/[\s,;]+/)
      .filter(Boolean)
      .map((item) => typed(item));
  else inner[member] = text === 'true' || text === 'false' ? text === 'true' : typed(text, member);
  return JSON.stringify({ ...whole, [section]: inner });
}

/** The member of a recipe as a field shows it. */
export function member(recipe: string, path: string): string {
  const [section = '', name = ''] = path.split('.');
  const document = parsed(recipe);
  const inner = isObject(document) ? document[section] : undefined;
  return isObject(inner) ? shown(inner[name]) : '';
}

/** A document over several lines, for reading. */
export const indented = (text: string): string => {
  const document = parsed(text);
  if (document === undefined) return text;
  // Lists of numbers stay in one line.
  return JSON.stringify(document, null, 2).replaceAll(
    /\[\s+([-\d,\s]+?)\s+\]/g,
    (_all, list: string) => `[${list.replaceAll(/\s+/g, ' ')}]`,
  );
};
