import { Reading } from 'samedeal/web';
import { besides, integer } from '../../engine/samplers.ts';

export interface ShardsQuestion {
  reading: string;
  epoch: string;
  round: string;
  /** Which readers are on the screen. */
  first: number;
  count: number;
}

/** What one reader (a worker of a rank) reads in a round. */
export interface ReaderRow {
  rank: number;
  worker: number;
  /** Its samples of the epoch, and how many of them are padding. */
  samples: number;
  padding: number;
  rounds: number;
  /** Its samples of this round. */
  count: number;
  spans: { shard: number; firstRow: number; numRows: number }[];
}

export interface ShardsAnswer {
  sizes: number[];
  worldSize: number;
  workers: number;
  batchSize: number;
  first: number;
  readers: ReaderRow[];
  rounds: number;
  steps: { least: number; most: number; equal: boolean };
  idle: number;
  readsPerRow: number;
  lanesReadOnce: number | undefined;
  advice: { lanes: number; shuffleWindow: number; varianceRatio: number } | undefined;
}

let kept: { key: string; reading: Reading } | undefined;

function readingOf(recipe: string, epoch: number | bigint): Reading {
  const key = `${epoch} ${recipe}`;
  if (kept?.key !== key) {
    const reading = Reading.fromRecipe(recipe, besides(recipe)).atEpoch(epoch);
    kept?.reading.dispose();
    kept = { key, reading };
  }
  return kept.reading;
}

/** Which rows of which files the readers on the screen read in a round. */
export function shards({ reading: recipe, epoch, round: text, first: from, count }: ShardsQuestion): ShardsAnswer {
  const reading = readingOf(recipe, integer(epoch));
  const { worldSize, workers, batchSize } = reading;
  const all = worldSize * workers;
  const first = Math.max(0, Math.min(from, all - count));
  const number = Number(integer(text));
  const readers = Array.from({ length: Math.min(count, all) }, (_, at): ReaderRow => {
    const [rank, worker] = [Math.floor((first + at) / workers), (first + at) % workers];
    const rounds = reading.numRounds(rank, worker);
    const round = number >= 0 && number < rounds ? reading.round(rank, worker, number) : undefined;
    const { shard = [], firstRow = [], numRows = [] } = round?.spans ?? {};
    const spans = Array.from(shard, (each, span) => ({
      shard: each,
      firstRow: Number(firstRow[span]),
      numRows: Number(numRows[span]),
    }));
    const [samples, padding] = [reading.numSamples(rank, worker), reading.numPadding(rank, worker)];
    return { rank, worker, samples, padding, rounds, count: round?.count ?? 0, spans };
  });
  return {
    sizes: Array.from(reading.sizes, Number),
    worldSize,
    workers,
    batchSize,
    first,
    readers,
    rounds: Math.max(1, ...readers.map(({ rounds }) => rounds)),
    steps: reading.steps(),
    idle: reading.numIdleReaders(),
    readsPerRow: reading.readsPerRow,
    lanesReadOnce: reading.lanesReadOnce,
    advice: reading.mixingAdvice(),
  };
}
