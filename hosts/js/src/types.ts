/** A whole number: a `number` that is a safe integer, or a `bigint`. */
export type Integer = number | bigint;

/** A list of whole numbers: an array, or a typed array of any kind. Every element is checked. */
export type Integers =
  | readonly (number | bigint)[]
  | Uint8Array
  | Uint16Array
  | Uint32Array
  | Int32Array
  | Float64Array
  | BigUint64Array
  | BigInt64Array;

/** Sample indices, in order: 32-bit numbers where there are at most 2^32 samples, else `number`s, all of them exact. */
export type Indices = Uint32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

/** Name of an order, one of `orders()`. A later component may have others. */
export type OrderName =
  | 'feistel'
  | 'fisher-yates'
  | 'sequential'
  | 'torch'
  | 'torch-2.5'
  | 'python'
  | 'dotnet'
  | (string & {});

/** What happens if `worldSize` * `unit` does not divide the number of positions. */
export type Remainder = 'drop' | 'pad' | 'uneven';

/**
 * Which positions belong to a rank: every `worldSize`-th one, one run of neighbours, or one of each row of `worldSize` positions, each row
 * beginning with another rank.
 */
export type Layout = 'strided' | 'contiguous' | 'rotated';

/** Everything that decides a deal but the number of samples. With an order in its place, `seed` and `order` are no options. */
export interface SamplerOptions {
  /**
   * Seed of the order: any 64-bit signed integer, as a `bigint` beyond 2^53 - 1. For a seed of PyTorch from 2^63 on, pass `BigInt.asIntN(64, seed)`: it
   * gives the same order `torch`. Default 0.
   */
  seed?: Integer;
  /** Number of the epoch: 0 to 2^64 - 1, as a `bigint` beyond 2^53 - 1. Default 0. */
  epoch?: Integer;
  /** Name of the order, one of `orders()`; `Sampler.sharded` makes the order `sharded`. Default `feistel`. */
  order?: OrderName;
  /** Which of the data-parallel readers this is: 0 to `worldSize` - 1. Default 0. */
  rank?: Integer;
  /** How many data-parallel readers there are: 1 to 2^32 - 1. Default 1. */
  worldSize?: Integer;
  /** What happens if `worldSize` * `unit` does not divide the number of positions. Default `pad`. */
  remainder?: Remainder;
  /** Which positions belong to a rank. Default `strided`; `rotated` for orders that can have a sample twice in an epoch. */
  layout?: Layout;
  /**
   * How many neighbouring positions always go to the same rank: 1 to 2^20. Use it with `copies(k)` of an order, so that the k answers to a prompt
   * are on one rank. Every rank has a multiple of it, but the last ones with `uneven`. Default 1.
   *
   * @example
   * const prompts = order('feistel', { samples: 100, seed: 7 }).copies(4);
   * const sampler = new Sampler(prompts, { unit: 4, worldSize: 2, rank: 1 });
   * console.log(sampler.indices(0, 8).join(' ')); // 45 45 45 45 22 22 22 22
   */
  unit?: Integer;
  /**
   * How many positions of this epoch, the first ones, were dealt before, maybe to another number of ranks: the others are dealt.
   * 0 to the number of positions, and a multiple of `unit` below that; `resume` takes it from a state. Default 0.
   */
  consumed?: Integer;
}

/** Everything that decides a deal in the order `sharded`, but the sizes of the shards. */
export interface ShardedOptions extends Omit<SamplerOptions, 'order'> {
  /** How many streams the dataset is cut into: 1 to 4,096. A multiple of every world size to come. Default 64. */
  lanes?: Integer;
  /** How many neighbouring samples of a lane are shuffled together: 1 to 2^20. Default 256. */
  shuffleWindow?: Integer;
}

/** What a recipe does not say. */
export interface RecipeOptions {
  /** Samples in each shard, if the recipe has their hash, or does not have them. */
  sizes?: Integers;
  /**
   * Lists of a composed order that the recipe has the hash of, or does not have, by the paths of their members: `indices`, `of/sizes`,
   * `sources/web/of/indices`.
   */
  lists?: Readonly<Record<string, Integers>>;
  /** Which of the data-parallel readers this is. Default 0. */
  rank?: Integer;
  /** Number of the epoch. Default 0. */
  epoch?: Integer;
  /** How many positions of this epoch, the first ones, were dealt before. Default 0. */
  consumed?: Integer;
}

/** How batches are cut. */
export interface BatchOptions {
  /** Whether a last batch that is shorter than the others is left out. Default false. */
  dropLast?: boolean;
}

/** Which batches an iteration gives. */
export interface BatchesOptions extends BatchOptions {
  /** Number of the first of them, 0 to the number of batches: how many of an interrupted epoch were done. Default 0. */
  start?: Integer;
}

/** When and where a sample is seen in the epoch. */
export interface Place {
  /** The global position: counted from the beginning of the epoch, also after a resume. */
  position: number;
  /** The rank that it is dealt to. */
  rank: number;
  /** 0-based number within that rank's samples of the epoch; after a resume, within those of the rest. */
  index: number;
  /** 0-based number of that rank's batch, after a resume from the state on; a last batch that is shorter counts. */
  batch: number;
  /** 0-based place in that batch. */
  indexInBatch: number;
  /** How many times the position is dealt again, as padding: the k-th time at `position` + k * `epochLength`. */
  copies: number;
}

/** What becomes of a sample in an epoch, once every rank has taken a number of its samples. */
export interface Fate {
  /**
   * `seen`: it was taken at least once. `to come`: it was not, and will be. `dropped`: the epoch has it at a position that no rank gets.
   * `absent`: this epoch has it at no position, as with `exclude`, or with a blend that did not draw it.
   */
  status: 'seen' | 'to come' | 'dropped' | 'absent';
  /** The positions where it was taken before `consumed` of the sampler, ascending: a state does not say by which rank. */
  before: number[];
  /** Where the ranks of this deal take it, by ascending position, padding included. */
  places: Place[];
  /** How many of `places`, the first ones, were taken. */
  numSeen: number;
  /** How many of `places`, the last ones, are padding. */
  numPadding: number;
  /** Whether these are all: at most 65,536 positions are given. */
  complete: boolean;
}

/** What a rank reads before it hands out a run of its samples. */
export interface Round {
  /** Number of the first of these samples, among the rank's (`indices`). */
  start: number;
  /** How many there are; none where the round holds no position of the rank. */
  count: number;
  /**
   * The rows to read: whole windows, lane by lane, in the order in which they are stored. A lane goes on in the next round where it
   * ends in this one; when it enters a shard, it never returns to the one before. Padding comes last, in spans of one row.
   */
  spans: Spans;
}

/** Rows to read, as spans of neighbouring rows of one shard. Every list has one number for each span. */
export interface Spans {
  /** The lane that the span belongs to. The spans of a lane come in the order in which their rows are stored. */
  lane: Uint32Array<ArrayBuffer>;
  /** The shard. */
  shard: Uint32Array<ArrayBuffer>;
  /** The first row of the span. A row is the 0-based number of a sample within its shard. */
  firstRow: Float64Array<ArrayBuffer>;
  /** Number of rows in the span. */
  numRows: Float64Array<ArrayBuffer>;
}

/** Where a sample is stored. */
export interface ShardPlace {
  /** Number of the shard. */
  shard: number;
  /** Number of the sample within the shard. */
  offset: number;
}

/**
 * What each source of a blend gives to a run of positions. Every list has one number for each source. A later component may give
 * more lists.
 */
export interface SourceCounts {
  /** Number of the first draw there, counted over all epochs. */
  first: Float64Array<ArrayBuffer>;
  /** How many draws there are. */
  count: Float64Array<ArrayBuffer>;
  /** The source's own epoch of the first draw. */
  fromPass: Float64Array<ArrayBuffer>;
  /** The position of the first draw in that. */
  fromPosition: Float64Array<ArrayBuffer>;
  /** The source's own epoch of the draw after the last one. */
  toPass: Float64Array<ArrayBuffer>;
  /** The position of that draw. */
  toPosition: Float64Array<ArrayBuffer>;
}

/** Which source of a blend has a sample. */
export interface SourcePlace {
  /** Number of the source, in the order of the recipe. */
  source: number;
  /** Number of the sample within the source. */
  index: number;
}

/** The dictionary that Python's `state_dict` saves: the text of the state is in it. */
export interface SavedState {
  samedeal: string;
}

/** What a state does not say: how the rest of its epoch is dealt, and lists of which it has the hash. */
export type StateOptions = Pick<SamplerOptions, 'rank' | 'worldSize' | 'remainder' | 'layout' | 'unit'> &
  Pick<RecipeOptions, 'sizes' | 'lists'>;

/** A sampler in JSON: its recipe, and what that does not say. */
export interface SamplerJson {
  recipe: string;
  /** Samples in each shard, if they were not in the recipe. */
  sizes?: number[];
  /** Lists of composed orders that were not in the recipe, by the paths of their members. */
  lists?: Record<string, number[]>;
  /** Number of the epoch, as a decimal string, since it may have 64 bits. Default 0. */
  epoch?: string;
  /** Default 0. */
  rank?: number;
  /** Default 0. */
  consumed?: number;
}
