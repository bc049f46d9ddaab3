import { Batcher } from 'samedeal/web';
import { PageError } from '../../engine/answer.ts';
import { columnLengths, opened } from '../../engine/files.ts';
import { lengthsOfText, openedLengths, type Values } from '../../engine/lengths.ts';
import { integer } from '../../engine/samplers.ts';
import { unshelved } from '../../engine/shelf.ts';
import { type Members, member, parsed } from '../../parts/json.ts';
import { counted, grouped } from '../../parts/text.ts';
import { EXAMPLES, type Example, example } from './lengths.ts';
import { Plan } from './plan.ts';
import { limitOf, roomOf, STRATEGIES, strategyOf, withBatch, withRoom } from './strategies.ts';

export interface BatchesQuestion {
  batches: string;
  /** The budget from which the recipe was made. It is needed if the strategy has no member for a limit of tokens. */
  budget: string;
  /** The name of an example, `column:` and the name of a column of the files, or numbers. */
  lengths: string;
  epoch: string;
  step: string;
}

/** The result of a strategy for the windows that are planned. */
export interface Compared {
  strategy: string;
  isChosen: boolean;
  /** Number of planned windows, and number of windows of the epoch. */
  known: number;
  windows: number;
  steps: number;
  rows: number;
  padding: number;
  /** The tokens of samples in all batches, as a share of their budgets. */
  filled: number;
  slowest: number;
  /** Number of different shapes of batches. Undefined after an index was opened, which does not have it. */
  shapes: number | undefined;
  /** The reason why there is no plan; otherwise empty. */
  problem: string;
}

/** Whether a strategy has planned the whole epoch. */
export const isWhole = ({ known, windows, problem }: Compared): boolean => problem === '' && known === windows;

/** The batch of a rank: how long each row is, and how much of it is used. */
export interface Shape {
  rank: number;
  padded: number;
  /** The tokens of the items of each row. */
  rows: number[][];
  samples: number[];
  cost: number;
}

export interface BatchesAnswer {
  samples: number;
  longest: number;
  /** The budget, in tokens of a batch, at which the strategies are compared. */
  room: number;
  /** The number of samples that are too long for a recipe with this budget, and the limit of their length. */
  tooLong: { count: number; limit: number };
  /** The treatment of these samples: a value of `too_long`. */
  tooLongPolicy: string;
  worldSize: number;
  histogram: { from: number; to: number; count: number }[];
  compared: Compared[];
  /** The number of known steps: all of the epoch, if it is planned as a whole. */
  steps: number;
  isWhole: boolean;
  /** Number of lengths that were looked up to plan these steps. */
  asked: number;
  /** The batches at the step; none if the step is in a window that is not planned yet. */
  shapes: Shape[];
  /**
   * The costs of the ranks at evenly spaced steps between `from` and `to`. These are all steps of a small epoch,
   * otherwise the steps of the window with the chosen step.
   */
  costs: { from: number; to: number; steps: { step: number; least: number; most: number; slowest: number }[] };
}

/** How far the epoch is planned by all strategies. */
export interface Progress {
  known: number;
  windows: number;
  /** Number of strategies that have planned the whole epoch. */
  whole: number;
  isDone: boolean;
}

const BINS = 48;
/** The largest number of ranks whose batches are shown: more do not fit on a screen. */
const SHOWN_RANKS = 8;
/** The largest number of batches that are asked for to draw the costs. */
const COSTS = 1600;
const KEPT = 12;
/** The largest number of samples in an epoch that is planned as a whole at once. */
const SMALL = 1 << 16;
/** The time in which one call may plan further windows, in milliseconds. */
const PATIENCE = 200;

/** Lengths, and the facts about them that the page shows without a plan. */
interface Lengths {
  name: string;
  values: Values;
  longest: number;
  histogram: BatchesAnswer['histogram'];
}

let listed: Lengths | undefined;
const plans = new Map<string, Plan>();

/** Opens the lengths that a value of the link names. */
export async function lengthsOf(text: string): Promise<Lengths> {
  const name = `${opened} ${text}`;
  if (listed?.name === name) return listed;
  const values = EXAMPLES.includes(text as Example)
    ? example(text as Example)
    : text.startsWith('column:')
      ? await columnLengths(text.slice('column:'.length))
      : (openedLengths(text) ?? lengthsOfText(unshelved(text, 'lengths')));
  if (values.length === 0) throw new PageError('lengths', 'Enter the lengths of the samples, or choose an example');
  // The plans are disposed of, because they refer to the old lengths, which may be large.
  for (const plan of plans.values()) plan.dispose();
  plans.clear();
  let longest = 1;
  for (let at = 0; at < values.length; at++) longest = Math.max(longest, values[at] as number);
  listed = { name, values, longest, histogram: histogramOf(values, longest) };
  return listed;
}

function planOf(recipe: string, { name, values }: Lengths, epoch: number | bigint): Plan {
  const key = JSON.stringify([recipe, name, String(epoch)]);
  const plan = plans.get(key) ?? new Plan(recipe, values, epoch);
  plans.delete(key);
  plans.set(key, plan);
  for (const [oldest, unused] of plans) {
    if (plans.size <= KEPT) break;
    plans.delete(oldest);
    unused.dispose();
  }
  return plan;
}

/** A strategy, and its plan, or the reason why there is none. */
interface Candidate {
  strategy: string;
  isChosen: boolean;
  plan: Plan | undefined;
  problem: string;
}

/** The plans for a question: all strategies at one budget. */
function settingOf(question: BatchesQuestion, lengths: Lengths) {
  const { longest } = lengths;
  const epoch = integer(question.epoch);
  const asked = Number(integer(question.budget || '0'));
  if (!(asked >= 0 && Number.isSafeInteger(asked)))
    throw new PageError('max_tokens', `max_tokens is ${question.budget}; allowed: 1 to 2^53 - 1`);
  const room = roomOf(question.batches, longest, asked);
  const chosen = strategyOf(question.batches);
  const tooLong = tooLongOf(question.batches, lengths);
  const own = planOf(question.batches, lengths, epoch);
  const candidates = STRATEGIES.map((strategy): Candidate => {
    const isChosen = strategy === chosen;
    const recipe = isChosen ? question.batches : withRoom(question.batches, strategy, room, longest, asked);
    const one = { strategy, isChosen, problem: '' };
    try {
      const plan = isChosen ? own : planOf(recipe, lengths, epoch);
      return { ...one, plan, problem: plan.problem ? (plan.problem as Error).message : '' };
    } catch (error) {
      return { ...one, plan: undefined, problem: (error as Error).message };
    }
  });
  return { room, tooLong, own, candidates };
}

/**
 * Plans windows of a candidate until `isEnough`, or until the time `end`. Returns true if enough are planned, or if
 * there is no plan.
 */
function goOn(candidate: Candidate, isEnough: (plan: Plan) => boolean, end: number): boolean {
  const { plan, problem } = candidate;
  if (!plan || problem) return true;
  try {
    return plan.moreUntil(() => isEnough(plan), end);
  } catch (error) {
    candidate.problem = (error as Error).message;
    return true;
  }
}

/** Whether at least one window is known, which is enough to show a result. */
const isBegun = ({ known }: Plan): boolean => known > 0;
const never = () => false;

/**
 * One step of the chosen strategy, and the strategies side by side: by all windows of a small epoch, or by the planned
 * windows of a large one.
 */
export async function batches(question: BatchesQuestion): Promise<BatchesAnswer> {
  const lengths = await lengthsOf(question.lengths);
  const { room, tooLong, own, candidates } = settingOf(question, lengths);
  const { values, longest, histogram } = lengths;
  const isSmall = values.length <= SMALL;
  const step = integer(question.step);
  const end = isSmall ? Number.POSITIVE_INFINITY : performance.now() + PATIENCE;
  if (own.problem) throw own.problem;
  if (!own.isWhole && !isBegun(own)) own.more();
  own.moreUntil(() => !isSmall && own.steps > Number(step), end);
  for (const candidate of candidates) goOn(candidate, isSmall ? never : isBegun, end);
  const { worldSize, steps, isWhole } = own;
  // The batch of a step that does not exist is asked for, too, so that the component names the error.
  const isKnown = isWhole ? steps > 0 : !(Number(step) >= steps);
  return {
    ...{ samples: values.length, longest, room, tooLong, worldSize, histogram, steps, isWhole, asked: own.asked },
    tooLongPolicy: member(question.batches, 'batch.too_long'),
    compared: candidates.map((candidate) => comparedOf(candidate, room)),
    shapes: isKnown ? shapesOf(own, step, Math.min(SHOWN_RANKS, worldSize)) : [],
    costs: costsOf(own, isSmall ? { from: 0, to: steps } : isKnown ? own.around(Number(step)) : { from: 0, to: 0 }),
  };
}

function comparedOf({ strategy, isChosen, plan, problem }: Candidate, room: number): Compared {
  const none = { strategy, isChosen, problem, known: 0, windows: 0, steps: 0, rows: 0 };
  if (!plan || problem) return { ...none, padding: 0, filled: 0, slowest: 0, shapes: undefined };
  const { known, windows, shapes, worldSize } = plan;
  const { tokens, ...totals } = plan.totals();
  const filled = tokens / Math.max(1, totals.steps * worldSize * room);
  return { ...none, ...totals, known, windows, filled, shapes };
}

/**
 * Plans more windows, for a moment: the first one of each strategy, or with `isAll` the whole epoch, the chosen
 * strategy first. The page calls it again until it is done, or the user stops it; other questions are answered in
 * between.
 */
export async function planMore({ isAll, ...question }: BatchesQuestion & { isAll: boolean }): Promise<Progress> {
  const { candidates } = settingOf(question, await lengthsOf(question.lengths));
  const end = performance.now() + PATIENCE;
  const chosenFirst = [...candidates].sort((a, b) => Number(b.isChosen) - Number(a.isChosen));
  const isDone = chosenFirst.every((candidate) => goOn(candidate, isAll ? never : isBegun, end));
  const planned = candidates.flatMap(({ plan, problem }) => (plan && !problem ? [plan] : []));
  const sum = (of: (plan: Plan) => number) => planned.reduce((total, plan) => total + of(plan), 0);
  return {
    known: sum(({ known }) => known),
    windows: sum(({ windows }) => windows),
    whole: sum(({ isWhole }) => Number(isWhole)),
    isDone,
  };
}

/**
 * Opens an index of one of the strategies. An index has the number of steps of each window. Returns the name of the
 * strategy.
 */
export async function useIndex({ index, ...question }: BatchesQuestion & { index: string }): Promise<string> {
  const { own, candidates } = settingOf(question, await lengthsOf(question.lengths));
  const of = candidates.find(({ plan }) => plan && index.includes(`"${plan.batcher.recipeFingerprint()}"`));
  // If the index belongs to no strategy, the chosen one opens it, so that the component names the error.
  (of?.plan ?? own).use(index);
  return of?.strategy ?? strategyOf(question.batches);
}

/** The index of the chosen strategy. All of its windows must be known. */
export async function indexOf(question: BatchesQuestion): Promise<string> {
  return settingOf(question, await lengthsOf(question.lengths)).own.index();
}

/** The step and the rank of the batch with a sample; undefined if the epoch leaves the sample out. */
export async function batchWith({
  sample,
  ...question
}: BatchesQuestion & { sample: number }): Promise<{ step: number; rank: number } | undefined> {
  const { own } = settingOf(question, await lengthsOf(question.lengths));
  const [place] = own.batcher.locate(sample);
  return place && { step: place.step, rank: place.rank };
}

/** The number of samples that are too long, and the limit of their length. */
function tooLongOf(recipe: string, { values, longest }: Lengths): BatchesAnswer['tooLong'] {
  const limit = limitOf(recipe) ?? mostThatFits(recipe, longest);
  if (longest <= limit) return { count: 0, limit };
  let count = 0;
  for (let at = 0; at < values.length; at++) if ((values[at] as number) > limit) count += 1;
  if (member(recipe, 'batch.too_long').replace('error', '') === '')
    throw new PageError(
      'too_long',
      `${grouped(count)} of ${counted(values.length, 'sample')} ${count === 1 ? 'is' : 'are'} longer than ${counted(limit, 'token')}: the longest has ${grouped(longest)}. Choose what happens to samples that are too long`,
    );
  return { count, limit };
}

/**
 * The longest sample, up to `longest`, that the component accepts. It is found by asking: with weighted costs, only the
 * component knows the limit.
 */
function mostThatFits(recipe: string, longest: number): number {
  const { batch } = parsed(withBatch(recipe, { too_long: undefined, lengths: undefined })) as Members;
  const alone = JSON.stringify({ batch });
  let [most, over] = [0, longest + 1];
  while (over - most > 1) {
    const length = Math.floor((most + over) / 2);
    const batcher = Batcher.fromRecipe(alone, [length]);
    try {
      batcher.numSteps();
      most = length;
    } catch (error) {
      if ((error as { field?: string }).field !== 'lengths') throw error;
      over = length;
    } finally {
      batcher.dispose();
    }
  }
  return most;
}

function shapesOf({ batcher }: Plan, step: number | bigint, ranks: number): Shape[] {
  return Array.from({ length: ranks }, (_, rank) => {
    const { lengths, rowEnds, paddedLength, samples, cost } = batcher.batch(step, rank);
    let from = 0;
    const rows = Array.from(rowEnds, (end) => {
      const row = Array.from(lengths.subarray(from, end));
      from = end;
      return row;
    });
    return { rank, padded: paddedLength, rows, samples: Array.from(samples), cost: Number(cost) };
  });
}

function costsOf({ batcher, worldSize }: Plan, { from, to }: { from: number; to: number }): BatchesAnswer['costs'] {
  const ranks = Math.min(worldSize, 64);
  const count = Math.min(to - from, Math.max(1, Math.floor(COSTS / ranks)), 200);
  const steps = Array.from({ length: count }, (_, at) => {
    const step = from + Math.floor((at * (to - from)) / count);
    const costs = Array.from({ length: ranks }, (_, rank) => Number(batcher.batch(step, rank).cost));
    const most = Math.max(...costs);
    return { step, least: Math.min(...costs), most, slowest: costs.indexOf(most) };
  });
  return { from, to, steps };
}

function histogramOf(values: Values, longest: number): BatchesAnswer['histogram'] {
  const bins = Math.min(BINS, longest);
  const width = Math.ceil((longest + 1) / bins);
  const counts = new Array<number>(bins).fill(0);
  for (let at = 0; at < values.length; at++) {
    const bin = Math.floor((values[at] as number) / width);
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return counts.map((count, bin) => ({ from: bin * width, to: (bin + 1) * width - 1, count }));
}
