import { PageError } from '../../engine/answer.ts';
import { integer } from '../../engine/samplers.ts';
import { type Members, parsed } from '../../parts/json.ts';
import { counted, grouped } from '../../parts/text.ts';
import { naming, type Run, type Stopped, stoppedOf } from './runs.ts';

export interface CheckpointQuestion {
  /** For a sampler: the recipe of the order in the state, with the deal of the run except for its number of ranks. */
  recipe: string;
  /** For a dataset in files: the recipe with the remainder of the run. */
  reading: string;
  /** For batches: the lengths of the samples, if they are open. */
  lengths: string;
  state: string;
  /**
   * The ranks of the run, the workers of each and the batch size of each; empty if they are not known. Only a dataset in
   * files has workers.
   */
  ranks: string;
  workers: string;
  each: string;
  /** The position at which these ranks began. It is above 0 if the run had another number of ranks before. */
  begun: string;
  /** The ranks that go on. */
  next: string;
}

/** The batch of a rank in a step. */
export interface Row {
  step: number;
  rank: number;
  samples: number[];
  /** Number of samples of the batch. `samples` may have only the first ones. */
  size: number;
  /** The index at which the padding begins. */
  padding: number;
  /** For each sample, the rank that would read it if the run continued on its own ranks; -1 if none would, -2 if none of the next steps has it. */
  before: number[];
}

/** Some steps on a number of ranks. */
export interface Steps {
  worldSize: number;
  /** The first step that is shown, the number of steps that are shown, and the number of all steps if it is known. */
  first: number;
  count: number;
  steps: number | undefined;
  rows: Row[];
}

export interface CheckpointAnswer {
  /** The kind of the state: `sampler`, `reading`, `batcher` or `schedule`. */
  kind: string;
  epoch: string;
  consumed: number;
  positions: number;
  /** The position up to which the state counts; the steps of `open` come after it. */
  whole: number;
  /** The steps behind `whole`, by the ranks that took them. */
  open: { ranks: number; steps: number }[];
  /** The position at which these ranks began; 0 if it is not known. */
  begun: number;
  /** Why no batch can be shown, whatever is entered; otherwise empty. */
  lacks: string;
  /** The steps before the state and after it; null if the ranks, the batch size or the lengths are not known. */
  run: { batchSize: number; taken: number; last: Steps; next: Steps } | null;
}

/** The largest numbers of steps, of ranks and of samples that are shown. */
const STEPS = 3;
const RANKS = 16;
const SAMPLES = 64;
/** The largest number of samples of further steps that are read to find the reader of a sample. */
const LOOKED = 1 << 17;

/** Where a run stood when it wrote a state: its last steps on its own ranks, and the next ones on others. */
export async function checkpoint(question: CheckpointQuestion): Promise<CheckpointAnswer> {
  const stopped = await stoppedOf(question);
  try {
    return answerOf(question, stopped);
  } finally {
    stopped.dispose();
  }
}

function answerOf(question: CheckpointQuestion, stopped: Stopped): CheckpointAnswer {
  const { ranks, each, begun, next } = question;
  const { kind, epoch, consumed, positions, whole, history, lacks } = stopped;
  const from = Number(integer(begun || '0'));
  if (!(from >= 0 && from <= whole))
    throw new PageError('begun', `The ranks began at position ${begun}; allowed: 0 to ${grouped(whole)}`);
  const open = history.map(({ world_size, steps }) => ({ ranks: Number(world_size), steps: Number(steps) }));
  const answer = { kind, epoch, consumed, positions, whole, open, begun: from, lacks };
  const isSized = kind === 'sampler' || kind === 'reading';
  if (lacks || ranks === '' || (isSized && each === '')) return { ...answer, run: null };

  const rest = naming('ranks', () => stopped.on(ranks, question.state));
  const { own, taken, since } = ownOf(question, stopped, rest, from);
  const first = Math.max(0, taken - STEPS);
  const last = naming('ranks', () =>
    stepsOf(own, first, taken - first, (rows) => {
      for (const { before, rank } of rows) before.fill(rank);
    }),
  );
  const following = naming('next', () =>
    stepsOf(stopped.on(next, question.state), 0, STEPS, (rows) => owned(rows, rest)),
  );
  const batchSize = isSized
    ? Number(integer(each))
    : Math.max(1, ...[...last.rows, ...following.rows].map(({ size }) => size));
  return { ...answer, begun: since, run: { batchSize, taken, last, next: following } };
}

/**
 * The run on its own ranks up to the state, and the number of its steps. The core computes the state after these steps,
 * which must be the state that was opened.
 */
function ownOf({ ranks, workers, each, state }: CheckpointQuestion, stopped: Stopped, rest: Run, from: number) {
  const { consumed, whole, history, kind } = stopped;
  const steps = Number(history.at(-1)?.steps ?? 0);
  const saved = rest.state(0);
  const earlier = history.slice(0, -1);
  if (earlier.length === 0) {
    const own = stopped.on(ranks, from === 0 ? '' : stateAt(state, from, []));
    const taken = own.stepAt(whole) + steps;
    if (taken <= (own.steps ?? taken) && Number.isSafeInteger(taken) && own.state(taken) === saved)
      return { own, taken, since: from };
  }
  // The ranks changed in the turn or the window that is open, or before it: only its steps are those of these ranks.
  if (steps > 0) {
    const own = stopped.on(ranks, stateAt(state, whole, earlier));
    if (own.state(steps) === saved) return { own, taken: steps, since: whole };
  }
  const size = kind === 'batcher' ? '' : ` with batches of ${grouped(Number(integer(each)))}`;
  const readers = Number(workers) > 1 ? ` with ${counted(Number(workers), 'worker')} each` : '';
  throw new PageError(
    kind === 'batcher' ? 'ranks' : 'each',
    `${grouped(consumed - from)} positions are no whole number of steps of ${grouped(rest.worldSize)} ranks${readers}${size}`,
  );
}

/** A state of the same epoch at an earlier position. */
const stateAt = (state: string, consumed: number, history: Members[]): string => {
  const whole = parsed(state) as Members;
  return JSON.stringify({ ...whole, consumed, ...(whole.history === undefined ? {} : { history }) });
};

/** The batches of some steps. `fill` completes the rows by the ranks that would read their samples. */
function stepsOf(run: Run, first: number, count: number, fill: (rows: Row[]) => void): Steps {
  const { worldSize, steps } = run;
  const most = Math.max(0, Math.min(count, (steps ?? Number.POSITIVE_INFINITY) - first));
  const rows: Row[] = [];
  let shown = 0;
  for (let rank = 0; rank < Math.min(worldSize, RANKS); rank++) {
    for (let step = first; step < first + most; step++) {
      const { samples, size, padding } = run.read(rank, step, SAMPLES) ?? { samples: [], size: 0, padding: 0 };
      if (size > 0 || steps !== undefined) shown = Math.max(shown, step - first + 1);
      const before = new Array<number>(samples.length).fill(-1);
      rows.push({ step, rank, samples: Array.from(samples), size, padding: size - padding, before });
    }
  }
  fill(rows);
  for (const { before, padding } of rows) before.fill(-1, padding);
  return { worldSize, first, count: shown, steps, rows: rows.filter(({ step }) => step < first + shown) };
}

/** Finds for each sample of the rows the rank that reads it in the rest of the run. */
function owned(rows: Row[], rest: Run): void {
  const { rankOf } = rest;
  const found = rankOf ? undefined : ranksOf(new Set(rows.flatMap(({ samples }) => samples)), rest);
  for (const { samples, before } of rows)
    for (const [index, sample] of samples.entries())
      before[index] = (rankOf ? rankOf(sample) : (found?.get(sample) ?? -2)) ?? -1;
}

/** The ranks that read these samples, as far as they are in the next steps. */
function ranksOf(wanted: Set<number>, rest: Run): Map<number, number> {
  const found = new Map<number, number>();
  let looked = 0;
  for (let step = 0; step < (rest.steps ?? 0) && looked < LOOKED && found.size < wanted.size; step++)
    for (let rank = 0; rank < rest.worldSize; rank++) {
      const { samples, size, padding } = rest.read(rank, step, LOOKED) ?? { samples: [], size: 0, padding: 0 };
      looked += size + 1;
      for (let index = 0; index < size - padding; index++) {
        const sample = samples[index] as number;
        if (wanted.has(sample) && !found.has(sample)) found.set(sample, rank);
      }
    }
  return found;
}
