import { PageError } from '../../engine/answer.ts';
import { integer, samplerOf } from '../../engine/samplers.ts';
import { parsed, shown } from '../../parts/json.ts';
import { below, ShuffleBuffer } from './buffer.ts';

export interface LabelsQuestion {
  /** The description of a dataset that is stored by label, and of its shuffle. */
  labelled: string;
  /** The batches on the screen. If `to` is 0, they go to the end of the epoch. */
  from: number;
  to: number;
}

/** The labels of some batches, in an order. */
export interface Shuffled {
  id: 'feistel' | 'sharded' | 'buffer';
  /** For each batch, the share of each group of labels in it. */
  shares: number[][];
  /**
   * The mean distance of these batches from the mix of the dataset. The distance of a batch is half of the sum of all
   * differences.
   */
  distance: number;
}

export interface LabelsAnswer {
  labels: number;
  batches: number;
  from: number;
  to: number;
  /** The numbers of the batches that are shown. */
  shown: number[];
  /** The first label of each group, and finally the number of all labels. */
  groups: number[];
  orders: Shuffled[];
  /** The mean distance of batches of a perfect shuffle. */
  perfect: number;
  /** Recipes of the orders of samedeal. */
  recipes: { feistel: string; sharded: string };
}

const BATCHES = 96;
const GROUPS = 20;
/** The largest number of samples that are asked for. */
const SAMPLES = 1 << 20;
const MOST = { labels: 1000, files: 100_000, batch: 1 << 16, buffer: 100_000 };

/** The settings of the view. Numbers that only this page uses are checked here; the core checks the others. */
export function settings(labelled: string) {
  const given = (parsed(labelled) ?? {}) as Record<string, unknown>;
  const text = (name: string) =>
    typeof given[name] === 'string' ? (given[name] as string) : JSON.stringify(given[name] ?? '');
  const samples = Number(integer(text('samples')));
  const recipe = JSON.stringify({ order: { name: 'feistel', samples: given.samples, seed: given.seed } });
  // The core checks the recipe and the epoch.
  samplerOf(recipe, integer(text('epoch')));
  const limited = (name: keyof typeof MOST): number => {
    const [number, most] = [
      Number(integer(text(name))),
      Math.min(MOST[name], name === 'buffer' ? Number.POSITIVE_INFINITY : samples),
    ];
    if (!(number >= 1 && number <= most))
      throw new PageError(name, `${name} is ${text(name)}; allowed: 1 to ${most} on this page`);
    return number;
  };
  const [labels, files, batch, buffer] = [limited('labels'), limited('files'), limited('batch'), limited('buffer')];
  if (samples * labels > Number.MAX_SAFE_INTEGER)
    throw new PageError('labels', `labels is ${labels}; allowed: up to 2^53 / samples`);
  const sizes = Array.from(
    { length: files },
    (_, file) => Math.floor(samples / files) + (file < samples % files ? 1 : 0),
  );
  const sharded = JSON.stringify({
    order: { name: 'sharded', seed: given.seed, lanes: given.lanes, shuffle_window: given.shuffle_window, sizes },
  });
  const seed = Number(BigInt.asUintN(32, BigInt(shown(given.seed ?? 0))));
  return {
    samples,
    labels,
    batch,
    buffer,
    sizes,
    seed,
    epoch: integer(text('epoch')),
    isFilesFirst: given.files_first === true,
    recipes: { feistel: recipe, sharded },
  };
}

/**
 * The labels of batches in three orders of a dataset that is stored by label. Only the batches that are drawn are read.
 */
export function labels(question: LabelsQuestion): LabelsAnswer {
  const { samples, labels, batch, buffer, sizes, seed, epoch, isFilesFirst, recipes } = settings(question.labelled);
  const batches = Math.floor(samples / batch);
  const from = Math.min(question.from, batches - 1);
  const to = question.to > from ? Math.min(question.to, batches) : batches;
  const count = Math.min(to - from, BATCHES, Math.max(8, Math.floor(SAMPLES / batch)));
  const shown = Array.from({ length: count }, (_, at) => from + Math.floor((at * (to - from)) / count));

  // Label l has the samples from begins[l] on.
  const begins = Array.from({ length: labels + 1 }, (_, label) => Math.ceil((label * samples) / labels));
  const size = Math.ceil(labels / Math.min(labels, GROUPS));
  const groups = Array.from({ length: Math.ceil(labels / size) + 1 }, (_, group) => Math.min(labels, group * size));

  const tally = (id: Shuffled['id'], read: (number: number) => ArrayLike<number>): Shuffled => {
    let sum = 0;
    const shares = shown.map((number) => {
      const counts = new Float64Array(labels);
      for (const sample of Array.from(read(number))) {
        const label = Math.floor((sample * labels) / samples);
        counts[label] = (counts[label] as number) + 1;
      }
      let difference = 0;
      const inGroups = new Array<number>(groups.length - 1).fill(0);
      for (let label = 0; label < labels; label++) {
        const share = (counts[label] as number) / batch;
        difference += Math.abs(share - ((begins[label + 1] as number) - (begins[label] as number)) / samples);
        const group = Math.floor(label / size);
        inGroups[group] = (inGroups[group] as number) + share;
      }
      sum += difference / 2;
      return inGroups;
    });
    return { id, shares, distance: sum / shown.length };
  };
  const ofRecipe = (recipe: string) => (number: number) => samplerOf(recipe, epoch).batch(number, batch);
  const stream = new ShuffleBuffer(samples, buffer, seed ^ Number(BigInt.asUintN(32, BigInt(epoch))));
  const stored = isFilesFirst ? filesFirst(sizes, seed + 1) : (place: number) => place;
  const orders = [
    tally('feistel', ofRecipe(recipes.feistel)),
    tally('sharded', ofRecipe(recipes.sharded)),
    tally('buffer', (number) => stream.slice(number * batch, number * batch + batch).map(stored)),
  ];
  return { labels, batches, from, to, shown, groups, orders, perfect: perfect(begins, batch), recipes };
}

/** Reads files one after the other, in a random order: returns the function from a place to its sample. */
function filesFirst(sizes: number[], seed: number): (place: number) => number {
  const files = sizes.map((_, file) => file);
  for (let at = files.length - 1; at > 0; at--) {
    const other = below(at + 1, seed, at);
    [files[at], files[other]] = [files[other] as number, files[at] as number];
  }
  const starts: number[] = [];
  let start = 0;
  for (const size of sizes) {
    starts.push(start);
    start += size;
  }
  const ends: number[] = [];
  let end = 0;
  for (const file of files) {
    end += sizes[file] as number;
    ends.push(end);
  }
  return (place) => {
    let [low, high] = [0, ends.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ends[middle] as number) > place) high = middle;
      else low = middle + 1;
    }
    const file = files[low] as number;
    return (starts[file] as number) + place - ((ends[low] as number) - (sizes[file] as number));
  };
}

/**
 * The mean distance of a batch that is drawn without replacement from all samples: for each label the mean of |X / batch - share|, where X is
 * hypergeometric.
 */
function perfect(begins: number[], batch: number): number {
  const samples = begins.at(-1) as number;
  const known = new Map<number, number>();
  let sum = 0;
  for (let label = 0; label + 1 < begins.length; label++) {
    const own = (begins[label + 1] as number) - (begins[label] as number);
    if (!known.has(own)) known.set(own, deviation(samples, own, batch));
    sum += known.get(own) as number;
  }
  return sum / 2;
}

function deviation(samples: number, own: number, batch: number): number {
  const [least, most] = [Math.max(0, batch - (samples - own)), Math.min(batch, own)];
  const share = own / samples;
  const middle = Math.max(least, Math.min(most, Math.floor(batch * share)));
  // The sum goes from the middle outwards, because all weights are multiples of the probability of the middle.
  let [total, sum] = [0, 0];
  const add = (x: number, weight: number) => {
    total += weight;
    sum += weight * Math.abs(x / batch - share);
  };
  let weight = 1;
  for (let x = middle; x <= most && weight > 1e-18; x++) {
    add(x, weight);
    weight *= ((own - x) / (x + 1)) * ((batch - x) / (samples - own - batch + x + 1));
  }
  weight = 1;
  for (let x = middle; x > least && weight > 1e-18; x--) {
    weight *= (x / (own - x + 1)) * ((samples - own - batch + x) / (batch - x + 1));
    add(x - 1, weight);
  }
  return sum / total;
}
