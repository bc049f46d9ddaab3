import type { SamplerBindings } from '../bindings/types.js';
import { fail, integer, natural32, options, recipeText, U32, U64 } from '../checks.js';
import type { Engine } from '../engine.js';
import { words } from '../lists.js';
import type { RecipeOptions } from '../types.js';
import { SamplerRecipe } from './recipe.js';

const OPTIONS = ['sizes', 'rank', 'epoch'] as const;

/** A recipe as users have it, with what it does not say. The component reads it, once there is an engine. */
export class RecipeDocument {
  readonly #text: string;
  readonly #lists: { name: string; numbers: BigUint64Array }[];
  readonly #rank: number;
  readonly #epoch: bigint;

  constructor(recipe: unknown, given: RecipeOptions | undefined) {
    const { sizes, rank = 0, epoch = 0 } = options(given, OPTIONS);
    this.#text = textOf(recipe);
    this.#lists = sizes === undefined ? [] : [{ name: 'sizes', numbers: words('sizes', sizes) }];
    this.#rank = natural32('rank', rank, U32);
    this.#epoch = integer('epoch', epoch, U64);
  }

  /** What it comes to. */
  read(engine: Engine<SamplerBindings>): SamplerRecipe {
    const size = 2 * this.#text.length + 32 * this.#lists.reduce((sum, { numbers }) => sum + numbers.length, 0);
    const cause = ['recipe', BigInt(this.#text.length)] as const;
    const { config, sharding } = engine.once(cause, size, (bindings) => bindings.read(this.#text, this.#lists));
    return new SamplerRecipe({ ...config, rank: this.#rank, epoch: this.#epoch }, sharding);
  }
}

/** A recipe as text: an object is written as JSON, whose numbers may be `bigint` and whose lists may be typed arrays. */
function textOf(recipe: unknown): string {
  if (typeof recipe === 'string') return recipeText(recipe);
  if (typeof recipe !== 'object' || recipe === null)
    fail('wrong-type', 'recipe', recipe, 'an object, or a text of JSON');
  const plain = (_: string, value: unknown) => {
    if (typeof value === 'bigint') return `\u0000${value}`;
    return ArrayBuffer.isView(value) ? Array.from(value as BigUint64Array) : value;
  };
  try {
    return recipeText(JSON.stringify(recipe, plain).replace(/"\\u0000(-?\d+)"/g, '$1'));
  } catch (error) {
    // A circle.
    if (error instanceof TypeError && error.name === 'TypeError')
      fail('wrong-type', 'recipe', String(error), 'what JSON has');
    throw error;
  }
}
