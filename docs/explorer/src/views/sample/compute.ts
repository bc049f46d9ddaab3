import type { Sampler } from 'samedeal/web';
import { PageError } from '../../engine/answer.ts';
import { integer, samplerOf } from '../../engine/samplers.ts';
import { digitsOfEach } from '../../parts/number.ts';

export interface SampleQuestion {
  recipe: string;
  /** The first epoch, and the number of epochs. */
  epoch: string;
  epochs: string;
  batch: string;
  /** One sample index, or several with spaces between them. */
  samples: string;
  /** The state of a checkpoint, or nothing. */
  state: string;
}

/** A place where a sample is seen. */
export interface Seen {
  sample: number;
  epoch: string;
  position: number;
  rank: number;
  step: number;
  indexInBatch: number;
}

/**
 * The status of a sample at a checkpoint. `both`: the epoch has the sample several times; the run had seen it, and it
 * comes again.
 */
export interface Verdict {
  sample: number;
  is: 'seen' | 'upcoming' | 'both' | 'dropped';
  /** The first position of the sample in the epoch. */
  position: number | null;
}

/** The progress of a run when it wrote its state. */
export interface Progress {
  epoch: string;
  consumed: number;
  positions: number;
}

export interface SampleAnswer {
  samples: number[];
  epochs: string[];
  steps: number;
  places: Seen[];
  /** Samples that an epoch does not have, or has more often than is shown. */
  missing: { sample: number; epoch: string }[];
  checkpoint: (Progress & { verdicts: Verdict[] }) | null;
}

/** The most samples, epochs, and places of a sample in an epoch that fit on a screen. */
const MOST_SAMPLES = 8;
const MOST_EPOCHS = 64;
const MOST_PLACES = 32;

/** When and on which rank samples are seen, epoch by epoch. */
export function sample(question: SampleQuestion): SampleAnswer {
  const size = integer(question.batch);
  const first = BigInt(integer(question.epoch));
  const count = Math.max(1, Math.min(MOST_EPOCHS, Number(integer(question.epochs)) || 1));
  // A sample that was entered twice is shown once.
  const samples = [...new Set(digitsOfEach(question.samples))].slice(0, MOST_SAMPLES).map((text) => {
    if (text.includes(','))
      throw new PageError('sample', `sample is ${text}; commas group thousands: separate samples by spaces`);
    return integer(text) as number;
  });
  const answer: SampleAnswer = { samples, epochs: [], steps: 0, places: [], missing: [], checkpoint: null };
  for (let at = 0n; at < count; at++) {
    const epoch = String(first + at);
    answer.epochs.push(epoch);
    const sampler = samplerOf(question.recipe, first + at);
    sampler.setRank(0);
    answer.steps = Math.max(answer.steps, sampler.numBatches(size));
    for (const each of samples) {
      const found = placesOf(sampler, each, size, epoch);
      answer.places.push(...found);
      if (found.length === 0) answer.missing.push({ sample: each, epoch });
    }
  }
  if (question.state) answer.checkpoint = checkpoint(question, samples, size);
  return answer;
}

function placesOf(sampler: Sampler, sample: number, size: number | bigint, epoch: string): Seen[] {
  const { places, numPadding } = sampler.fate(sample, size);
  return places
    .slice(0, Math.min(MOST_PLACES, places.length - numPadding))
    .map(({ position, rank, batch: step, indexInBatch }) => ({ sample, epoch, position, rank, step, indexInBatch }));
}

/**
 * The progress of the run when it wrote this state. It needs no sample, so it is shown even if a sample index is wrong.
 */
export function progress({ recipe, state }: Pick<SampleQuestion, 'recipe' | 'state'>): Progress | null {
  if (!state) return null;
  const { epoch, consumed, epochLength } = samplerOf(recipe, 0, state);
  return { epoch: String(epoch), consumed, positions: epochLength };
}

/**
 * Whether the run that wrote this state had seen the samples in its epoch. A sampler that resumed the state only finds
 * places that are still to come; `before` finds the earlier ones.
 */
function checkpoint(
  { recipe, state }: SampleQuestion,
  samples: number[],
  size: number | bigint,
): SampleAnswer['checkpoint'] {
  const rest = samplerOf(recipe, 0, state);
  const { epoch, consumed, epochLength: positions } = rest;
  const verdicts = samples.map((sample) => {
    const { status, before, places, numPadding } = rest.fate(sample, size);
    const isToCome = places.length > numPadding;
    const is = status === 'seen' ? (isToCome ? 'both' : 'seen') : isToCome ? 'upcoming' : 'dropped';
    return { sample, is, position: before[0] ?? places[0]?.position ?? null } satisfies Verdict;
  });
  return { epoch: String(epoch), consumed, positions, verdicts };
}
