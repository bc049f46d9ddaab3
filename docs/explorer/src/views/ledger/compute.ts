import { replayLedger, Sampler } from 'samedeal/web';
import { PageError } from '../../engine/answer.ts';
import { besides, integer } from '../../engine/samplers.ts';
import { unshelved } from '../../engine/shelf.ts';
import { parsed, shown } from '../../parts/json.ts';
import { type Claim, type Entry, follow, header, type Log } from './log.ts';

/** The facts about a log: its epoch, and how far it goes. */
export interface LedgerAnswer {
  /** The name of the log in later questions. */
  id: number;
  order: string;
  seed: string;
  /** The recipe of a sampler with the order of the log. */
  recipe: string;
  epoch: string;
  /** The first position of the ledger, and its number of positions. */
  first: number;
  positions: number;
  blockSize: number;
  leaseMs: number;
  entries: number;
  readers: number[];
  /**
   * For each reader, the number of lines in the picture: the largest number of claims that it has open at the same
   * time.
   */
  lines: number[];
  committed: number;
  claimed: number;
  /** Positions that were committed more than once. */
  twice: number;
  /** Number of claims that ended before all of their positions were committed. */
  lost: number;
  /** Whether the last line was only a part of an entry, and was left out. */
  isCut: boolean;
}

/** The logs that were opened last. They stay here, so that a question about an entry need not contain the log. */
const logs = new Map<number, { log: Log; answer: LedgerAnswer }>();
let last = 0;

function opened(id: number) {
  const found = logs.get(id);
  if (!found) throw new PageError('log', 'Another log was opened');
  return found;
}

/** Opens a log. The component checks it, entry by entry. */
export function ledger({ log: kept }: { log: string }): LedgerAnswer {
  const all = unshelved(kept, 'log')
    .split(/\r?\n/)
    .filter((line) => line !== '');
  // The last line is incomplete if its writer died, or was still writing.
  const isCut = all.length > 1 && parsed(all.at(-1) as string) === undefined;
  if (isCut) all.pop();
  let schedule: ReturnType<typeof replayLedger>;
  try {
    schedule = replayLedger(all);
  } catch (error) {
    throw new PageError('log', (error as Error).message);
  }
  const log = follow(all, schedule);
  const { order, epoch, consumed: first, blockSize, leaseMs } = header(log.lines[0] ?? '');
  const { positions, committed, claimed } = schedule.progress();
  const lines = log.readers.map(() => 1);
  const at = new Map(log.readers.map((reader, row) => [reader, row]));
  for (const { reader, line } of log.claims) {
    const row = at.get(reader) as number;
    lines[row] = Math.max(lines[row] as number, line + 1);
  }
  const runs = [...schedule].sort((a, b) => a.start - b.start);
  let [end, twice] = [0, 0];
  for (const { start, count } of runs) {
    twice += Math.max(0, Math.min(end, start + count) - start);
    end = Math.max(end, start + count);
  }
  const lost = log.claims.filter(({ outcome }) => outcome === 'released' || outcome === 'rejoined').length;
  const name = String(order.name ?? 'feistel');
  const seed = shown(order.seed ?? 0);
  const entries = log.lines.length;
  const { readers } = log;
  const id = ++last;
  const recipe = JSON.stringify({ order });
  const answer = {
    id,
    order: name,
    seed,
    recipe,
    epoch,
    first,
    positions,
    blockSize,
    leaseMs,
    entries,
    readers,
    lines,
    committed,
    claimed,
    twice,
    lost,
    isCut,
  };
  logs.set(id, { log, answer });
  logs.delete(id - 2);
  return answer;
}

export interface EntryQuestion {
  id: number;
  /** The entry after which the state is shown; empty for the last one. */
  entry: string;
  /** The entries on the screen, and the width of the picture in pixels. */
  from: number;
  to: number;
  width: number;
}

/** A reader in the state after an entry. */
export interface ReaderState {
  reader: number;
  claims: number;
  commits: number;
  committed: number;
  open: number;
  /** Positions of claims that ended without a commit. */
  lost: number;
}

/** A claim on the screen, or several neighbouring claims that are too narrow to be told apart. */
export interface Bar {
  reader: number;
  line: number;
  from: number;
  to: number;
  claims: number;
  count: number;
  committed: number;
  lost: number;
  commits: number[];
}

/** The positions that a reader claimed and did not commit, and the readers that claimed them afterwards. */
export interface Loss {
  reader: number;
  /**
   * `lost`: the reader wrote nothing more. `again`: it joined again. `back`: it released the positions, or its lease
   * ended, and it continued.
   */
  kind: 'lost' | 'again' | 'back';
  /** The last entry of the reader. With `again`, it is the entry with which it joined again. */
  last: number;
  count: number;
  /** The first of these positions if they form one run; otherwise null. */
  start: number | null;
  by: { reader: number; count: number }[];
  /** Number of these positions that nobody has claimed again. */
  free: number;
}

/** A claim that took over the rest of another one, for the picture. */
export interface Takeover {
  from: { reader: number; line: number; entry: number };
  to: { reader: number; line: number; entry: number };
  count: number;
}

export interface EntryAnswer {
  entry: number;
  text: string;
  said: Entry;
  /** The claim that the entry is about. */
  claim: Claim | null;
  committed: number;
  open: number;
  /** Positions that were released or lost, and not claimed again yet. */
  free: number;
  readers: ReaderState[];
  losses: Loss[];
  bars: Bar[];
  /** The takeovers on the screen. If there are many, only the newest ones. */
  takeovers: Takeover[];
  /** The last entries of readers that were lost. */
  ends: { reader: number; entry: number }[];
  /** The entries on the screen at which a reader joined. */
  joins: { reader: number; entry: number }[];
  /**
   * The epoch by positions, in pieces. A piece has the positions that each reader committed, those that are only
   * claimed, and those that are left.
   */
  pieces: Piece[];
  /** The last runs that were committed, the newest first. */
  runs: { entry: number; reader: number; start: number; count: number; claim: number }[];
  /** Number of runs that were committed. */
  committedRuns: number;
}

/**
 * A part of the epoch. `of` has the number of positions that each reader committed, by rows; `open` is the number of
 * positions that are only claimed.
 */
export interface Piece {
  of: [row: number, positions: number][];
  open: number;
  positions: number;
}

/**
 * The largest number of runs that are shown one by one. With more runs, neighbouring ones are counted together, in
 * `PIECES` pieces.
 */
const EXACT = 600;
const PIECES = 200;
const RUNS = 200;

/** The state after an entry. */
export function ledgerAt({ id, entry: asked, from, to, width }: EntryQuestion): EntryAnswer {
  const { log, answer } = opened(id);
  const { positions, first, entries: count } = answer;
  const entry = asked === '' ? count - 1 : Number(integer(asked));
  if (!(entry >= 0 && entry < count)) throw new PageError('entry', `entry is ${asked}; allowed: 0 to ${count - 1}`);
  const rows = new Map(log.readers.map((reader, row) => [reader, row]));
  const readers = log.readers.map((reader) => ({ reader, claims: 0, commits: 0, committed: 0, open: 0, lost: 0 }));
  const held: { start: number; count: number }[] = [];
  const runs: EntryAnswer['runs'] = [];
  let [committed, open, claimed] = [0, 0, 0];
  for (const claim of log.claims) {
    if (claim.number > entry) break;
    const row = rows.get(claim.reader) as number;
    const state = readers[row] as ReaderState;
    state.claims += 1;
    let done = 0;
    for (const commit of claim.commits) {
      if (commit.entry > entry) break;
      done += commit.count;
      state.commits += 1;
      runs.push({ ...commit, reader: claim.reader, claim: claim.number });
    }
    state.committed += done;
    committed += done;
    const rest = claim.count - done;
    claimed = Math.max(claimed, claim.start + claim.count - first);
    if (claim.end === null || claim.end > entry) {
      state.open += rest;
      open += rest;
      held.push({ start: claim.start + done, count: rest });
    } else if (claim.outcome !== 'committed') {
      state.lost += rest;
    }
  }
  runs.sort((a, b) => b.entry - a.entry);
  const said = log.entries[entry] as Entry;
  const claim = 'claim' in said ? (log.claims.find(({ number }) => number === said.claim) ?? null) : null;
  const joins = log.entries.flatMap((other, number) =>
    other.kind === 'join' && number >= from && number <= to ? [{ reader: other.reader, entry: number }] : [],
  );
  return {
    entry,
    text: log.lines[entry] as string,
    said,
    claim,
    committed,
    open,
    free: claimed - committed - open,
    readers,
    losses: losses(log, entry),
    takeovers: takeovers(log, from, to),
    ends: losses(log, count - 1).flatMap(({ reader, kind, last }) =>
      kind === 'lost' && last >= from && last < to ? [{ reader, entry: last }] : [],
    ),
    bars: bars(log, from, to, width),
    joins: joins.slice(0, 2000),
    pieces: pieces(
      [...runs.map(({ reader, ...run }) => ({ ...run, row: rows.get(reader) as number })), ...held],
      first,
      positions,
    ),
    runs: runs.slice(0, RUNS),
    committedRuns: runs.length,
  };
}

const isLeft = ({ outcome, count, committed }: Claim) =>
  (outcome === 'released' || outcome === 'rejoined') && committed < count;

/** The losses of readers up to an entry, in the order of the readers' numbers. */
function losses(log: Log, entry: number): Loss[] {
  const left = new Map<number, Claim[]>();
  for (const claim of log.claims) {
    if (claim.number > entry) break;
    if (!isLeft(claim) || (claim.end as number) > entry) continue;
    const others = left.get(claim.reader);
    if (others) others.push(claim);
    else left.set(claim.reader, [claim]);
  }
  if (left.size === 0) return [];
  // A release does not show that its reader was still there: other readers write it for a reader that is gone.
  const last = new Map<number, number>();
  for (const [number, it] of log.entries.entries())
    if (number <= entry && 'reader' in it && it.kind !== 'release') last.set(it.reader, number);
  return [...left]
    .map(([reader, claims]): Loss => {
      const by = new Map<number, number>();
      let [count, free] = [0, 0];
      for (const claim of claims) {
        const rest = claim.count - claim.committed;
        count += rest;
        if (claim.taken && claim.taken.claim <= entry)
          by.set(claim.taken.reader, (by.get(claim.taken.reader) ?? 0) + rest);
        else free += rest;
      }
      const [first, newest] = [claims[0] as Claim, claims.at(-1) as Claim];
      const own = last.get(reader) ?? 0;
      const ended = newest.end as number;
      const kind = newest.outcome === 'rejoined' ? 'again' : own < ended ? 'lost' : 'back';
      return {
        reader,
        kind,
        last: kind === 'again' ? ended : own,
        count,
        start: claims.length === 1 ? first.start + first.committed : null,
        by: [...by].map(([other, positions]) => ({ reader: other, count: positions })),
        free,
      };
    })
    .sort((a, b) => a.reader - b.reader);
}

const TAKEOVERS = 200;

function takeovers(log: Log, from: number, to: number): Takeover[] {
  const found = log.claims.filter(isLeft).flatMap(({ reader, line, end, taken, count, committed }) => {
    if (!taken) return [];
    const to = { reader: taken.reader, line: taken.line, entry: taken.claim };
    return [{ from: { reader, line, entry: end as number }, to, count: count - committed }];
  });
  return found.filter((one) => one.to.entry >= from && one.from.entry <= to).slice(-TAKEOVERS);
}

/** The epoch in pieces, from the committed runs of readers, and from claimed runs, which have no row. */
function pieces(runs: { start: number; count: number; row?: number }[], first: number, positions: number): Piece[] {
  const sorted = runs.sort((a, b) => a.start - b.start);
  if (sorted.length <= EXACT) {
    const found: Piece[] = [];
    let end = first;
    const gap = (to: number) => to > end && found.push({ of: [], open: 0, positions: to - end });
    for (const { start, count, row } of sorted) {
      gap(start);
      found.push({
        of: row === undefined ? [] : [[row, count]],
        open: row === undefined ? count : 0,
        positions: count,
      });
      end = start + count;
    }
    gap(first + positions);
    return found;
  }
  const size = Math.max(1, Math.ceil(positions / PIECES));
  const parts = Array.from({ length: Math.ceil(positions / size) }, (_, at) => ({
    by: new Map<number, number>(),
    open: 0,
    positions: Math.min(size, positions - at * size),
  }));
  for (const { start, count, row } of sorted) {
    const end = start - first + count;
    for (let at = start - first; at < end; ) {
      const part = parts[Math.floor(at / size)];
      const next = Math.min(end, (Math.floor(at / size) + 1) * size);
      if (!part) break;
      if (row === undefined) part.open += next - at;
      else part.by.set(row, (part.by.get(row) ?? 0) + next - at);
      at = next;
    }
  }
  return parts.map(({ by, ...rest }) => ({ of: [...by].sort(([a], [b]) => a - b), ...rest }));
}

/** The largest number of bars. More bars cannot be drawn fast enough while the user drags. */
const BARS = 3000;

/**
 * The claims on the screen. Neighbouring claims of a reader become one bar if they are too narrow to be told apart, or
 * too many to be drawn.
 */
function bars(log: Log, from: number, to: number, width: number): Bar[] {
  const pixel = (to - from) / Math.max(1, width);
  for (let least = 2 * pixel; ; least *= 2) {
    const found = barsOf(log, from, to, least);
    if (found.length <= BARS || least > to - from) return found;
  }
}

function barsOf(log: Log, from: number, to: number, least: number): Bar[] {
  const last = new Map<string, Bar>();
  const found: Bar[] = [];
  for (const claim of log.claims) {
    const end = claim.end ?? log.lines.length;
    if (claim.number > to || end < from) continue;
    const lost = claim.outcome === 'released' || claim.outcome === 'rejoined' ? claim.count - claim.committed : 0;
    const key = `${claim.reader} ${claim.line}`;
    const before = last.get(key);
    if (before && end - before.from < least) {
      before.to = end;
      before.claims += 1;
      before.count += claim.count;
      before.committed += claim.committed;
      before.lost += lost;
      continue;
    }
    const commits = claim.commits.map(({ entry }) => entry);
    const { reader, line, number, count, committed } = claim;
    const bar = { reader, line, from: number, to: end, claims: 1, count, committed, lost, commits };
    last.set(key, bar);
    found.push(bar);
  }
  return found;
}

export interface ReplayQuestion {
  id: number;
  reader: string;
  readers: string;
}

export interface ReplayAnswer {
  runs: number;
  positions: number;
  /** The first samples of the replay. */
  samples: number[];
}

const SAMPLES = 48;

/** The part of one reader in a replay of the log. */
export function ledgerReplay({ id, reader, readers }: ReplayQuestion): ReplayAnswer {
  const { log, answer } = opened(id);
  const schedule = replayLedger(log.lines, { reader: integer(reader), readers: integer(readers) });
  let [runs, positions] = [0, 0];
  for (const { count } of schedule) {
    runs += 1;
    positions += count;
  }
  const sampler = Sampler.fromRecipe(answer.recipe, besides(answer.recipe));
  try {
    const samples: number[] = [];
    for (const sample of schedule.samples(sampler)) if (samples.push(sample) >= SAMPLES) break;
    return { runs, positions, samples };
  } finally {
    sampler.dispose();
  }
}
