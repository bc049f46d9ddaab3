import { Batcher } from 'samedeal/web';
import { PageError } from '../../engine/answer.ts';
import { columnLengths, opened } from '../../engine/files.ts';
import { integer } from '../../engine/samplers.ts';
import { unshelved } from '../../engine/shelf.ts';
import { member } from '../../parts/json.ts';
import { counted, grouped } from '../../parts/text.ts';
import { EXAMPLES, type Example, example } from './lengths.ts';
import { limitOf, roomOf, STRATEGIES, strategyOf, withBatch, withRoom } from './strategies.ts';

export interface BatchesQuestion {
  batches: string;
  /** The budget that the recipe came from, if its strategy has no limit of tokens that says it. */
  budget: string;
  /** The name of an example, `column:` and the name of a column of the files, or numbers. */
  lengths: string;
  epoch: string;
  step: string;
}

/** What a strategy makes of the epoch. */
export interface Compared {
  strategy: string;
  isChosen: boolean;
  recipe: string;
  steps: number;
  rows: number;
  padding: number;
  /** The part of the budgets of all batches that tokens of samples fill. */
  filled: number;
  slowest: number;
  /** Why there is no plan. */
  problem: string;
}

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
  /** The tokens of a batch that every strategy is compared at. */
  room: number;
  /** How many samples are longer than a recipe with this budget takes, and from where on. */
  tooLong: { count: number; limit: number | undefined };
  /** What happens to them. */
  tooLongPolicy: string;
  worldSize: number;
  histogram: { from: number; to: number; count: number }[];
  compared: Compared[];
  steps: number;
  shapes: Shape[];
  /** The costs of the ranks at some steps, evenly spaced. */
  costs: { step: number; least: number; most: number; slowest: number }[];
}

const BINS = 48;
/** The batches of more ranks do not fit on a screen. */
const SHOWN_RANKS = 8;
/** So many batches are asked for to draw the costs. */
const COSTS = 1600;
const KEPT = 12;

const listed = new Map<string, Float64Array>();
const kept = new Map<string, Batcher>();

async function lengthsOf(text: string): Promise<Float64Array> {
  const key = `${opened} ${text}`;
  const found = listed.get(key);
  if (found) return found;
  const lengths = EXAMPLES.includes(text as Example)
    ? Float64Array.from(example(text as Example))
    : text.startsWith('column:')
      ? await columnLengths(text.slice('column:'.length))
      : Float64Array.from(
          unshelved(text, 'lengths')
            .split(/[\s,;[\]]+/)
            .filter(Boolean),
          Number,
        );
  if (lengths.length === 0) throw new PageError('lengths', 'Enter the lengths of the samples, or choose an example');
  listed.clear();
  listed.set(key, lengths);
  return lengths;
}

function batcherOf(recipe: string, name: string, lengths: Float64Array, epoch: number | bigint): Batcher {
  const key = JSON.stringify([recipe, name, opened, String(epoch)]);
  const batcher = kept.get(key) ?? Batcher.fromRecipe(recipe, lengths, { epoch });
  kept.delete(key);
  kept.set(key, batcher);
  for (const [oldest, unused] of kept) {
    if (kept.size <= KEPT) break;
    kept.delete(oldest);
    unused.dispose();
  }
  return batcher;
}

/** The strategies side by side, and one step of the chosen one. */
export async function batches(question: BatchesQuestion): Promise<BatchesAnswer> {
  const lengths = await lengthsOf(question.lengths);
  const epoch = integer(question.epoch);
  const longest = lengths.reduce((most, length) => Math.max(most, length), 1);
  const asked = Number(integer(question.budget || '0'));
  if (!(asked >= 0 && Number.isSafeInteger(asked)))
    throw new PageError('max-tokens', `max_tokens is ${question.budget}; allowed: 1 to 2^53 - 1`);
  const room = roomOf(question.batches, longest, asked);
  const chosen = strategyOf(question.batches);
  const plan = (recipe: string) => batcherOf(recipe, question.lengths, lengths, epoch);
  const tooLong = tooLongOf(question.batches, lengths, longest, plan);
  const own = plan(question.batches);
  const steps = own.numSteps();
  const { worldSize } = own;
  const compared = STRATEGIES.map((strategy): Compared => {
    const isChosen = strategy === chosen;
    const recipe = isChosen ? question.batches : withRoom(question.batches, strategy, room, longest, asked);
    const none = { strategy, isChosen, recipe, steps: 0, rows: 0, padding: 0, filled: 0, slowest: 0 };
    try {
      const { steps, rows, tokens, paddingRatio, slowestRankUtilisation } = plan(recipe).metrics();
      const filled = Number(tokens) / Math.max(1, steps * worldSize * room);
      return { ...none, steps, rows, padding: paddingRatio, filled, slowest: slowestRankUtilisation, problem: '' };
    } catch (error) {
      return { ...none, problem: (error as Error).message };
    }
  });
  const number = integer(question.step);
  const shapes = steps === 0 ? [] : shapesOf(own, number, Math.min(SHOWN_RANKS, worldSize));
  return {
    samples: lengths.length,
    longest,
    room,
    tooLong,
    tooLongPolicy: member(question.batches, 'batch.too_long'),
    worldSize,
    histogram: histogramOf(lengths, longest),
    compared,
    steps,
    shapes,
    costs: costsOf(own, steps, worldSize),
  };
}

/** The component counts the samples that are too long: those that it would leave out. */
function tooLongOf(
  recipe: string,
  lengths: Float64Array,
  longest: number,
  plan: (recipe: string) => Batcher,
): BatchesAnswer['tooLong'] {
  const limit = limitOf(recipe);
  if (limit !== undefined && longest <= limit) return { count: 0, limit };
  const count = plan(withBatch(recipe, { too_long: 'drop' })).metrics().tooLong;
  if (count > 0 && member(recipe, 'batch.too_long').replace('error', '') === '')
    throw new PageError(
      'too-long',
      `${grouped(count)} of ${counted(lengths.length, 'sample')} ${count === 1 ? 'is' : 'are'} longer than ${limit === undefined ? 'the budget' : counted(limit, 'token')}: the longest has ${grouped(longest)}. Choose what happens to samples that are too long`,
    );
  return { count, limit };
}

function shapesOf(batcher: Batcher, step: number | bigint, ranks: number): Shape[] {
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

function costsOf(batcher: Batcher, steps: number, worldSize: number): BatchesAnswer['costs'] {
  const ranks = Math.min(worldSize, 64);
  const count = Math.min(steps, Math.max(1, Math.floor(COSTS / ranks)), 200);
  return Array.from({ length: count }, (_, at) => {
    const step = Math.floor((at * steps) / count);
    const costs = Array.from({ length: ranks }, (_, rank) => Number(batcher.batch(step, rank).cost));
    const most = Math.max(...costs);
    return { step, least: Math.min(...costs), most, slowest: costs.indexOf(most) };
  });
}

function histogramOf(lengths: Float64Array, longest: number): BatchesAnswer['histogram'] {
  const bins = Math.min(BINS, longest);
  const width = Math.ceil((longest + 1) / bins);
  const counts = new Array<number>(bins).fill(0);
  for (const length of lengths) {
    const bin = Math.floor(length / width);
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return counts.map((count, bin) => ({ from: bin * width, to: (bin + 1) * width - 1, count }));
}
