import type { LedgerSchedule } from 'samedeal/web';
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
  /** The claim that took the rest. */
  taken: { claim: number; reader: number; line: number } | null;
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

/** Follows a log: how its claims end. The component says which claim an entry belongs to; a join, which it does not tell, ends all claims of its reader. */
export function follow(lines: string[], schedule: LedgerSchedule): Log {
  const entries: Entry[] = [];
  const claims: Claim[] = [];
  /** The claims that each reader holds, by their numbers. */
  const held = new Map<number, Map<number, Claim>>();
  /** The claims that left positions which nobody claimed again yet, by the first of these. */
  const free = new Map<number, Claim>();
  const of = (reader: number) => {
    const found = held.get(reader) ?? new Map<number, Claim>();
    held.set(reader, found);
    return found;
  };
  const end = (claim: Claim, entry: number, outcome: Claim['outcome']) => {
    Object.assign(claim, { end: entry, outcome });
    of(claim.reader).delete(claim.number);
    if (outcome !== 'committed') free.set(claim.start + claim.committed, claim);
  };
  let event = schedule.nextEvent();
  for (const [number, text] of lines.entries()) {
    if (event?.number !== number) {
      const { event: kind, reader, lease } = parsed(text) as Members & Record<'reader' | 'lease', number>;
      if (kind === 'join') {
        const lost = [...of(reader).values()];
        const freed = lost.reduce((sum, claim) => sum + claim.count - claim.committed, 0);
        for (const claim of lost) end(claim, number, 'rejoined');
        entries.push({ kind, reader, freed });
      } else if (kind === 'lease') entries.push({ kind, reader, lease });
      else entries.push({ kind: number === 0 ? 'begins' : 'checkpoint' });
      continue;
    }
    const { reader, start, count, claim: own } = event;
    const kind = event.kind as 'claim' | 'commit' | 'release';
    entries.push({ kind, reader, start, count, claim: own });
    const claim = of(reader).get(own);
    if (!claim) {
      const lines = [...of(reader).values()].map((other) => other.line);
      let line = 0;
      while (lines.includes(line)) line += 1;
      const made: Claim = {
        number,
        reader,
        start,
        count,
        committed: 0,
        end: null,
        outcome: 'open',
        taken: null,
        line,
        commits: [],
      };
      // A claim takes all that another one left, or what nobody had.
      const left = free.get(start);
      if (left) left.taken = { claim: number, reader, line };
      free.delete(start);
      of(reader).set(number, made);
      claims.push(made);
    } else if (kind === 'release') end(claim, number, 'released');
    else {
      if (count > 0) claim.commits.push({ entry: number, start, count });
      claim.committed += count;
      if (claim.committed === claim.count) end(claim, number, 'committed');
    }
    event = schedule.nextEvent();
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
