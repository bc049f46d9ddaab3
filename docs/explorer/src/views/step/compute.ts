import { integer, samplerOf } from '../../engine/samplers.ts';
import { edited } from '../../parts/json.ts';

/** A step, and the part of it that is on the screen. */
export interface StepQuestion {
  recipe: string;
  epoch: string;
  step: string;
  batch: string;
  drop: boolean;
  firstRank: number;
  ranks: number;
  firstIndex: number;
  indices: number;
  /** Every so-many-th rank is computed: more than one if ranks are narrower than a pixel. */
  stride: number;
  /** What colours stand for if the order has no sources or files: nothing, or what a state says about samples. */
  by: '' | 'seen' | 'before';
  /** The state of a sampler, and the number of ranks of its run. */
  state: string;
  ranksBefore: string;
}

/** The batch of one rank, or the part of it that is on the screen. */
export interface StepRow {
  rank: number;
  samples: ArrayLike<number>;
  /** For each sample, the number of its source in a blend, or of its file. */
  groups: number[];
  /** The index at which the padding begins, counted from the first index on the screen. */
  padding: number;
}

export interface StepAnswer {
  worldSize: number;
  /** The number above all sample indices. */
  samples: number;
  steps: number;
  batchSize: number;
  /** The names of the sources of a blend, or of the files. */
  groups: string[];
  groupedBy: 'source' | 'file' | 'seen' | 'before' | '';
  firstRank: number;
  firstIndex: number;
  rows: StepRow[];
}

/**
 * The largest number of samples of a batch that are listed. Nobody reads more on a screen, and a program computes them
 * as fast.
 */
const MOST_LISTED = 1 << 16;

export interface BatchAnswer {
  worldSize: number;
  rank: number;
  samples: ArrayLike<number>;
  /** Number of samples of the batch, and number of them that are padding. The padding comes last. */
  size: number;
  padding: number;
  /** The listed samples as a text, with commas. */
  text: string;
}

/** The whole batch of one rank in a step. */
export function batchOf(
  question: Pick<StepQuestion, 'recipe' | 'epoch' | 'step' | 'batch' | 'drop'> & { rank: string },
): BatchAnswer {
  const sampler = samplerOf(question.recipe, integer(question.epoch));
  const size = integer(question.batch);
  const cut = { dropLast: question.drop };
  sampler.setRank(0);
  const steps = sampler.numBatches(size, cut);
  if (steps > 0) sampler.batch(integer(question.step), size, cut);
  sampler.setRank(integer(question.rank));
  const { worldSize } = sampler;
  const first = Number(integer(question.step)) * Number(size);
  const isThere = Number(integer(question.step)) < sampler.numBatches(size, cut);
  const last = isThere ? Math.min(first + Number(size), sampler.length) : first;
  const samples = isThere ? sampler.indices(first, Math.min(last, first + MOST_LISTED)) : [];
  const padding = Math.max(0, last - Math.max(first, sampler.length - sampler.numPadding));
  const rank = Number(integer(question.rank));
  return { worldSize, rank, samples, size: last - first, padding, text: Array.from(samples).join(', ') };
}

/** The samples that the ranks on the screen read in a step. Nothing else is computed. */
export function step(question: StepQuestion): StepAnswer {
  const sampler = samplerOf(question.recipe, integer(question.epoch));
  const { worldSize, datasetSize: samples } = sampler;
  const size = integer(question.batch);
  const cut = { dropLast: question.drop };
  sampler.setRank(0);
  // No rank has more samples than the first one.
  const steps = sampler.numBatches(size, cut);
  // Parsing the step here makes the core check the step and the batch size.
  const number = Number(integer(question.step));
  if (steps > 0) sampler.batch(integer(question.step), size, cut);
  const batchSize = Number(size);
  const sources = /"name"\s*:\s*"blend/.test(question.recipe) ? sourcesOf(sampler) : [];
  const files = sampler.order === 'sharded' ? filesOf(sampler) : [];
  const told = sources.length > 0 || files.length > 0 ? undefined : toldBy(question);
  const groupOf = (sample: number) =>
    told ? told.of(sample) : files.length > 0 ? sampler.shardOf(sample).shard : sampler.sourceOf(sample).source;
  const groups = told ? told.names : sources.length > 0 ? sources : files;
  const firstRank = Math.max(0, Math.min(question.firstRank, worldSize - question.ranks));
  const count = Math.ceil(Math.min(question.ranks, worldSize) / question.stride);
  const ranks = Array.from({ length: count }, (_, at) => firstRank + at * question.stride);
  const rows =
    steps === 0
      ? []
      : ranks.map((rank) => {
          sampler.setRank(rank);
          const isThere = number < sampler.numBatches(size, cut);
          const first = number * batchSize + question.firstIndex;
          const last = Math.min(number * batchSize + batchSize, first + question.indices, sampler.length);
          const found = isThere && first < last ? sampler.indices(first, last) : [];
          return {
            rank,
            samples: found,
            groups: groups.length > 0 ? Array.from(found, groupOf) : [],
            // The padding of a rank comes last.
            padding: sampler.length - sampler.numPadding - first,
          };
        });
  const groupedBy = told ? told.by : sources.length > 0 ? 'source' : files.length > 0 ? 'file' : '';
  return { worldSize, samples, steps, batchSize, groups, groupedBy, firstRank, firstIndex: question.firstIndex, rows };
}

/**
 * What a state says about samples: whether its run had seen them, or which of its ranks would read them. Undefined if the
 * state is not of this order.
 */
function toldBy({ recipe, epoch, batch, by, state, ranksBefore }: StepQuestion) {
  if (by === '' || state === '') return undefined;
  try {
    if (by === 'before') {
      const before = samplerOf(edited(recipe, 'deal.world_size', ranksBefore), integer(epoch));
      const size = integer(batch);
      const names = Array.from({ length: before.worldSize }, (_, rank) => `rank ${rank}`);
      return { by, names, of: (sample: number) => before.locate(sample, size)?.rank ?? 0 };
    }
    const rest = samplerOf(recipe, 0, state);
    const away = BigInt(integer(epoch)) - BigInt(rest.epoch);
    // An earlier epoch was read as a whole, and a later one not at all.
    const isSeen = (sample: number) => (away === 0n ? (rest.locate(sample, 1)?.position ?? -1) < 0 : away < 0n);
    return { by, names: ['seen', 'not seen'], of: (sample: number) => (isSeen(sample) ? 0 : 1) };
  } catch {
    return undefined;
  }
}

/** The names of the files of a dataset. The last file is the one with the last sample. */
function filesOf(sampler: ReturnType<typeof samplerOf>): string[] {
  const last = sampler.datasetSize > 0 ? sampler.shardOf(sampler.datasetSize - 1).shard : -1;
  return Array.from({ length: last + 1 }, (_, file) => `file ${file}`);
}

function sourcesOf(sampler: ReturnType<typeof samplerOf>): string[] {
  try {
    const names = sampler.sources;
    // With a shared index space, a sample may belong to several sources, and this call fails.
    sampler.sourceOf(0);
    return names;
  } catch {
    return [];
  }
}

export interface CellAnswer {
  /** The first position of the sample in the epoch. */
  position: number | null;
  shard: { shard: number; row: number } | null;
}

/** Further facts about a sample of the step. */
export function cell({
  recipe,
  epoch,
  batch,
  sample,
}: {
  recipe: string;
  epoch: string;
  batch: string;
  sample: number;
}): CellAnswer {
  const sampler = samplerOf(recipe, integer(epoch));
  const place = sampler.locate(sample, integer(batch));
  return { position: place?.position ?? null, shard: sampler.order === 'sharded' ? sampler.shardOf(sample) : null };
}
