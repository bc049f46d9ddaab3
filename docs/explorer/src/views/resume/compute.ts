import { PageError } from '../../engine/answer.ts';
import { integer, samplerOf } from '../../engine/samplers.ts';
import { edited, isObject, parsed } from '../../parts/json.ts';

export interface ResumeQuestion {
  recipe: string;
  epoch: string;
  batch: string;
  /** The world size of each part of the epoch, and the steps that each of them but the last one does. */
  worlds: string;
  taken: string;
}

/** A part of the epoch that was read by one number of ranks. */
export interface Part {
  worldSize: number;
  /** Steps that it does, of those that there are. */
  taken: number;
  steps: number;
  /** Samples of each rank in these steps. */
  samples: number;
  /** The positions that it reads. */
  from: number;
  to: number;
  /** The state at its beginning; the first part has none. */
  state: string;
}

/** What became of the samples of an epoch, counted one by one. */
export interface Count {
  once: number;
  /** Seen by two parts, or twice by one, without padding. */
  twice: number;
  never: number;
  /** Repeated at the end, so that ranks have equal numbers of steps. */
  padding: number;
  /** For each piece of the epoch, in the order of positions: how many of its samples each part saw; then those seen twice, and never. */
  pieces: number[][];
}

export interface ResumeAnswer {
  positions: number;
  parts: Part[];
  /** So many samples are counted. */
  most: number;
  /** How many stops were given that no part has. */
  unused: number;
  /** None of them if there are too many samples to count. */
  own: Count | null;
  torch: Count | null;
}

const MOST_PARTS = 6;
/** Counting takes a tenth of a second for so many. */
const MOST_COUNTED = 1 << 21;
const PIECES = 160;

/** An epoch that is begun on one number of ranks and finished on others: with states, and as torch's sampler does it. */
export function resume(question: ResumeQuestion): ResumeAnswer {
  const worlds = listed(question.worlds);
  if (worlds.length > MOST_PARTS)
    throw new PageError('world-size', `${worlds.length} world sizes; allowed: 1 to ${MOST_PARTS}`);
  const taken = listed(question.taken);
  if (worlds.length === 0) throw new PageError('world-size', 'Enter at least one world size');
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
    runs.push({ recipe, state, skip: 0, take: isLast ? Number.POSITIVE_INFINITY : number });
    state = next;
  }
  const whole = samplerOf(question.recipe, epoch);
  const positions = whole.epochLength;
  const counts = whole.samples <= MOST_COUNTED && positions <= MOST_COUNTED;
  return {
    positions,
    parts,
    most: MOST_COUNTED,
    unused: Math.max(0, taken.length - worlds.length + 1),
    own: counts ? count(runs, epoch, edited(question.recipe, 'deal.world_size', '1')) : null,
    torch: counts ? torch(question, epoch, parts, Number(size)) : null,
  };
}

/** What every rank of a part reads: of its own samples, `take` after the first `skip` ones. */
interface Run {
  recipe: string;
  state: string;
  skip: number;
  take: number;
}

/**
 * torch's `DistributedSampler` has no state. Loaders that resume it skip as many samples of every rank as each had read: torchdata's
 * `StatefulDistributedSampler` does so, and Accelerate's `skip_first_batches` by batches. The list of a rank depends on the number of ranks.
 */
function torch(question: ResumeQuestion, epoch: number | bigint, parts: Part[], size: number): Count {
  const document = parsed(question.recipe);
  const order = isObject(document) && isObject(document.order) ? document.order : {};
  const seed = order.seed ?? 0;
  let skip = 0;
  const samples = samplerOf(question.recipe, epoch).samples;
  const recipe = JSON.stringify({ order: { name: 'torch', samples, seed }, deal: { world_size: 1 } });
  const runs = parts.map(({ worldSize, taken }, at) => {
    const take = at === parts.length - 1 ? Number.POSITIVE_INFINITY : taken * size;
    const run = { recipe: edited(recipe, 'deal.world_size', String(worldSize)), state: '', skip, take };
    skip += take;
    return run;
  });
  return count(runs, epoch, recipe);
}

/** Reads all parts of an epoch and counts how often each sample is seen. `whole` has the order of positions, on one rank. */
function count(runs: readonly Run[], epoch: number | bigint, whole: string): Count {
  const all = samplerOf(whole, epoch);
  all.setRank(0);
  const order = all.indices();
  const seen = new Uint8Array(all.samples);
  // Which part saw a sample last, from 1.
  const by = new Uint8Array(all.samples);
  // Some orders have a sample several times in an epoch.
  const due = new Uint8Array(all.samples);
  for (const sample of order) due[sample] = (due[sample] ?? 0) + 1;
  let padding = 0;
  for (const [at, { recipe, state, skip, take }] of runs.entries()) {
    const sampler = samplerOf(recipe, epoch, state);
    for (let rank = 0; rank < sampler.worldSize; rank++) {
      sampler.setRank(rank);
      const [start, end] = [Math.min(skip, sampler.length), Math.min(skip + take, sampler.length)];
      const own = Math.max(start, Math.min(end, sampler.length - sampler.numPadding));
      padding += end - own;
      for (const sample of sampler.indices(start, own)) {
        seen[sample] = (seen[sample] ?? 0) + 1;
        by[sample] = at + 1;
      }
    }
    sampler.setRank(0);
  }
  const pieces = Array.from({ length: Math.min(PIECES, Math.max(1, order.length)) }, () =>
    new Array(runs.length + 2).fill(0),
  );
  const result: Count = { once: 0, twice: 0, never: 0, padding, pieces };
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

const listed = (text: string): string[] => text.split(/[,;\s]+/).filter(Boolean);
