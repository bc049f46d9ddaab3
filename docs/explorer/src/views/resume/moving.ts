import { integer, samplerOf } from '../../engine/samplers.ts';
import { edited } from '../../parts/json.ts';

/** The samples after a stop: who reads them if the ranks stay, and who reads them on other ranks. */
export interface MovingQuestion {
  recipe: string;
  epoch: string;
  batch: string;
  /** The state at the stop, the ranks before it, and the ranks that go on. */
  state: string;
  before: number;
  after: string;
}

export interface Moved {
  sample: number;
  /** The rank that would read the sample without a change, the rank that reads it now, and its number among the next samples of this rank. */
  before: number;
  rank: number;
  index: number;
}

export interface MovingAnswer {
  worldSize: number;
  /** Steps that these ranks have left in the epoch. */
  steps: number;
  cells: Moved[];
}

/** The largest number of samples that are shown: more cells would be too small to follow. */
const MOST = 96;

export function moving({ recipe, epoch, batch, state, before, after }: MovingQuestion): MovingAnswer {
  const size = integer(batch);
  const on = (ranks: string) => samplerOf(edited(recipe, 'deal.world_size', ranks), integer(epoch), state);
  const [old, now] = [on(String(before)), on(after)];
  now.setRank(0);
  const from = now.consumed;
  const count = Math.max(0, Math.min(MOST, now.numPositions, now.epochLength - from, old.numPositions));
  const cells = Array.from({ length: count }, (_, at): Moved => {
    const { rank, indexInRank } = now.placeOf(from + at, size);
    return { sample: now.sampleAt(from + at), before: old.placeOf(from + at, size).rank, rank, index: indexInRank };
  });
  return { worldSize: now.worldSize, steps: now.numBatches(size), cells };
}
