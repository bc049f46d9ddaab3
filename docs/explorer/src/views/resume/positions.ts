import { integer, samplerOf } from '../../engine/samplers.ts';
import { type Members, parsed } from '../../parts/json.ts';
import type { Count, Part, ResumeQuestion } from './compute.ts';

/** A run of positions that one part saw, that several parts saw, or that none saw. */
export interface Segment {
  from: number;
  to: number;
  /**
   * The number of the part. It is the number of parts if several parts saw these positions, and one more if none did.
   */
  which: number;
}

/** The positions that a part reads, and how many samples all of its ranks read together. */
interface Run {
  from: number;
  to: number;
  reads: number;
}

/**
 * The positions that a run with states sees. Positions can be counted for an epoch of any size, where samples cannot be
 * counted one by one.
 */
export function ownByPosition(recipe: string, parts: readonly Part[], positions: number): Count {
  const document = parsed(recipe) as { deal?: Members };
  // With the remainder `uneven`, all ranks together read every position once.
  const isUneven = document.deal?.remainder === 'uneven';
  const runs = parts.map(({ from, to, samples, worldSize }) => {
    const reads = isUneven ? to - from : samples * worldSize;
    return { from, to: Math.min(to, from + reads), reads };
  });
  return seen(runs, positions);
}

/**
 * The positions that loaders see if they resume torch's `DistributedSampler`. This sampler has no state, so loaders
 * skip as many samples of every rank as each rank had read. torchdata's `StatefulDistributedSampler` skips samples in
 * this way, and Accelerate's `skip_first_batches` skips batches. The seed does not change how often a position is read,
 * so positions are counted in an order without a shuffle, which can have any size.
 */
export function torchByPosition(question: ResumeQuestion, parts: readonly Part[]): Count {
  const epoch = integer(question.epoch);
  const { datasetSize } = samplerOf(question.recipe, epoch);
  let skip = 0;
  const runs = parts.map(({ worldSize, taken }, at): Run => {
    const order = { name: 'sequential', samples: datasetSize };
    const sampler = samplerOf(JSON.stringify({ order, deal: { world_size: worldSize } }), epoch);
    sampler.setRank(0);
    const consumed = (number: number) => Number((parsed(sampler.state(number)) as Members).consumed);
    const isLast = at === parts.length - 1;
    const first = Math.min(skip, sampler.length);
    skip += taken * Number(integer(question.batch));
    const last = isLast ? sampler.length : Math.min(skip, sampler.length);
    return { from: consumed(first), to: consumed(last), reads: (last - first) * worldSize };
  });
  return seen(runs, datasetSize);
}

/** How often the runs read each position. A run that reads more samples than it has positions reads padding. */
function seen(runs: readonly Run[], positions: number): Count {
  const edges = [0, positions, ...runs.flatMap(({ from, to }) => [from, to])].sort((a, b) => a - b);
  const segments: Segment[] = [];
  const result = { once: 0, twice: 0, never: 0 };
  for (const [at, from] of edges.slice(0, -1).entries()) {
    const to = edges[at + 1] as number;
    if (from === to) continue;
    const by = [...runs.keys()].filter((run) => (runs[run] as Run).from <= from && (runs[run] as Run).to >= to);
    segments.push({
      from,
      to,
      which: by.length === 1 ? (by[0] as number) : by.length > 1 ? runs.length : runs.length + 1,
    });
    result[by.length === 1 ? 'once' : by.length > 1 ? 'twice' : 'never'] += to - from;
  }
  const padding = runs.reduce((sum, { from, to, reads }) => sum + reads - (to - from), 0);
  return { ...result, padding, pieces: [], segments };
}
