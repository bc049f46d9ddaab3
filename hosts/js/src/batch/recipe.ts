import { fail, integer, options, stateText, U64, u32 } from '../checks.js';
import { besideOf, fromJson, section, shownText } from '../document.js';
import { disposes, release, using } from '../engine/resources.js';
import type { ComponentBindings, RawBatcher, RawBatchRecipe, RawBatchStream } from '../engine/types.js';
import { ALONE, type Recipe } from '../engine.js';
import { isFailure, type Raw } from '../errors.js';
import { numberIn, orderMemory, readersMemory } from '../memory.js';
import { recipeOfState } from '../state.js';
import { BATCHER_OPTIONS, BatchDocument, isMade, STREAM_OPTIONS } from './document.js';
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
const RECIPE_OPTIONS = [...STREAM_RECIPE_OPTIONS, 'state', 'sizes', 'lists'] as const;
const STATE_OPTIONS = ['rank', 'worldSize', 'boundaries', 'sizes', 'lists'] as const;
/**
 * Up to this number of samples, the instance stores all lengths. For more samples, it stores this number of lengths,
 * which stand for all lengths, and the lengths of a window.
 */
const HELD = 2 ** 14;

/**
 * The failure that is thrown if lengths are needed that were not supplied yet. The component throws the same failure
 * for the lengths of a window.
 */
const WANTED: Raw = { kind: 'wanted', field: 'lengths', value: '', allowed: '' };

/**
 * A recipe in an instance, and the plan of one epoch, which is made when the first lengths were supplied. A plan never
 * changes: another epoch has another plan of the same recipe.
 */
export class Planned {
  readonly #recipe: RawBatchRecipe;
  readonly #begin: (recipe: RawBatchRecipe) => RawBatcher;
  #plan: RawBatcher | undefined;

  constructor(recipe: RawBatchRecipe, begin: (recipe: RawBatchRecipe) => RawBatcher) {
    this.#recipe = recipe;
    this.#begin = begin;
  }

  get plan(): RawBatcher {
    if (!this.#plan) {
      if (this.#recipe.wanted().length > 0) throw WANTED;
      this.#plan = this.#begin(this.#recipe);
    }
    return this.#plan;
  }

  /** Replaces the plan, and frees the old one. */
  set plan(next: RawBatcher) {
    if (this.#plan) release(this.#plan);
    this.#plan = next;
  }

  /** The recipe. Its text and its fingerprint exist only when its plan can be made, so the plan is made first. */
  get recipe(): RawBatchRecipe {
    return this.plan && this.#recipe;
  }

  wanted(): BigUint64Array<ArrayBuffer> {
    return (this.#plan ?? this.#recipe).wanted();
  }

  supply(lengths: Uint32Array): void {
    (this.#plan ?? this.#recipe).supply(lengths);
  }

  [disposes](): void {
    if (this.#plan) release(this.#plan);
    release(this.#recipe);
  }
}

type Place = Pick<BatcherRecipeOptions, 'rank' | 'epoch' | 'state'>;

/**
 * The definition of a batcher. Only values that the component cannot receive are refused here; the component checks all
 * others.
 */
export class BatcherRecipe implements Recipe<ComponentBindings, Planned> {
  readonly document: BatchDocument;
  readonly rank: number;
  readonly epoch: bigint;
  readonly state: string | undefined;
  readonly size: number;

  constructor(document: BatchDocument, { rank = 0, epoch, state }: Place) {
    if (state !== undefined && epoch !== undefined)
      fail('contradiction', 'epoch', epoch, 'none with a state, which has its own');
    this.document = document;
    this.rank = u32('rank', rank);
    this.epoch = integer('epoch', epoch === undefined ? 0 : epoch, U64);
    this.state = state === undefined ? undefined : stateText(state);
    const { order, deal, batch } = document.said;
    const samples = document.lengths?.count ?? listed(batch?.lengths)?.length ?? numberIn(order?.samples);
    // The memory of split samples, of composed orders, and of the windows of more than `HELD` samples is not known
    // before they are made. A batcher with any of these gets an instance of its own.
    const alone = batch?.too_long === 'split' || isMade(order) || !(samples <= HELD);
    // 144 bytes for each sample: its entries in the lists of two plans, and in the table of the order.
    const own = alone ? ALONE + orderMemory(order).all : 144 * samples;
    this.size = 8192 + document.size + own + readersMemory(deal);
  }

  get cause(): readonly [string, string] {
    const { lengths } = this.document;
    return ['lengths', lengths?.count === undefined ? '' : `${lengths.count} of them`];
  }

  /** This recipe at another place of an epoch. */
  at(place: Pick<Place, 'epoch' | 'state'>): BatcherRecipe {
    return new BatcherRecipe(this.document, { rank: this.rank, ...place });
  }

  make(bindings: ComponentBindings): Planned {
    const { batches } = bindings;
    const { document, epoch, state, rank } = this;
    document.lengths?.check(bindings);
    const count = document.lengths?.count;
    const recipe = new batches.BatchRecipe(document.text, count === undefined ? count : BigInt(count), [
      ...document.lists,
    ]);
    return new Planned(recipe, (recipe) => {
      let plan = new batches.Batcher(recipe, epoch);
      // `replan` takes every state that `resume` takes.
      if (state !== undefined) plan = using(plan, (whole) => whole.replan(state));
      try {
        // A call that takes no batch, so that the component checks the rank.
        plan.take(rank, 0n, 0);
      } catch (error) {
        if (isFailure(error)) release(plan);
        throw error;
      }
      return plan;
    });
  }

  source(most: number): string {
    const { document, rank, epoch, state } = this;
    const place = state === undefined ? '' : shownText(state, most);
    return document.source('Batcher', { rank, epoch, state: place }, most);
  }

  /** Makes the definition from the options of a constructor. */
  static of(lengths: unknown, given: BatcherOptions | undefined): BatcherRecipe {
    const named = options(given, BATCHER_OPTIONS);
    return new BatcherRecipe(BatchDocument.of(named, { lengths }), placeIn(named));
  }

  /** Makes the definition from a recipe, and from options that a recipe does not have. */
  static read(recipe: unknown, lengths: unknown, given: BatcherRecipeOptions | undefined): BatcherRecipe {
    const { boundaries, sizes, lists, ...place } = options(given, RECIPE_OPTIONS);
    const counts = lengths === undefined ? undefined : { lengths };
    return new BatcherRecipe(new BatchDocument(recipe, counts, { boundaries, sizes }, besideOf(lists)), place);
  }

  /** Makes the definition from a state, and from options that say how the rest of its epoch is dealt. */
  static ofState(state: unknown, lengths: unknown, given: BatcherStateOptions | undefined): BatcherRecipe {
    const { worldSize, ...others } = options(given, STATE_OPTIONS);
    const text = stateText(state);
    const recipe = recipeOfState(text, { deal: section({ worldSize }) });
    return BatcherRecipe.read(recipe, lengths, { ...others, state: text });
  }

  static ofJson(json: BatcherJson | string, own: unknown): BatcherRecipe {
    type Given = BatcherRecipeOptions & { lengths?: BatcherJson['lengths'] };
    const { recipe, given } = fromJson<Given>(json, [...RECIPE_OPTIONS, 'lengths']);
    const { lengths, ...others } = given;
    return BatcherRecipe.read(recipe, own ?? lengths, others);
  }
}

/**
 * The definition of a stream of batches. The pushed samples exist only in the instance of the stream, so no other
 * object shares this instance: if a call of another object failed, the samples would be lost.
 */
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
      const told = { text: recipe.recipe(), fingerprint: recipe.recipeFingerprint() };
      return Object.assign(new batches.BatchStream(recipe, this.epoch, this.rank), { room, told });
    });
  }

  source(most: number): string {
    const { document, rank, epoch } = this;
    return document.source('BatchStream', { rank, epoch }, most);
  }

  /** Makes the definition from the options of a constructor. */
  static of(given: BatchStreamOptions | undefined): BatchStreamRecipe {
    const named = options(given, STREAM_OPTIONS);
    return new BatchStreamRecipe(BatchDocument.of(named), named);
  }

  /** Makes the definition from a recipe, and from options that a recipe does not have. */
  static read(recipe: unknown, given: BatchStreamRecipeOptions | undefined): BatchStreamRecipe {
    const { boundaries, ...place } = options(given, STREAM_RECIPE_OPTIONS);
    return new BatchStreamRecipe(new BatchDocument(recipe, undefined, { boundaries }), place);
  }

  static ofJson(json: BatchStreamJson | string): BatchStreamRecipe {
    const { recipe, given } = fromJson<BatchStreamRecipeOptions>(json, STREAM_RECIPE_OPTIONS);
    return BatchStreamRecipe.read(recipe, given);
  }
}

const listed = (value: unknown): readonly unknown[] | undefined => (Array.isArray(value) ? value : undefined);

const placeIn = ({ rank, epoch }: BatcherOptions): Place => ({
  ...(rank !== undefined && { rank }),
  ...(epoch !== undefined && { epoch }),
});
