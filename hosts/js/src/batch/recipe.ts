import { disposes, release, using } from '../bindings/resources.js';
import type { ComponentBindings, RawBatcher, RawBatchRecipe, RawBatchStream } from '../bindings/types.js';
import { fail, integer, options, type Range, record, U64, u32, u53 } from '../checks.js';
import type { Segment as RawSegment } from '../components/interfaces/samedeal-deal-batches.js';
import { orderSize } from '../deal/recipe.js';
import { besideOf, fromJson, numberIn, section } from '../document.js';
import { ALONE, type Recipe } from '../engine.js';
import { isFailure } from '../errors.js';
import type { Segment } from '../generated/batches.js';
import { recipeOfState } from '../state.js';
import { BATCHER_OPTIONS, BatchDocument, isMade, STREAM_OPTIONS } from './document.js';
import { checkSources } from './lengths.js';
import type {
  BatcherJson,
  BatcherOptions,
  BatcherRecipeOptions,
  BatcherStateOptions,
  BatchStreamJson,
  BatchStreamOptions,
  BatchStreamRecipeOptions,
} from './types.js';

const STREAM_RECIPE_OPTIONS = ['rank', 'epoch', 'boundaries'] as const;
const RECIPE_OPTIONS = [...STREAM_RECIPE_OPTIONS, 'history', 'sizes', 'lists'] as const;
const STATE_OPTIONS = ['rank', 'worldSize', 'boundaries', 'sizes', 'lists'] as const;
const WORLDS: Range = [1n, 2n ** 20n];
/** More segments than the component takes, which it tells. */
const MOST_SEGMENTS = 2 ** 12 + 1;

/** A recipe in an instance, and the plan of an epoch. A plan never changes: another epoch has another plan of the same recipe. */
export class Planned {
  readonly recipe: RawBatchRecipe;
  plan: RawBatcher;

  constructor(recipe: RawBatchRecipe, plan: RawBatcher) {
    this.recipe = recipe;
    this.plan = plan;
  }

  [disposes](): void {
    release(this.plan);
    release(this.recipe);
  }
}

type Place = Pick<BatcherRecipeOptions, 'rank' | 'epoch' | 'history'>;

/** What decides a batcher, checked as far as it has to be to cross. */
export class BatcherRecipe implements Recipe<ComponentBindings, Planned> {
  readonly document: BatchDocument;
  readonly rank: number;
  readonly epoch: bigint;
  readonly history: readonly RawSegment[];
  readonly lengths: Uint32Array<ArrayBuffer>;
  readonly size: number;

  constructor(document: BatchDocument, { rank = 0, epoch = 0, history = [] }: Place) {
    this.document = document;
    this.rank = u32('rank', rank);
    this.epoch = integer('epoch', epoch, U64);
    this.history = historyOf(history);
    const { order, deal, batch } = document.said;
    this.lengths = document.lengths ?? Uint32Array.from(listed(batch?.lengths));
    const world = Math.max(numberIn(deal?.world_size ?? 1) || 0, ...this.history.map((past) => past.worldSize));
    const bounds = 4 * (numberIn(batch?.quantiles ?? 0) || 0) + 16 * document.count('boundaries', 'batch');
    // The number of parts, and of the positions of an order that is made of others, is known after they are made.
    const parts = batch?.too_long === 'split' || isMade(order) ? ALONE + orderSize(document).all : 0;
    // For each sample: what two plans have, its place in a table, what windows carry over, and what a history leaves.
    this.size = 8192 + 2 * document.text.length + 144 * this.lengths.length + 64 * world + bounds + parts;
  }

  get cause(): readonly [string, string] {
    return ['lengths', `${this.lengths.length} of them`];
  }

  /** The same at another place of an epoch. */
  at(epoch: bigint, history: readonly RawSegment[]): BatcherRecipe {
    return new BatcherRecipe(this.document, { rank: this.rank, epoch, history });
  }

  make(bindings: ComponentBindings): Planned {
    const { batches } = bindings;
    checkSources(bindings, this.document.sources);
    const recipe = new batches.BatchRecipe(this.document.text, this.document.lengths, [...this.document.lists]);
    let planned: Planned | undefined;
    try {
      planned = new Planned(recipe, new batches.Batcher(recipe, this.epoch, [...this.history]));
      // The component says what is wrong with the rank.
      planned.plan.take(this.rank, 0n, 0);
      return planned;
    } catch (error) {
      if (isFailure(error)) release(planned ?? recipe);
      throw error;
    }
  }

  source(most: number): string {
    const { document, rank, epoch, history } = this;
    const past = history.length > 0 ? historySource(history) : '';
    return document.source('Batcher', { rank, epoch, history: past }, most);
  }

  /** Of the options of a constructor. */
  static of(lengths: unknown, given: BatcherOptions | undefined): BatcherRecipe {
    const named = options(given, BATCHER_OPTIONS);
    return new BatcherRecipe(BatchDocument.of(named, { lengths }), named);
  }

  /** Of a recipe, and what it does not say. */
  static read(recipe: unknown, lengths: unknown, given: BatcherRecipeOptions | undefined): BatcherRecipe {
    const { boundaries, sizes, lists, ...place } = options(given, RECIPE_OPTIONS);
    const counts = lengths === undefined ? undefined : { lengths };
    return new BatcherRecipe(new BatchDocument(recipe, counts, { boundaries, sizes }, besideOf(lists)), place);
  }

  /** Of the recipe of a state, and how the rest of its epoch is dealt. */
  static ofState(state: unknown, lengths: unknown, given: BatcherStateOptions | undefined): BatcherRecipe {
    const { worldSize, ...others } = options(given, STATE_OPTIONS);
    return BatcherRecipe.read(recipeOfState(state, { deal: section({ worldSize }) }), lengths, others);
  }

  static ofJson(json: BatcherJson | string): BatcherRecipe {
    type Given = BatcherRecipeOptions & { lengths?: number[] };
    const { recipe, given } = fromJson<Given>(json, [...RECIPE_OPTIONS, 'lengths']);
    const { lengths, ...others } = given;
    return BatcherRecipe.read(recipe, lengths, others);
  }
}

/** What decides a stream of batches. What was pushed is in its instance alone, which it therefore has for itself. */
export class BatchStreamRecipe implements Recipe<ComponentBindings, RawBatchStream> {
  readonly document: BatchDocument;
  readonly rank: number;
  readonly epoch: bigint;
  readonly size = ALONE;
  readonly cause = ['samples', ''] as const;
  readonly lost = 'a call of this stream did not come to its end, and what was pushed is lost: make another stream';

  constructor(document: BatchDocument, { rank = 0, epoch = 0 }: BatchStreamRecipeOptions) {
    this.document = document;
    this.rank = u32('rank', rank);
    this.epoch = integer('epoch', epoch, U64);
  }

  make({ batches, room }: ComponentBindings): RawBatchStream {
    const { text, lists } = this.document;
    return using(new batches.BatchRecipe(text, undefined, [...lists]), (recipe) => {
      const told = { text: recipe.text(), fingerprint: recipe.fingerprint() };
      return Object.assign(new batches.BatchStream(recipe, this.epoch, this.rank), { room, told });
    });
  }

  source(most: number): string {
    const { document, rank, epoch } = this;
    return document.source('BatchStream', { rank, epoch }, most);
  }

  /** Of the options of a constructor. */
  static of(given: BatchStreamOptions | undefined): BatchStreamRecipe {
    const named = options(given, STREAM_OPTIONS);
    return new BatchStreamRecipe(BatchDocument.of(named), named);
  }

  /** Of a recipe, and what it does not say. */
  static read(recipe: unknown, given: BatchStreamRecipeOptions | undefined): BatchStreamRecipe {
    const { boundaries, ...place } = options(given, STREAM_RECIPE_OPTIONS);
    return new BatchStreamRecipe(new BatchDocument(recipe, undefined, { boundaries }), place);
  }

  static ofJson(json: BatchStreamJson | string): BatchStreamRecipe {
    const { recipe, given } = fromJson<BatchStreamRecipeOptions>(json, STREAM_RECIPE_OPTIONS);
    return BatchStreamRecipe.read(recipe, given);
  }
}

/** A history as it is written in a program. */
export const historySource = (history: readonly (Segment | RawSegment)[]): string =>
  `[${history.map(({ worldSize, steps }) => `{ worldSize: ${worldSize}, steps: ${steps} }`).join(', ')}]`;

/** World sizes and steps, as far as they have to be checked to cross. */
function historyOf(given: unknown): RawSegment[] {
  if (!Array.isArray(given)) fail('wrong-type', 'history', given, 'an array of { worldSize, steps }');
  return Array.from(given.slice(0, MOST_SEGMENTS), (past: unknown) => {
    record('history', past, 'an array of { worldSize, steps }');
    const { worldSize, steps } = options(past as Segment, ['worldSize', 'steps']);
    return { worldSize: u32('history', worldSize, undefined, WORLDS), steps: u53('history', steps) };
  });
}

const listed = (value: unknown): readonly number[] => (Array.isArray(value) ? value : []);
