import { PageError } from '../../engine/answer.ts';
import { integer, samplerOf } from '../../engine/samplers.ts';
import { edited } from '../../parts/json.ts';
import { listed } from '../../parts/text.ts';
import { ownByPosition, type Segment, torchByPosition } from './positions.ts';

export interface ResumeQuestion {
  recipe: string;
  epoch: string;
  batch: string;
  /** The world size of each part of the epoch, and the number of steps of each part except for the last one. */
  worlds: string;
  taken: string;
}

/** A part of the epoch that was read by one number of ranks. */
export interface Part {
  worldSize: number;
  /** The steps of this part, and the steps that are left of the epoch at its beginning. */
  taken: number;
  steps: number;
  /** Samples of each rank in these steps. */
  samples: number;
  /** The first position of this part, and the position after its last one. */
  from: number;
  to: number;
  /** The state at the beginning of this part; empty for the first part. */
  state: string;
}

/** How often the samples of an epoch were seen. */
export interface Count {
  once: number;
  /** Number of samples that two parts saw, or one part twice, without padding. */
  twice: number;
  never: number;
  /** Number of samples that were repeated at the end, so that all ranks have as many steps. */
  padding: number;
  /** For each piece of the epoch, in the order of positions: how many of its samples each part saw; then those seen twice, and never. */
  pieces: number[][];
  /** The runs of positions that each part saw, if samples were not counted one by one. */
  segments: Segment[];
}

export interface ResumeAnswer {
  positions: number;
  parts: Part[];
  /** The largest number of samples that are counted one by one. With more samples, positions are counted instead. */
  most: number;
  /** Number of given stops that belong to no part. */
  unused: number;
  own: Count;
  torch: Count;
}

const MOST_PARTS = 6;
/** The largest number of samples that are counted one by one, which takes a tenth of a second. */
const MOST_COUNTED = 1 << 21;
const PIECES = 160;

/**
 * An epoch that begins on one number of ranks and ends on others: once with states, and once as torch's sampler
 * resumes.
 */
export function resume(question: ResumeQuestion): ResumeAnswer {
  const worlds = listed(question.worlds);
  if (worlds.length > MOST_PARTS)
    throw new PageError('world_size', `${worlds.length} world sizes; allowed: 1 to ${MOST_PARTS}`);
  const taken = listed(question.taken);
  if (worlds.length === 0) throw new PageError('world_size', 'Enter at least one world size');
  const epoch = integer(question.epoch);
  const size = integer(question.batch);
  const parts: Part[] = [];
  const runs: Run[] = [];
  let state = '';
  for (const [at, world] of worlds.entries()) {
    const recipe = edited(question.recipe, 'deal.world_size', world);
    const sampler = samplerOf(recipe, epoch, state);
    sampler.setRank(0);
    const { length, consumed: from, epochLength } = sampler;
    const steps = sampler.numBatches(size);
    const isLast = at === worlds.length - 1;
    const stop = taken[at];
    if (!isLast && stop === undefined) {
      const missing = `part ${at + 1}, on ${world} ranks, has no stop`;
      throw new PageError('taken', `${missing}: enter after how many steps it stops, 0 to ${steps}`);
    }
    const wanted = isLast ? steps : Number(integer(stop ?? ''));
    if (!isLast && !(wanted >= 0 && wanted <= steps)) {
      throw new PageError('taken', `${wanted} steps on ${world} ranks; allowed: 0 to ${steps}`);
    }
    const number = Math.min(wanted * Number(size), length);
    const next = isLast ? '' : sampler.state(number);
    const to = isLast ? epochLength : samplerOf(recipe, epoch, next).consumed;
    parts.push({ worldSize: sampler.worldSize, taken: wanted, steps, samples: number, from, to, state });
    runs.push({ recipe, state, take: isLast ? Number.POSITIVE_INFINITY : number });
    state = next;
  }
  const whole = samplerOf(question.recipe, epoch);
  const positions = whole.epochLength;
  const isCounted = whole.datasetSize <= MOST_COUNTED && positions <= MOST_COUNTED;
  return {
    positions,
    parts,
    most: MOST_COUNTED,
    unused: Math.max(0, taken.length - worlds.length + 1),
    own: isCounted
      ? count(runs, epoch, edited(question.recipe, 'deal.world_size', '1'))
      : ownByPosition(whole.recipe, parts, positions),
    torch: torchByPosition(question, parts),
  };
}

/** The samples that every rank of a part reads: its first `take` samples. */
interface Run {
  recipe: string;
  state: string;
  take: number;
}

/** Reads all parts of an epoch and counts how often each sample is seen. `whole` has the order of positions, on one rank. */
function count(runs: readonly Run[], epoch: number | bigint, whole: string): Count {
  const all = samplerOf(whole, epoch);
  all.setRank(0);
  const order = all.indices();
  const seen = new Uint8Array(all.datasetSize);
  // For each sample, the number of the part that saw it last, counted from 1.
  const by = new Uint8Array(all.datasetSize);
  // For each sample, how often the order has it in the epoch: some orders repeat samples.
  const due = new Uint8Array(all.datasetSize);
  for (const sample of order) due[sample] = (due[sample] ?? 0) + 1;
  let padding = 0;
  for (const [at, { recipe, state, take }] of runs.entries()) {
    const sampler = samplerOf(recipe, epoch, state);
    for (let rank = 0; rank < sampler.worldSize; rank++) {
      sampler.setRank(rank);
      const end = Math.min(take, sampler.length);
      const own = Math.min(end, sampler.length - sampler.numPadding);
      padding += end - own;
      for (const sample of sampler.indices(0, own)) {
        seen[sample] = (seen[sample] ?? 0) + 1;
        by[sample] = at + 1;
      }
    }
    sampler.setRank(0);
  }
  const pieces = Array.from({ length: Math.min(PIECES, Math.max(1, order.length)) }, () =>
    new Array(runs.length + 2).fill(0),
  );
  const result: Count = { once: 0, twice: 0, never: 0, padding, pieces, segments: [] };
  for (const [position, sample] of order.entries()) {
    const piece = pieces[Math.floor((position * pieces.length) / order.length)] as number[];
    const [times = 0, expected = 0] = [seen[sample], due[sample]];
    const which = times === 0 ? runs.length + 1 : times > expected ? runs.length : (by[sample] as number) - 1;
    piece[which] = (piece[which] as number) + 1;
    if (times === 0) result.never += 1;
    else if (times > expected) result.twice += 1;
    else result.once += 1;
  }
  return result;
}
