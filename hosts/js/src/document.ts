// Documents: the recipe that decides an object, as a text that the component checks and completes, and the long lists
// beside it.
import { fail, options, placed, recipeText, record, saved, TEXT_MAX } from './checks.js';
import type { NamedList } from './components/interfaces/samedeal-deal-types.js';
import { camelled } from './errors.js';
import { MAX_TEXT } from './generated/limits.js';
import { LONGEST, list, shown, words } from './lists.js';
import { decimal, settings } from './options.js';

/** The members of a recipe that this host reads, for estimates of memory. */
export interface Said {
  order?: Record<string, unknown>;
  shards?: Record<string, unknown>;
  deal?: Record<string, unknown>;
  batch?: Record<string, unknown>;
  steps?: Record<string, unknown>;
  split?: Record<string, unknown>;
}

/** Lists by the names of options, as a caller passes them; a list that was not passed is undefined. */
export type Lists = Readonly<Record<string, unknown>>;

/**
 * The definition of an object: the text of its recipe, and the lists that the text leaves out, or of which it has only
 * the hash.
 */
export class Document {
  readonly text: string;
  readonly lists: readonly NamedList[];
  /** The lists that are named by the paths of their members. They are the last ones of `lists`. */
  readonly #beside: readonly NamedList[];
  #said: Said | undefined;

  /** `beside` has more lists, by the paths of their members. They are not copied, and must not change. */
  constructor(recipe: unknown, lists: Lists = {}, beside: readonly NamedList[] = []) {
    this.text = documentText(recipe);
    const given = Object.entries(lists).filter(([, numbers]) => numbers !== undefined);
    const named = given.map(([option, numbers]) => {
      const name = snaked(option);
      return { name, numbers: words(name, numbers) };
    });
    this.#beside = beside;
    this.lists = [...named, ...beside];
    // All lists together may take as much memory as one list, so they have the limit of one list.
    const count = this.lists.reduce((sum, { numbers }) => sum + numbers.length, 0);
    if (count > LONGEST) fail('out-of-memory', 'lists', `${count} elements`, `up to ${LONGEST} of them in all lists`);
  }

  /**
   * The members of the text, for estimates of memory. Numbers may be rounded. If the text is no JSON, there are no
   * members.
   */
  get said(): Said {
    this.#said ??= parsed(this.text);
    return this.#said;
  }

  /** How many numbers a list has, beside the text or in one of these sections; 0 if there is none. */
  count(name: string, ...sections: (keyof Said)[]): number {
    const beside = this.lists.find((each) => each.name === name)?.numbers;
    const inText = sections.map((section) => this.said[section]?.[name]).find(Array.isArray);
    return (beside ?? inText)?.length ?? 0;
  }

  /** The estimated bytes of an object of this document, besides the memory that src/memory.ts estimates. */
  get size(): number {
    return this.lists.reduce((sum, { numbers }) => sum + 160 * numbers.length, 1024 + 40 * this.text.length);
  }

  get #named(): readonly NamedList[] {
    return this.lists.slice(0, this.lists.length - this.#beside.length);
  }

  /**
   * The JSON of which an equal object is made: the recipe, the lists, and `place`, the options that a recipe does not
   * have.
   */
  toJson<P extends object>(place: P): DocumentJson & P {
    const lists = this.#named.map(({ name, numbers }) => [camelled(name, '_'), Array.from(numbers, Number)]);
    const beside = this.#beside.map(({ name, numbers }) => [name, Array.from(numbers, Number)]);
    const paths = beside.length > 0 ? { lists: Object.fromEntries(beside) } : {};
    return { recipe: this.text, ...Object.fromEntries(lists), ...paths, ...place };
  }

  /**
   * The source text of a call that makes an equal object. It shows at most `most` numbers of each list, and cuts the
   * recipe likewise. `others` are arguments between the recipe and the options.
   */
  source(name: string, place: object, most: number, others: readonly string[] = []): string {
    const lists = this.#named.map((each) => `${camelled(each.name, '_')}: ${shown(each.numbers, most)}`);
    const beside = this.#beside.map(({ name, numbers }) => `${JSON.stringify(name)}: ${shown(numbers, most)}`);
    const paths = beside.length > 0 ? [`lists: { ${beside.join(', ')} }`] : [];
    const parts = [...lists, ...paths, ...settings(place)];
    const options = parts.length > 0 ? [`{ ${parts.join(', ')} }`] : [];
    return `${name}.fromRecipe(${[shownText(this.text, most), ...others, ...options].join(', ')})`;
  }
}

/** The lists beside a recipe, from an object with the paths of their members. */
export function besideOf(lists: unknown): NamedList[] {
  if (lists === undefined) return [];
  return Object.entries(record('lists', lists, 'a plain object with lists of numbers by their paths')).map(
    ([name, numbers]) => {
      const field = name.slice(name.lastIndexOf('/') + 1);
      return { name, numbers: words(field, numbers) };
    },
  );
}

/** A recipe in JSON, and the lists beside it. */
export interface DocumentJson {
  recipe: string;
}

/**
 * The recipe and the options in an object that `toJson` returned, or in its text. `known` are the names of the options.
 */
export function fromJson<O extends object>(json: DocumentJson | string, known: readonly (keyof O & string)[]) {
  const { recipe, ...given } = options(saved(json) as DocumentJson & O, ['recipe', ...known]);
  const { epoch } = given as { epoch?: unknown };
  return { recipe, given: (epoch === undefined ? given : { ...given, epoch: decimal(epoch) }) as unknown as O };
}

/** A text as a literal of a program. At most 16 * `most` characters of it are shown. */
export function shownText(text: string, most: number): string {
  if (text.length > 16 * most) return `'${text.slice(0, 16 * most)}...'`;
  return /['\\\p{Cc}]/u.test(text) ? JSON.stringify(text) : `'${text}'`;
}

function parsed(text: string): Said {
  try {
    const found = Object.entries(JSON.parse(text) ?? {});
    // A section that is null or a number is left out: the component refuses it.
    return Object.fromEntries(found.filter(([, own]) => typeof own === 'object' && own !== null));
  } catch {
    return {};
  }
}

/** The name of an option in snake case, as documents have it. */
export function snaked(name: string): string {
  return Array.from(name, (letter) => (letter >= 'A' && letter <= 'Z' ? `_${letter.toLowerCase()}` : letter)).join('');
}

/** A section of a recipe with the options that are given; undefined if none are. */
export function section(given: object): Record<string, unknown> | undefined {
  const members = Object.entries(given).filter(([, value]) => value !== undefined);
  return members.length > 0 ? Object.fromEntries(members.map(([name, value]) => [snaked(name), value])) : undefined;
}

/** Splits options: those in `names` become a section, and the others stay options. */
export function parted<T extends object, N extends keyof T & string>(
  given: T,
  names: readonly N[],
): [section: Record<string, unknown> | undefined, others: Omit<T, N>] {
  const others = { ...given };
  const own: Partial<T> = {};
  for (const name of names) {
    own[name] = others[name];
    delete others[name];
  }
  return [section(own), others];
}

/**
 * A depth of nested objects and lists that no recipe reaches. It ends the writing of an object that contains itself.
 */
const DEEPEST = 100;
/** The depth of the values in a section: the recipe has depth 0, and a section has depth 1. */
const MEMBER = 2;
/**
 * Members whose value is an object with named members of its own. Errors about such an object name the inner member.
 */
const NESTING = ['of', 'order', 'sources', 'stages', 'growth', 'ranges', 'parts'];
/** Members that may have more than 53 bits. A larger `number` is refused, since it may already be rounded. */
const WIDE = ['seed', 'epoch', 'max_tokens', 'max_cost'];
/** Members whose objects have names that callers choose, and that may be long. */
const NAMED = ['sources', 'parts'];

/** A recipe as text: an object is written as JSON, whose numbers may be `bigint` and whose lists may be typed arrays. */
function documentText(recipe: unknown): string {
  if (typeof recipe === 'string') return recipeText(recipe);
  return recipeText(written('recipe', record('recipe', recipe, 'a plain object, or a text of JSON'), 0));
}

/** A value as JSON. `field` is its name in errors. Only values that JSON cannot have are refused here. */
export function written(field: string, value: unknown, depth: number, longest = 4 * TEXT_MAX): string {
  if (depth > DEEPEST) fail('wrong-type', 'recipe', value, `objects and lists in up to ${DEEPEST} others`);
  switch (typeof value) {
    case 'string':
      // Cut, since no known name and no hash is that long, and no error shows more. Half of a surrogate pair has no
      // UTF-8, so it is replaced.
      return JSON.stringify(wellFormed(value.slice(0, longest)));
    case 'number':
      if (!Number.isFinite(value)) fail('wrong-type', field, value, 'a finite number');
      if (!Number.isInteger(value) || Number.isSafeInteger(value)) return String(value);
      if (WIDE.includes(field)) fail('out-of-range', field, value, 'a bigint, for a whole number beyond 2^53 - 1');
      // The engine refuses the number, and the error has the allowed range.
      return String(BigInt(value));
    case 'bigint':
      // Beyond 2^53 - 1 as a string, because JSON tools round such numbers.
      return Number.isSafeInteger(Number(value)) ? String(value) : `"${value}"`;
    case 'boolean':
      return String(value);
    case 'object': {
      if (value === null) return 'null';
      if (ArrayBuffer.isView(value) || Array.isArray(value)) return writtenList(field, value, depth);
      record(field, value, 'what JSON has');
      const entries = Object.entries(value).filter(([, member]) => member !== undefined);
      const texts = entries.map(([name, member]) => {
        // An error about a value in an object names the member that is this object. In sections and in `NESTING`, it
        // names the inner member.
        const isChosen = name === 'name' && NAMED.includes(field);
        const own = depth < MEMBER || NESTING.includes(field) ? name : field;
        return `${JSON.stringify(name)}:${written(own, member, depth + 1, isChosen ? MAX_TEXT : undefined)}`;
      });
      return `{${texts}}`;
    }
    default:
      fail('wrong-type', field, value, 'what JSON has');
  }
}

/** A text with the replacement character in place of each half of a surrogate pair. */
function wellFormed(text: string): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(new TextEncoder().encode(text));
}

function writtenList(field: string, value: unknown, depth: number): string {
  const elements = list(field, value);
  // A list that is too long is refused before its text is made: each element takes two characters or more.
  if (elements.length > MAX_TEXT / 2) {
    fail('out-of-range', 'recipe', `${elements.length} numbers in ${field}`, `up to ${MAX_TEXT} bytes`);
  }
  const texts = Array.from(elements, (element, i) => {
    // The engine says what is wrong with a number of a list.
    return typeof element === 'bigint'
      ? String(element)
      : placed(`at index ${i}`, () => written(field, element, depth + 1));
  });
  return `[${texts}]`;
}
