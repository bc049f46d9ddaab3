import type { SamplerBindings } from '../bindings/types.js';
import { fail, integer, natural32, options, placed, RECIPE_MAX, recipeText, TEXT_MAX, U32, U64 } from '../checks.js';
import type { Engine } from '../engine.js';
import { list, words } from '../lists.js';
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
    this.#text = documentText(recipe);
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

/** More than any recipe has of objects and lists in one another; an object that contains itself has more. */
const DEEPEST = 8;

/** A recipe as text: an object is written as JSON, whose numbers may be `bigint` and whose lists may be typed arrays. */
export function documentText(recipe: unknown): string {
  if (typeof recipe === 'string') return recipeText(recipe);
  if (typeof recipe !== 'object' || recipe === null)
    fail('wrong-type', 'recipe', recipe, 'an object, or a text of JSON');
  return recipeText(written('recipe', recipe, 0));
}

/** A value as JSON; `field` is what errors call it. Only what JSON cannot carry is refused. */
function written(field: string, value: unknown, depth: number): string {
  if (depth > DEEPEST) fail('wrong-type', 'recipe', value, `objects and lists in up to ${DEEPEST} others`);
  switch (typeof value) {
    case 'string':
      // No name and no hash is that long, and no error shows more of it.
      return JSON.stringify(value.slice(0, 4 * TEXT_MAX));
    case 'number':
      if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
        fail('out-of-range', field, value, 'a bigint, for a whole number beyond 2^53 - 1');
      }
      if (!Number.isFinite(value)) fail('wrong-type', field, value, 'what JSON has');
      return String(value);
    case 'bigint':
    case 'boolean':
      return String(value);
    case 'object': {
      if (value === null) return 'null';
      if (ArrayBuffer.isView(value) || Array.isArray(value)) return writtenList(field, value, depth);
      if (Object.prototype.toString.call(value) !== '[object Object]')
        fail('wrong-type', field, value, 'what JSON has');
      const members = Object.entries(value).filter(([, member]) => member !== undefined);
      return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${written(fieldOf(name), member, depth + 1)}`)}}`;
    }
    default:
      fail('wrong-type', field, value, 'what JSON has');
  }
}

function writtenList(field: string, value: unknown, depth: number): string {
  const elements = list(field, value);
  // Told before it is written: each element is two characters or more.
  if (elements.length > RECIPE_MAX / 2) {
    fail('out-of-range', 'recipe', `${elements.length} numbers in ${field}`, `up to ${RECIPE_MAX} bytes`);
  }
  const texts = Array.from(elements, (element, i) => {
    return placed(`at index ${i}`, () => written(field, element, depth + 1));
  });
  return `[${texts}]`;
}

/** What errors call a member, in all languages. */
const fieldOf = (name: string): string => (name === 'name' ? 'order' : name.replaceAll('_', '-'));
