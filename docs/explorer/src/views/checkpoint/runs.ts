import { Batcher, Reading, type Sampler, Schedule } from 'samedeal/web';
import { PageError } from '../../engine/answer.ts';
import { besides, integer, samplerOf } from '../../engine/samplers.ts';
import { edited, isObject, type Members, parsed, shown } from '../../parts/json.ts';
import { lengthsOf } from '../batches/compute.ts';
import { EXAMPLES } from '../batches/lengths.ts';
import type { CheckpointQuestion } from './compute.ts';

/** The samples of a rank at a step. The padding comes last. */
export interface Read {
  samples: ArrayLike<number>;
  size: number;
  padding: number;
}

/** A run on some ranks, from a state or from the beginning of the epoch. Its steps are counted from there. */
export interface Run {
  worldSize: number;
  /** The most steps of a rank. Undefined if they are not known without planning a large epoch. */
  steps: number | undefined;
  /** The state after some steps. */
  state: (steps: number) => string;
  /** What a rank reads at a step, or its first `most` samples; undefined if the rank has no such step. */
  read: (rank: number, step: number, most: number) => Read | undefined;
  /** The number of steps after which `consumed` positions are read, in whole turns or windows; NaN if there is none. */
  stepAt: (consumed: number) => number;
  /** The rank that reads a sample. Kinds without this function are searched step by step. */
  rankOf?: (sample: number) => number | undefined;
}

/** The state of a run, as the views need it. */
export interface Stopped {
  kind: string;
  epoch: string;
  /** Positions of the epoch that were read, and positions of the epoch. */
  consumed: number;
  positions: number;
  /** Position up to which the state counts whole turns or windows. The steps of `history` come after it. */
  whole: number;
  /** The parts of the run behind `whole`: their ranks and their steps. */
  history: Members[];
  /** Why no batch can be shown, whatever is entered; otherwise empty. */
  lacks: string;
  /** The run on a number of ranks: after a state, or from the beginning of the epoch if the state is empty. */
  on: (ranks: string, state: string) => Run;
  /** Frees the memory of all runs. */
  dispose: () => void;
}

/** Keeps what is made for one answer, so that it can be freed after it. */
class Made {
  readonly #all: { dispose(): void }[] = [];
  add<T extends { dispose(): void }>(one: T): T {
    this.#all.push(one);
    return one;
  }
  readonly dispose = (): void => {
    for (const one of this.#all) one.dispose();
  };
}

const objects = (value: unknown): Members[] => (Array.isArray(value) ? value.filter(isObject) : []);
const whole = (value: unknown): number => Number(shown(value)) || 0;
export const consumedOf = (state: string): number => whole((parsed(state) as Members).consumed);

/** What a state says, by the kind of the state. */
export async function stoppedOf(question: CheckpointQuestion): Promise<Stopped> {
  const document = parsed(question.state);
  const state = isObject(document) ? document : {};
  const kind = String(state.kind);
  if (kind === 'reading') return reading(question, state);
  if (kind === 'batcher') return batcher(question, state);
  if (kind === 'schedule') return schedule(question, state);
  return sampler(question);
}

function sampler({ recipe, state, each }: CheckpointQuestion): Stopped {
  const { epoch, consumed, epochLength: positions } = samplerOf(recipe, 0, state);
  const on = (ranks: string, at: string): Run => {
    const own = samplerOf(edited(recipe, 'deal.world_size', ranks), epoch, at);
    own.setRank(0);
    const size = Number(integer(each));
    const steps = naming('each', () => own.numBatches(integer(each)));
    const from = own.consumed;
    return {
      worldSize: own.worldSize,
      steps,
      state: (step) => own.state(Math.min(step * size, own.length)),
      read: (rank, step, most) => readOf(own, rank, step, size, most),
      stepAt: (target) => (target === positions ? steps : (target - from) / (own.worldSize * size)),
      rankOf: (sample) => own.locate(sample, size)?.rank,
    };
  };
  const answer = { kind: 'sampler', epoch: String(epoch), consumed, positions, whole: consumed };
  // These samplers are shared with other views.
  return { ...answer, history: [], lacks: '', on, dispose: () => {} };
}

function readOf(sampler: Sampler, rank: number, step: number, size: number, most: number): Read | undefined {
  sampler.setRank(rank);
  const from = step * size;
  const to = Math.min(from + size, sampler.length);
  const samples = to > from ? sampler.indices(from, Math.min(to, from + most)) : [];
  const padding = Math.max(0, to - Math.max(from, sampler.length - sampler.numPadding));
  sampler.setRank(0);
  return to > from ? { samples, size: to - from, padding } : undefined;
}

/** A dataset in files. The state has its ranks only if the run stopped between two turns of its workers. */
function reading({ reading: dealt, state, workers, each }: CheckpointQuestion, document: Members): Stopped {
  const recipe = isObject(document.recipe) ? document.recipe : {};
  const isWhole = 'shards' in recipe;
  const given = parsed(dealt);
  const { deal = {}, batch = {} } = (isObject(given) ? given : {}) as { deal?: Members; batch?: Members };
  const made = new Made();
  const of = (worldSize: string, numWorkers: string, size: string): Reading => {
    const ranks = { world_size: integer(worldSize), workers: integer(numWorkers || '1') };
    const text = JSON.stringify({
      ...recipe,
      deal: { ...ranks, ...(isWhole || deal.remainder === undefined ? {} : { remainder: deal.remainder }) },
      batch: { batch_size: integer(size), ...(isWhole && batch.drop_last === true ? { drop_last: true } : {}) },
    });
    return made.add(Reading.fromRecipe(text, besides(text)));
  };
  // A single reader tells how much of the epoch is left: it has no padding.
  const alone = of('1', '1', '1');
  const left = made.add(alone.resume(state));
  const positions = made.add(alone.atEpoch(left.epoch)).numSamples(0);
  const on = (ranks: string, at: string): Run => {
    const fresh = naming('each', () => of(ranks, workers, each));
    const own = made.add(at === '' ? fresh.atEpoch(left.epoch) : fresh.resume(at));
    const steps = own.steps.max;
    return {
      worldSize: own.worldSize,
      steps,
      state: (step) => own.state(step),
      read: (rank, step, most) => {
        if (step >= own.numSteps(rank)) return undefined;
        const { samples, numPadding: padding } = own.batchAt(rank, step);
        return { samples: samples.subarray(0, most), size: samples.length, padding };
      },
      stepAt: (target) => searched(steps, (step) => consumedOf(own.state(step)) >= target),
    };
  };
  const consumed = positions - left.numSamples(0);
  return {
    ...{ kind: 'reading', epoch: String(left.epoch), consumed, positions, whole: whole(document.consumed) },
    ...{ history: objects(document.history), lacks: '', on, dispose: made.dispose },
  };
}

/** The smallest number up to `most` for which `isThere` holds; it then holds for all larger ones. */
function searched(most: number, isThere: (number: number) => boolean): number {
  let [least, end] = [0, most];
  while (least < end) {
    const middle = Math.floor((least + end) / 2);
    if (isThere(middle)) end = middle;
    else least = middle + 1;
  }
  return least;
}

/** The largest number of samples whose epoch is planned as a whole, to know its steps. */
const SMALL = 1 << 16;

/** Batches by length. Without the lengths, only the progress is known. */
async function batcher({ state, lengths }: CheckpointQuestion, document: Members): Promise<Stopped> {
  const recipe = isObject(document.recipe) ? document.recipe : {};
  const at = whole(document.consumed);
  const order = isObject(recipe.order) ? recipe.order : {};
  const history = objects(document.history);
  const epoch = shown(document.epoch) || '0';
  const facts = { kind: 'batcher', epoch, consumed: at, positions: whole(order.samples), whole: at, history };
  const on = (): Run => {
    throw new PageError('lengths', 'The lengths of the samples are not open');
  };
  const made = new Made();
  const without = (lacks: string) => ({ ...facts, lacks, on, dispose: made.dispose });
  if ((EXAMPLES as readonly string[]).includes(lengths) || lengths === '')
    return without('Drop the list of lengths here: the state has only a hash of it.');
  const values = await lengthsOf(lengths).then(
    (found) => found.values,
    () => undefined,
  );
  if (!values) return without('Drop the list of lengths here: the state has only a hash of it.');
  const of = (ranks: string, given: string): Batcher => {
    const text = JSON.stringify({ ...recipe, deal: { world_size: integer(ranks) } });
    const found = made.add(Batcher.fromRecipe(text, values, { epoch: integer(epoch) }));
    if (given) found.resume(given);
    return found;
  };
  try {
    of('1', state);
  } catch (error) {
    return without(`The lengths that are open are not those of the run: ${(error as Error).message}.`);
  }
  return {
    ...facts,
    lacks: '',
    dispose: made.dispose,
    on: (ranks, given) => {
      const own = of(ranks, given);
      return {
        worldSize: own.worldSize,
        steps: values.length <= SMALL ? own.numSteps() : undefined,
        state: (step) => own.state(step),
        read: (rank, step, most) => batchOf(own, rank, step, most),
        stepAt: (target) => {
          const windows = Math.ceil((target - own.consumed) / (whole(document.window) || 1));
          if (windows === 0) return 0;
          const { steps } = JSON.parse(own.index(0, windows)) as { steps: number[] };
          return steps.reduce((sum, count) => sum + count, 0);
        },
        rankOf: (sample) => own.locate(sample)[0]?.rank,
      };
    },
  };
}

function batchOf(batcher: Batcher, rank: number, step: number, most: number): Read | undefined {
  try {
    const { samples } = batcher.batch(step, rank);
    return { samples: Array.from(samples.subarray(0, most), Number), size: samples.length, padding: 0 };
  } catch (error) {
    if ((error as { field?: string }).field === 'step') return undefined;
    throw error;
  }
}

/** A training that counts steps. The samples of a step are the same on any number of ranks. */
function schedule({ state }: CheckpointQuestion, document: Members): Stopped {
  const recipe = isObject(document.recipe) ? document.recipe : {};
  const made = new Made();
  const of = (ranks: string) =>
    made.add(Schedule.fromRecipe(JSON.stringify({ ...recipe, deal: { world_size: integer(ranks) } })));
  const one = of('1');
  const stop = one.resume(state);
  const { epoch, position } = one.placeOf(stop);
  const on = (ranks: string, at: string): Run => {
    const own = of(ranks);
    const first = at === '' ? 0 : stop;
    return {
      worldSize: own.worldSize,
      steps: undefined,
      state: (step) => own.state(first + step),
      read: (rank, step, most) => {
        const samples = Array.from(made.add(own.atRank(rank)).batch(first + step), Number);
        return { samples: samples.slice(0, most), size: samples.length, padding: 0 };
      },
      stepAt: () => stop,
      rankOf: (sample) => own.locate(sample, first)?.rank,
    };
  };
  return {
    ...{ kind: 'schedule', epoch: String(epoch), consumed: position, positions: one.datasetSize, whole: position },
    ...{ history: [], lacks: '', on, dispose: made.dispose },
  };
}

/** Runs a computation. An error gets the name of the field on the page with the wrong value. */
export function naming<T>(field: string, compute: () => T): T {
  try {
    return compute();
  } catch (error) {
    if (error instanceof PageError) throw error;
    throw new PageError(field, (error as Error).message);
  }
}
