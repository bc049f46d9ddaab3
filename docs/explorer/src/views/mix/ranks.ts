import { integer, samplerOf } from '../../engine/samplers.ts';
import { type DriftQuestion, Weights } from './drift.ts';

/** The samples of each source on one rank, and their distance from the shares by weight. */
export interface RankDrift {
  rank: number;
  samples: number;
  counts: number[];
  /** For each source, the farthest drift after any sample of the rank, in samples. */
  farthest: number[];
}

export interface RankDriftAnswer {
  names: string[];
  worldSize: number;
  /** The positions that were looked at, one by one. */
  from: number;
  to: number;
  ranks: RankDrift[];
  /** Whether each of W ranks takes every W-th position. */
  isStrided: boolean;
  /**
   * A rank whose share of a source cannot be explained by chance; otherwise null. Gradients that are averaged over
   * ranks do not show such a share, but metrics of one rank do.
   */
  unlike: { rank: number; source: number; share: number; asked: number } | null;
  /**
   * The rank and the source with the largest drift. Equally many random draws hardly ever drift by more than `chance`.
   */
  worst: { rank: number; source: number; drift: number; chance: number } | null;
}

/** The largest number of positions that are asked for one by one. */
const POSITIONS = 16_384;
/**
 * The largest number of ranks that have a row. If there are more ranks, those with the largest drift have rows, sorted
 * by their drift.
 */
const RANKS = 64;

/** The drift of every rank, counted from the beginning of a part of the epoch, over the positions of the rank. */
export function rankDrift(question: DriftQuestion): RankDriftAnswer {
  const epoch = integer(question.epoch);
  const sampler = samplerOf(question.recipe, epoch);
  const [names, length] = [sampler.sources, sampler.epochLength];
  const weights = new Weights(sampler.recipe, BigInt(epoch), length);
  const from = Math.min(question.from, Math.max(0, length - 1));
  const to = Math.min(question.to > from ? Math.min(question.to, length) : length, from + POSITIONS);
  const found = new Map<number, RankDrift & { asked: number[] }>();
  // Dropped positions belong to no rank.
  const end = Math.min(to, length - sampler.numDropped);
  for (let position = from; weights.isSteady && position < end; position++) {
    const { rank } = sampler.placeOf(position, 1);
    let own = found.get(rank);
    if (!own) {
      const none = () => names.map(() => 0);
      own = { rank, samples: 0, counts: none(), farthest: none(), asked: none() };
      found.set(rank, own);
    }
    const { count } = sampler.sourceCounts(position, position + 1);
    own.samples += 1;
    for (const source of names.keys()) {
      own.counts[source] = (own.counts[source] as number) + (count[source] as number);
      own.asked[source] = (own.asked[source] as number) + weights.share(source, position);
      const drift = (own.counts[source] as number) - (own.asked[source] as number);
      if (Math.abs(drift) > Math.abs(own.farthest[source] as number)) own.farthest[source] = drift;
    }
  }
  const largest = ({ farthest }: RankDrift) => Math.max(...farthest.map(Math.abs));
  const { layout } = JSON.parse(sampler.recipe).deal;
  const unlike = farFromChance([...found.values()]);
  const ranks = [...found.values()]
    .map(({ asked: _, ...rank }) => rank)
    .sort((a, b) => largest(b) - largest(a) || a.rank - b.rank);
  const [first] = ranks;
  const source = first ? first.farthest.findIndex((drift) => Math.abs(drift) === largest(first)) : 0;
  const share = first ? (found.get(first.rank)?.asked[source] ?? 0) / first.samples : 0;
  return {
    names,
    worldSize: sampler.worldSize,
    from,
    to: end,
    isStrided: layout === 'strided',
    unlike,
    ranks: ranks.length > RANKS ? ranks.slice(0, RANKS) : ranks.sort((a, b) => a.rank - b.rank),
    worst: first
      ? {
          rank: first.rank,
          source,
          drift: first.farthest[source] as number,
          chance: FAR * Math.sqrt(first.samples * share * (1 - share)),
        }
      : null,
  };
}

/**
 * The drift in standard deviations from which on chance does not explain it: among a million ranks of random samples,
 * no source drifts so far.
 */
const FAR = 5;

/** The rank and the source that differ most from random draws, if they differ by more than `FAR`; else null. */
function farFromChance(ranks: (RankDrift & { asked: number[] })[]): RankDriftAnswer['unlike'] {
  let [found, most]: [RankDriftAnswer['unlike'], number] = [null, FAR];
  for (const { rank, samples, counts, asked } of ranks) {
    for (const [source, expected] of asked.entries()) {
      const share = expected / samples;
      const count = counts[source] as number;
      const far = Math.abs(count - expected) / Math.sqrt(samples * share * (1 - share));
      if (far > most) [found, most] = [{ rank, source, share: count / samples, asked: share }, far];
    }
  }
  return found;
}
