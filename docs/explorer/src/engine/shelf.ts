import { PageError } from './answer.ts';

/** Texts that are too long to be sent with every question: they stay in the Worker, and the page has their numbers, such as `@3`. */
const texts: string[] = [];
export const LONG = 8000;

/** What the page keeps of a text: the text itself, or its number. */
export function shelve({ text }: { text: string }): string {
  if (text.length <= LONG) return text;
  texts.push(text);
  return `@${texts.length - 1}`;
}

/** The text of what the page keeps. */
export function unshelved(kept: string, field: string): string {
  if (!kept.startsWith('@')) return kept;
  const text = texts[Number(kept.slice(1))];
  if (text === undefined) throw new PageError(field, 'A link does not hold so much: drop the file again');
  return text;
}
