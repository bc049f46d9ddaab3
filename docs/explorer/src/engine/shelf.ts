import { PageError } from './answer.ts';

/**
 * Texts that are too long to be sent with every question. They stay in the Worker; the page has names for them, such as
 * `@3`.
 */
const texts: string[] = [];
export const LONG = 8000;

/** The value by which the page refers to a text: the text itself, or a name if it is long. */
export function shelve({ text }: { text: string }): string {
  if (text.length <= LONG) return text;
  texts.push(text);
  return `@${texts.length - 1}`;
}

/** The text of a value that `shelve` returned. */
export function unshelved(kept: string, field: string): string {
  if (!kept.startsWith('@')) return kept;
  const text = texts[Number(kept.slice(1))];
  if (text === undefined) throw new PageError(field, 'A link does not hold so much: drop the file again');
  return text;
}
