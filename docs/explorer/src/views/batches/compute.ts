import { Batcher } from 'samedeal/web';
import { PageError } from '../../engine/answer.ts';
import { columnLengths, opened } from '../../engine/files.ts';
import { integer } from '../../engine/samplers.ts';
import { unshelved } from '../../engine/shelf.ts';
import { EXAMPLES, type Example, example } from './lengths.ts';
import { roomOf, STRATEGIES, strategyOf, withRoom } from './strategies.ts';

export interface BatchesQuestion {
  batches: string;
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
  utilisation: number;
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
  room: number;
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
  const room = roomOf(question.batches, longest);
  const chosen = strategyOf(question.batches);
  const own = batcherOf(question.batches, question.lengths, lengths, epoch);
  const compared = STRATEGIES.map((strategy): Compared => {
    const isChosen = strategy === chosen;
    const recipe = isChosen ? question.batches : withRoom(question.batches, strategy, room, longest);
    const none = { strategy, isChosen, recipe, steps: 0, rows: 0, padding: 0, utilisation: 0, slowest: 0 };
    try {
      const batcher = isChosen ? own : batcherOf(recipe, question.lengths, lengths, epoch);
      const { steps, rows, paddingRatio, budgetUtilisation, slowestRankUtilisation } = batcher.metrics();
      const ratios = { padding: paddingRatio, utilisation: budgetUtilisation, slowest: slowestRankUtilisation };
      return { ...none, steps, rows, ...ratios, problem: '' };
    } catch (error) {
      return { ...none, problem: (error as Error).message };
    }
  });
  const steps = own.numSteps;
  const number = integer(question.step);
  const { worldSize } = own.config;
  const shapes = steps === 0 ? [] : shapesOf(own, number, Math.min(SHOWN_RANKS, Number(worldSize)));
  return {
    samples: lengths.length,
    longest,
    room,
    worldSize: Number(worldSize),
    histogram: histogramOf(lengths, longest),
    compared,
    steps,
    shapes,
    costs: costsOf(own, steps, Number(worldSize)),
  };
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
