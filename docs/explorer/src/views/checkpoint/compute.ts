import type { Sampler } from 'samedeal/web';
import { PageError } from '../../engine/answer.ts';
import { integer, samplerOf } from '../../engine/samplers.ts';
import { edited, type Members, parsed, shown } from '../../parts/json.ts';
import { grouped } from '../../parts/text.ts';

export interface CheckpointQuestion {
  /** The recipe of the order in the state, with the deal of the run except for its number of ranks. */
  recipe: string;
  state: string;
  /** The ranks of the run and the batch size of each; empty if they are not known. */
  ranks: string;
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
  /** For each sample, the rank that would read it if the run continued on its own ranks; -1 if none would. */
  before: number[];
}

/** Some steps on a number of ranks. */
export interface Steps {
  worldSize: number;
  /** The first step that is shown, the number of steps that are shown, and the number of all steps. */
  first: number;
  count: number;
  steps: number;
  rows: Row[];
}

export interface CheckpointAnswer {
  epoch: string;
  consumed: number;
  positions: number;
  /** The position at which these ranks began; 0 if it is not known. */
  begun: number;
  /** The steps before the state and after it; null if the ranks or the batch size are not known. */
  run: { batchSize: number; taken: number; last: Steps; next: Steps } | null;
}

/** The largest numbers of steps, of ranks and of samples that are shown. */
const STEPS = 3;
const RANKS = 16;
const SAMPLES = 64;

/** Where a run stood when it wrote a state: its last steps on its own ranks, and the next ones on others. */
export function checkpoint({ recipe, state, ranks, each, begun, next }: CheckpointQuestion): CheckpointAnswer {
  const { epoch, consumed, epochLength: positions } = samplerOf(recipe, 0, state);
  const from = Number(integer(begun || '0'));
  if (!(from >= 0 && from <= consumed))
    throw new PageError('begun', `The ranks began at position ${begun}; allowed: 0 to ${grouped(consumed)}`);
  const answer = { epoch: String(epoch), consumed, positions, begun: from };
  if (ranks === '' || each === '') return { ...answer, run: null };

  const ofWorld = (field: string, worldSize: string, at: string) => {
    const dealt = edited(recipe, 'deal.world_size', worldSize);
    return naming(field, () => samplerOf(dealt, epoch, at));
  };
  const own = ofWorld('ranks', ranks, from === 0 ? '' : stateAt(state, from));
  own.setRank(0);
  const size = integer(each);
  const steps = naming('each', () => own.numBatches(size));
  const batchSize = Number(size);
  const taken = consumed === positions ? steps : (consumed - from) / (own.worldSize * batchSize);
  // The core computes the position after these steps, which must be that of the state.
  if (!Number.isSafeInteger(taken) || taken > steps || consumedAfter(own, taken * batchSize) !== consumed)
    throw new PageError(
      'each',
      `${grouped(consumed - from)} positions are no whole number of steps of ${grouped(own.worldSize)} ranks with batches of ${grouped(batchSize)}`,
    );
  const rest = ofWorld('ranks', ranks, state);
  const before = (sample: number) => rest.locate(sample, size)?.rank ?? -1;
  const first = Math.max(0, taken - STEPS);
  const last = stepsOf(own, batchSize, first, taken - first, (_sample, rank) => rank);
  const after = ofWorld('next', next, state);
  return { ...answer, run: { batchSize, taken, last, next: stepsOf(after, batchSize, 0, STEPS, before) } };
}

/** Runs a computation. An error gets the name of the field on the page with the wrong value. */
function naming<T>(field: string, compute: () => T): T {
  try {
    return compute();
  } catch (error) {
    throw new PageError(field, (error as Error).message);
  }
}

/** A state of the same epoch at an earlier position. */
const stateAt = (state: string, consumed: number): string =>
  JSON.stringify({ ...(parsed(state) as Members), consumed });

function consumedAfter(sampler: Sampler, samples: number): number {
  const state = sampler.state(Math.min(samples, sampler.length));
  return Number(shown((parsed(state) as Members).consumed));
}

function stepsOf(
  sampler: Sampler,
  size: number,
  first: number,
  count: number,
  before: (sample: number, rank: number) => number,
): Steps {
  const { worldSize } = sampler;
  sampler.setRank(0);
  const steps = sampler.numBatches(size);
  const shownSteps = Math.max(0, Math.min(count, steps - first));
  const rows: Row[] = [];
  for (let rank = 0; rank < Math.min(worldSize, RANKS); rank++) {
    sampler.setRank(rank);
    for (let step = first; step < first + shownSteps; step++) {
      const from = step * size;
      const to = Math.max(from, Math.min(from + size, sampler.length));
      const samples = Array.from(to > from ? sampler.indices(from, Math.min(to, from + SAMPLES)) : []);
      const padding = Math.max(0, sampler.length - sampler.numPadding - from);
      const owners = samples.map((sample, index) => (index < padding ? before(sample, rank) : -1));
      rows.push({ step, rank, samples, size: to - from, padding, before: owners });
    }
  }
  sampler.setRank(0);
  return { worldSize, first, count: shownSteps, steps, rows };
}
