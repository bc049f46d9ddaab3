import { PageError } from '../../engine/answer.ts';
import { isObject, type Members, parsed } from '../../parts/json.ts';

/** A claim of a log, from its entry to the one that ended it. */
export interface Claim {
  /** The number of its entry. */
  number: number;
  reader: number;
  start: number;
  count: number;
  /** How many of its positions were committed in the end. */
  committed: number;
  /** The entry after which the reader did not hold it any more; none if it still does at the end of the log. */
  end: number | null;
  /** How it ended. A `release` does not say whether the reader gave the rest back or another one took it over. */
  outcome: 'committed' | 'released' | 'rejoined' | 'open';
  /** The claims that took the rest, or parts of it. */
  taken: { claim: number; reader: number; line: number; start: number; count: number }[];
  /** Claims that a reader holds at the same time have lines of their own. */
  line: number;
  commits: { entry: number; start: number; count: number }[];
}

export type Entry =
  | { kind: 'begins' | 'checkpoint' }
  | { kind: 'join'; reader: number; freed: number }
  | { kind: 'lease'; reader: number; lease: number }
  | { kind: 'claim' | 'commit' | 'release'; reader: number; start: number; count: number; claim: number };

/** A log that the component has checked, by claims. */
export interface Log {
  lines: string[];
  entries: Entry[];
  claims: Claim[];
  readers: number[];
}

/**
 * Follows the entries of a log: which claim each belongs to, and how claims end. The component has checked that each entry follows from those
 * before it, so this only has to look them up.
 */
export function follow(lines: string[]): Log {
  const entries: Entry[] = [];
  const claims: Claim[] = [];
  /** The claims that each reader holds, by the position that it commits next. */
  const held = new Map<number, Map<number, Claim>>();
  /** What claims that were not finished left, and nobody claimed again yet. */
  let free: { start: number; end: number; claim: Claim }[] = [];
  const of = (reader: number) => {
    const found = held.get(reader) ?? new Map<number, Claim>();
    held.set(reader, found);
    return found;
  };
  const end = (claim: Claim, entry: number, outcome: Claim['outcome']) => {
    Object.assign(claim, { end: entry, outcome });
    of(claim.reader).delete(claim.start + claim.committed);
    if (outcome !== 'committed')
      free.push({ start: claim.start + claim.committed, end: claim.start + claim.count, claim });
  };
  /** A claim takes what is free of its positions. */
  const take = ({ number, reader, line, start, count }: Claim) => {
    if (!free.some((rest) => rest.start < start + count && rest.end > start)) return;
    free = free.flatMap((rest) => {
      const [from, to] = [Math.max(rest.start, start), Math.min(rest.end, start + count)];
      if (to <= from) return [rest];
      rest.claim.taken.push({ claim: number, reader, line, start: from, count: to - from });
      return [
        { ...rest, end: from },
        { ...rest, start: to },
      ].filter((part) => part.end > part.start);
    });
  };
  for (const [number, text] of lines.entries()) {
    const { event, reader, start, count, lease } = (parsed(text) ?? {}) as Members & Record<string, number>;
    const [by, from, length] = [Number(reader), Number(start), Number(count)];
    switch (number === 0 ? 'begins' : String(event)) {
      case 'begins':
        entries.push({ kind: 'begins' });
        break;
      case 'claim': {
        const taken = [...of(by).values()].map((other) => other.line);
        let line = 0;
        while (taken.includes(line)) line += 1;
        const claim: Claim = {
          number,
          reader: by,
          start: from,
          count: length,
          committed: 0,
          end: null,
          outcome: 'open',
          taken: [],
          line,
          commits: [],
        };
        take(claim);
        of(by).set(from, claim);
        claims.push(claim);
        entries.push({ kind: 'claim', reader: by, start: from, count: length, claim: number });
        break;
      }
      case 'commit': {
        const claim = of(by).get(from);
        if (!claim)
          throw new PageError('log', `Line ${number + 1} of the log commits positions that its reader does not hold`);
        if (length > 0) claim.commits.push({ entry: number, start: from, count: length });
        of(by).delete(from);
        claim.committed += length;
        of(by).set(from + length, claim);
        if (claim.committed === claim.count) end(claim, number, 'committed');
        entries.push({ kind: 'commit', reader: by, start: from, count: length, claim: claim.number });
        break;
      }
      case 'release': {
        const claim = of(by).get(from);
        if (!claim)
          throw new PageError('log', `Line ${number + 1} of the log frees positions that its reader does not hold`);
        end(claim, number, 'released');
        entries.push({ kind: 'release', reader: by, start: from, count: length, claim: claim.number });
        break;
      }
      case 'join': {
        let freed = 0;
        for (const claim of [...of(by).values()]) {
          freed += claim.count - claim.committed;
          end(claim, number, 'rejoined');
        }
        entries.push({ kind: 'join', reader: by, freed });
        break;
      }
      case 'lease':
        entries.push({ kind: 'lease', reader: by, lease: Number(lease) });
        break;
      default:
        entries.push({ kind: 'checkpoint' });
    }
  }
  return { lines, entries, claims, readers: [...held.keys()].sort((a, b) => a - b) };
}

/** The first entry of a log: what it is of. */
export function header(line: string): {
  order: Members;
  epoch: string;
  consumed: number;
  block: number;
  lease: number;
} {
  const first = parsed(line) as Members;
  const recipe = isObject(first.recipe) ? first.recipe : {};
  const order = isObject(recipe.order) ? recipe.order : {};
  const [epoch, consumed] = [JSON.stringify(first.epoch), Number(first.consumed)];
  return { order, epoch, consumed, block: Number(first.block), lease: Number(first.lease) };
}
