import { grouped, short } from './text.ts';

/** A part of an axis of whole numbers. In a link it is written as `120-480`, or as an empty text for the whole axis. */
export interface Range {
  from: number;
  to: number;
}

export function ranged(text: string, least: number, most: number): Range {
  const [, from, to] = text.match(/^(\d+)-(\d+)$/) ?? [];
  const range = { from: Math.max(least, Number(from ?? least)), to: Math.min(most, Number(to ?? most)) };
  return range.from < range.to ? range : { from: least, to: most };
}

/** The range, moved and widened so that it lies on the axis and is at least `shortest` long. */
export function fitted({ from, to }: Range, least: number, most: number, shortest: number): Range {
  const length = Math.min(most - least, Math.max(shortest, Math.round(to - from)));
  const first = Math.round(
    Math.max(least, Math.min(most - length, length > to - from ? (from + to - length) / 2 : from)),
  );
  return { from: first, to: first + length };
}

export const written = ({ from, to }: Range, least: number, most: number): string =>
  from <= least && to >= most ? '' : `${from}-${to}`;

/**
 * The format for numbers of an axis. If the range is a small part of its values, numbers are written in full, so that
 * neighbours differ.
 */
export const onAxis = ({ from, to }: Range): ((value: number) => string) => (to - from < to / 8 ? grouped : short);
