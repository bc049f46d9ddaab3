import { Sampler } from 'samedeal/light';
import { PageError } from '../../engine/answer.ts';
import { digits } from '../../parts/number.ts';
import { ShuffleBuffer } from '../mix/buffer.ts';
import { recipeOf, STORY } from './story.ts';

/** Samples of a rank in a step, one after the other: seen for the first time, read before, or padding. */
export interface Run {
  kind: 'new' | 'again' | 'padding';
  count: number;
}

/** A step on all ranks of a part of the epoch. */
export interface Column {
  part: number;
  ranks: Run[][];
}

/** The samples that a run with one sampler read, step by step, and how often it saw the samples of the epoch. */
export interface Stripe {
  columns: Column[];
  once: number;
  /** Number of samples that were seen twice or more, without padding. */
  twice: number;
  never: number;
  padding: number;
}

export interface StoryAnswer {
  /** The steps of each part except for the last one. */
  taken: number[];
  own: Stripe;
  torch: Stripe;
}

/** A part of the run: its sampler, and the samples of a rank at which it begins and ends. */
interface Part {
  sampler: Sampler;
  from: number;
  to: number;
}

/**
 * The epoch of the first view, if ranks are lost after `loss` steps: with states of samedeal, and with torch's sampler.
 */
export function story({ loss }: { loss: string }): StoryAnswer {
  const { worlds, batch, least, most } = STORY;
  const first = Number(digits(loss));
  if (!(Number.isInteger(first) && first >= least && first <= most))
    throw new PageError('loss', `the step of the loss is ${loss}; allowed: ${least} to ${most}`);
  const taken: number[] = [];
  const own: Part[] = [];
  let state = '';
  for (const [at, worldSize] of worlds.entries()) {
    const sampler = Sampler.fromRecipe(recipeOf('feistel', worldSize));
    if (state) sampler.resume(state);
    const steps = sampler.numBatches(batch);
    const isLast = at === worlds.length - 1;
    const steps_ = isLast ? steps : at === 0 ? first : Math.max(0, Math.min(STORY.second, steps - 1));
    const to = Math.min(steps_ * batch, sampler.length);
    own.push({ sampler, from: 0, to });
    if (isLast) break;
    taken.push(steps_);
    state = sampler.state(to);
  }
  // torch's sampler has no state. A loader that resumes skips as many samples of every rank as each rank had read.
  let skip = 0;
  const torch = worlds.map((worldSize, at): Part => {
    const sampler = Sampler.fromRecipe(recipeOf('torch', worldSize));
    const from = Math.min(skip, sampler.length);
    skip += (taken[at] ?? 0) * batch;
    return { sampler, from, to: at < taken.length ? Math.min(skip, sampler.length) : sampler.length };
  });
  return { taken, own: stripe(own), torch: stripe(torch) };
}

/** Reads the parts of an epoch, and disposes of their samplers. */
function stripe(parts: readonly Part[]): Stripe {
  const { batch, order } = STORY;
  const seen = new Uint8Array(order.samples);
  const columns: Column[] = [];
  let padding = 0;
  for (const [part, { sampler, from, to }] of parts.entries()) {
    const ranks = Array.from({ length: sampler.worldSize }, (_, rank) => {
      sampler.setRank(rank);
      return { samples: sampler.indices(), own: sampler.length - sampler.numPadding };
    });
    for (let at = from; at < to; at += batch) {
      const read = ranks.map(({ samples, own }) => {
        const runs: Run[] = [];
        for (let index = at; index < Math.min(at + batch, to, samples.length); index++) {
          const sample = samples[index] as number;
          const kind = index >= own ? 'padding' : seen[sample] ? 'again' : 'new';
          if (kind === 'padding') padding += 1;
          else seen[sample] = (seen[sample] as number) + 1;
          const last = runs.at(-1);
          if (last?.kind === kind) last.count += 1;
          else runs.push({ kind, count: 1 });
        }
        return runs;
      });
      columns.push({ part, ranks: read });
    }
    sampler.dispose();
  }
  const count = (which: (times: number) => boolean) => seen.reduce((sum, times) => sum + (which(times) ? 1 : 0), 0);
  return {
    columns,
    once: count((times) => times === 1),
    twice: count((times) => times > 1),
    never: count((times) => times === 0),
    padding,
  };
}

/** The files of the samples in every batch. */
export interface Mixed {
  /** For each batch, the share of each file. */
  shares: number[][];
  /** The mean number of files from which a batch has samples. */
  files: number;
}

export interface BufferedAnswer {
  own: Mixed;
  buffer: Mixed;
}

/** The files in the batches of one rank: in the order of samedeal, and of a shuffle buffer that reads file after file. */
export function buffered(_question: Record<never, never>): BufferedAnswer {
  const { order, batch, files, buffer } = STORY;
  const sampler = Sampler.fromRecipe(recipeOf('feistel', 1));
  const stream = new ShuffleBuffer(order.samples, buffer, order.seed);
  const batches = Math.floor(order.samples / batch);
  const mixed = (read: (number: number) => ArrayLike<number>): Mixed => {
    let held = 0;
    const shares = Array.from({ length: batches }, (_, number) => {
      const counts = new Array<number>(files).fill(0);
      for (const sample of Array.from(read(number))) {
        const file = Math.floor((sample * files) / order.samples);
        counts[file] = (counts[file] as number) + 1;
      }
      held += counts.filter((count) => count > 0).length;
      return counts.map((count) => count / batch);
    });
    return { shares, files: held / batches };
  };
  const answer = {
    own: mixed((number) => sampler.batch(number, batch)),
    buffer: mixed((number) => stream.slice(number * batch, number * batch + batch)),
  };
  sampler.dispose();
  return answer;
}
