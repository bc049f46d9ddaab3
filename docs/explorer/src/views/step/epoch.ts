import { integer, samplerOf } from '../../engine/samplers.ts';
import type { StepQuestion } from './compute.ts';

export type EpochQuestion = Pick<StepQuestion, 'recipe' | 'epoch' | 'batch' | 'drop' | 'state'>;

/** What a rank reads in an epoch. The padding of a rank comes last. */
export interface EpochRank {
  rank: number;
  samples: number;
  padding: number;
  /** Number of its samples that the run of the state had seen: its first ones. Undefined without a state of this order. */
  seen?: number | undefined;
}

export interface EpochAnswer {
  epoch: string;
  worldSize: number;
  steps: number;
  batchSize: number;
  /** Every so-many-th rank is in the list. */
  stride: number;
  ranks: EpochRank[];
}

/** The largest number of ranks that are drawn, because a rank is a line of some pixels. */
const MOST_RANKS = 32;
/** The largest number of positions after the state that are looked at. */
const MOST_POSITIONS = 1 << 14;

/** An epoch as its ranks read it. The cost does not depend on the number of samples. */
export function epochRanks(question: EpochQuestion): EpochAnswer {
  const sampler = samplerOf(question.recipe, integer(question.epoch));
  const { worldSize } = sampler;
  const size = integer(question.batch);
  sampler.setRank(0);
  const steps = sampler.numBatches(size, { dropLast: question.drop });
  const stride = Math.ceil(worldSize / MOST_RANKS);
  const drawn = Array.from({ length: Math.ceil(worldSize / stride) }, (_, at) => at * stride);
  const seenOf = seenBy(question, drawn);
  const ranks = drawn.map((rank) => {
    sampler.setRank(rank);
    const { length: samples, numPadding: padding } = sampler;
    return { rank, samples, padding, seen: seenOf?.(rank, samples - padding) };
  });
  return { epoch: question.epoch, worldSize, steps, batchSize: Number(size), stride, ranks };
}

/** How many samples of a rank, which has `own` ones without padding, the run of the state had seen. */
type SeenOf = (rank: number, own: number) => number;

/** Undefined if there is no state, or one of another order. */
function seenBy({ recipe, epoch, state }: EpochQuestion, drawn: readonly number[]): SeenOf | undefined {
  if (state === '') return undefined;
  let rest: ReturnType<typeof samplerOf>;
  try {
    rest = samplerOf(recipe, 0, state);
  } catch {
    return undefined;
  }
  const away = BigInt(integer(epoch)) - BigInt(rest.epoch);
  const { consumed } = rest;
  const sampler = samplerOf(recipe, integer(epoch));
  // An earlier epoch was read as a whole, and a later one not at all.
  if (away < 0n || (away === 0n && consumed >= sampler.epochLength)) return (_, own) => own;
  if (away > 0n) return () => 0;
  // The first sample of each rank that the run had not seen is at the first position of this rank after the state.
  const next = new Map<number, number>();
  const first = sampler.placeOf(consumed, 1);
  const wanted = new Set(drawn);
  const end = Math.min(sampler.epochLength, consumed + MOST_POSITIONS * sampler.unit);
  for (let position = consumed; position < end && wanted.size > 0; position += sampler.unit) {
    const { rank, indexInRank } = position === consumed ? first : sampler.placeOf(position, 1);
    if (wanted.delete(rank)) next.set(rank, indexInRank);
    // A rank has one run of positions: the ranks after this one begin later.
    if (sampler.layout === 'contiguous') break;
  }
  if (sampler.layout === 'contiguous')
    return (rank, own) => (rank < first.rank ? own : (next.get(rank) ?? (rank === first.rank ? first.indexInRank : 0)));
  // With more ranks than positions were looked at, the others are at the same step within one sample.
  return (rank, own) => next.get(rank) ?? (end < sampler.epochLength ? first.indexInRank : own);
}
