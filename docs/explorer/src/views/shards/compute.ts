import { Reading } from 'samedeal/web';
import { besides, integer, samplerOf } from '../../engine/samplers.ts';

export interface ShardsQuestion {
  reading: string;
  epoch: string;
  round: string;
  /** The first reader on the screen, and the number of readers that are shown. */
  first: number;
  count: number;
  /** A sample whose file is wanted. */
  sample?: number | undefined;
}

/** The rows that one reader (a worker of a rank) reads in a round. */
export interface ReaderRow {
  rank: number;
  worker: number;
  /** Number of samples of the reader in the epoch, and number of them that are padding. */
  samples: number;
  padding: number;
  rounds: number;
  /** The files that the reader opens in the epoch; null if it has too many rounds to collect them. */
  files: number[] | null;
  /** Number of samples of the reader in this round. */
  count: number;
  spans: { shard: number; firstRow: number; numRows: number }[];
}

export interface Load {
  rank: number;
  worker: number;
  samples: number;
}

export interface ShardsAnswer {
  sizes: number[];
  worldSize: number;
  workers: number;
  batchSize: number;
  first: number;
  readers: ReaderRow[];
  /** The readers with the most and with the fewest samples, padding included, among `looked` readers. */
  balance: { looked: number; most: Load; least: Load };
  rounds: number;
  steps: { min: number; max: number; equal: boolean };
  idle: number;
  readsPerRow: number;
  lanesReadOnce: number | undefined;
  /** The file and the row of the sample that was asked for; null without one. */
  place: { shard: number; row: number } | null;
  advice: { lanes: number; shuffleWindow: number; varianceRatio: number } | undefined;
}

/** The largest number of rounds of a reader whose files are collected. */
const ROUNDS = 256;
const gathered = new Map<string, number[] | null>();

/** The files of a reader. If single samples are dealt, they are the files of all its rounds. */
function filesOf(reading: Reading, rank: number, worker: number): number[] | null {
  const key = `${rank} ${worker}`;
  const known = gathered.get(key);
  if (known !== undefined) return known;
  const rounds = reading.numRounds(rank, worker);
  const files = new Set<number>();
  for (let round = 0; rounds <= ROUNDS && round < rounds; round++)
    for (const file of reading.round(rank, worker, round).spans.shard) files.add(file);
  const found = rounds > ROUNDS ? null : [...files].sort((a, b) => a - b);
  gathered.set(key, found);
  return found;
}

/**
 * The largest number of readers whose samples are counted. If there are more, so many of them are counted, at equal
 * distances.
 */
const READERS = 4096;

function balanceOf(reading: Reading): ShardsAnswer['balance'] {
  const { worldSize, workers } = reading;
  const looked = Math.min(worldSize * workers, READERS);
  let [most, least]: [Load | undefined, Load | undefined] = [undefined, undefined];
  for (let at = 0; at < looked; at++) {
    const reader = Math.floor((at * worldSize * workers) / looked);
    const [rank, worker] = [Math.floor(reader / workers), reader % workers];
    const load = { rank, worker, samples: reading.numSamples(rank, worker) };
    if (!most || load.samples > most.samples) most = load;
    if (!least || load.samples < least.samples) least = load;
  }
  const none = { rank: 0, worker: 0, samples: 0 };
  return { looked, most: most ?? none, least: least ?? none };
}

let kept: { key: string; reading: Reading } | undefined;

function readingOf(recipe: string, epoch: number | bigint): Reading {
  const key = `${epoch} ${recipe}`;
  if (kept?.key !== key) {
    const reading = Reading.fromRecipe(recipe, besides(recipe)).atEpoch(epoch);
    kept?.reading.dispose();
    gathered.clear();
    kept = { key, reading };
  }
  return kept.reading;
}

/** The file and the row of a sample. Samples are numbered file by file. */
const placeOf = (sample: number, sizes: number[]) =>
  samplerOf(JSON.stringify({ order: { name: 'sharded', sizes } })).shardOf(sample);

/** The rows and the files that the readers on the screen read in a round. */
export function shards({
  reading: recipe,
  epoch,
  round: text,
  first: from,
  count,
  sample,
}: ShardsQuestion): ShardsAnswer {
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
    const files = filesOf(reading, rank, worker);
    return { rank, worker, samples, padding, rounds, files, count: round?.count ?? 0, spans };
  });
  const sizes = Array.from(reading.sizes, Number);
  return {
    sizes,
    place: sample === undefined || sample >= sizes.reduce((sum, size) => sum + size, 0) ? null : placeOf(sample, sizes),
    worldSize,
    workers,
    batchSize,
    first,
    readers,
    balance: balanceOf(reading),
    rounds: Math.max(1, ...readers.map(({ rounds }) => rounds)),
    steps: reading.steps,
    idle: reading.numIdleReaders,
    readsPerRow: reading.readsPerRow,
    lanesReadOnce: reading.lanesReadOnce,
    advice: reading.mixingAdvice,
  };
}
