import type { LedgerReplay } from 'samedeal/web';
import { isObject, type Members, parsed } from '../../parts/json.ts';

/** A claim of a log, from its entry to the one that ended it. */
export interface Claim {
  /** The number of its entry. */
  number: number;
  reader: number;
  start: number;
  count: number;
  /** Number of its positions that were committed in the end. */
  committed: number;
  /** The entry that ended the claim; null if the claim is open at the end of the log. */
  end: number | null;
  /**
   * The end of the claim. A `release` does not say whether the reader gave up the rest, or another reader took it over.
   */
  outcome: 'committed' | 'released' | 'rejoined' | 'open';
  /** The claim that took over the rest of the positions. */
  taken: { claim: number; reader: number; line: number } | null;
  /** The line of the claim in the picture: claims that a reader has open at the same time are on different lines. */
  line: number;
  commits: { entry: number; start: number; count: number }[];
}

export type Entry =
  | { kind: 'begins' | 'checkpoint' }
  | { kind: 'join'; reader: number; freed: number }
  | { kind: 'lease'; reader: number; leaseMs: number }
  | { kind: 'claim' | 'commit' | 'release'; reader: number; start: number; count: number; claim: number };

/** A log that the component has checked, with its entries and its claims. */
export interface Log {
  lines: string[];
  entries: Entry[];
  claims: Claim[];
  readers: number[];
}

/**
 * Makes the claims of a log from the events that the component returns: how each claim ends, and its line in the
 * picture.
 */
export function follow(lines: string[], replay: LedgerReplay): Log {
  const entries: Entry[] = [];
  const byNumber = new Map<number, Claim>();
  /** The open claims of each reader, by their numbers. */
  const held = new Map<number, Map<number, Claim>>();
  const of = (reader: number) => {
    const found = held.get(reader) ?? new Map<number, Claim>();
    held.set(reader, found);
    return found;
  };
  const end = (claim: Claim, entry: number, outcome: Claim['outcome']) => {
    Object.assign(claim, { end: entry, outcome });
    of(claim.reader).delete(claim.number);
  };
  let event = replay.nextEvent();
  for (const [number, text] of lines.entries()) {
    if (event?.number !== number) {
      const {
        event: kind,
        reader,
        lease_ms: leaseMs,
      } = parsed(text) as Members & Record<'reader' | 'lease_ms', number>;
      entries.push(kind === 'lease' ? { kind, reader, leaseMs } : { kind: number === 0 ? 'begins' : 'checkpoint' });
      continue;
    }
    const { kind, reader, start, count, claim: own, takenFrom } = event;
    const claim = of(reader).get(own);
    if (kind === 'join') {
      let freed = 0;
      for (const lost of [...of(reader).values()]) {
        freed += lost.count - lost.committed;
        end(lost, number, 'rejoined');
      }
      entries.push({ kind, reader, freed });
    } else entries.push({ kind: kind as 'claim', reader, start, count, claim: own });
    if (kind === 'claim') {
      const lines = [...of(reader).values()].map((other) => other.line);
      let line = 0;
      while (lines.includes(line)) line += 1;
      const left = takenFrom === undefined ? undefined : byNumber.get(takenFrom);
      if (left) left.taken = { claim: number, reader, line };
      const run = { number, reader, start, count, line };
      const made: Claim = { ...run, committed: 0, end: null, outcome: 'open', taken: null, commits: [] };
      byNumber.set(number, made);
      of(reader).set(number, made);
    } else if (claim && kind === 'release') end(claim, number, 'released');
    else if (claim) {
      if (count > 0) claim.commits.push({ entry: number, start, count });
      claim.committed += count;
      if (claim.committed === claim.count) end(claim, number, 'committed');
    }
    event = replay.nextEvent();
  }
  return { lines, entries, claims: [...byNumber.values()], readers: [...held.keys()].sort((a, b) => a - b) };
}

/** The members of the first entry of a log, which describe its epoch. */
export function header(line: string): {
  order: Members;
  epoch: string;
  consumed: number;
  blockSize: number;
  leaseMs: number;
} {
  const first = parsed(line) as Members;
  const recipe = isObject(first.recipe) ? first.recipe : {};
  const order = isObject(recipe.order) ? recipe.order : {};
  const [epoch, consumed] = [JSON.stringify(first.epoch), Number(first.consumed)];
  return { order, epoch, consumed, blockSize: Number(first.block_size), leaseMs: Number(first.lease_ms) };
}
