import { fail, mostFacts, named, placed, string, u32, u53, unknownName } from '../checks.js';
import type { ComponentBindings } from '../engine/types.js';
import type { Engine } from '../engine.js';
import { MAX_COUNT } from '../generated/limits.js';
import { SplitMembers } from '../generated/splits.js';
import { gathered, joined, LONGEST, list, numbers, words } from '../lists.js';
import type { Indices, Integer, Integers } from '../types.js';
import { SplitRecipe } from './recipe.js';
import type { SplitJson, SplitOptions, SplitParts } from './types.js';

/** How many characters of texts one call takes, unless one text alone has more. */
const CHARACTERS = 1 << 22;
/** The most samples for a call that looks at every sample. With this number, it blocks the thread for about 15 seconds. */
const MOST_SAMPLES = 2 ** 30;

type Class<T> = new (parts: SplitParts, options?: SplitOptions) => T;

/** The members of `Split`. An entry point such as index.ts adds the engine. */
export abstract class BaseSplit extends SplitMembers {
  readonly #recipe: SplitRecipe;
  #parts?: readonly string[];

  /** @internal */
  constructor(engine: Engine<ComponentBindings>, parts: SplitParts, options?: SplitOptions) {
    const recipe = options instanceof SplitRecipe ? options : SplitRecipe.of('weight', parts, options);
    super(engine, 'split', recipe);
    this.#recipe = recipe;
  }

  /**
   * A split with parts of exact sizes, for the ids 0 to n - 1, where n is the sum of the sizes. Use it if the dataset
   * does not grow. If data are added, make a new split of the new ids. Errors: as the constructor, `size` in place of
   * `weight`.
   *
   * @example
   * const split = Split.ofSizes({ test: 100, training: 900 }, { seed: 7 });
   * console.log(split.indices('test', 1000).length); // 100
   */
  static ofSizes<T>(this: Class<T>, sizes: SplitParts, options?: SplitOptions): T {
    return new this({}, SplitRecipe.of('size', sizes, options) as unknown as SplitOptions);
  }

  /**
   * A split for cross-validation: `folds` parts of equal weight, whose names are '0', '1', and so on. Fold k is
   * validated with `indices(k, samples)`, after training with `others(k, samples)`. To divide a part of another split
   * into folds, use another seed. Errors: `folds` (not 1 to 2^16), `options`, `seed`.
   *
   * @example
   * const split = Split.folds(5, { seed: 7 });
   * console.log(split.indices(0, 1000).length + split.others(0, 1000).length); // 1000
   */
  static folds<T>(this: Class<T>, folds: Integer, options?: SplitOptions): T {
    return new this({}, SplitRecipe.ofFolds(folds, options) as unknown as SplitOptions);
  }

  /**
   * The split of a recipe: an object, or a text of JSON. `split` has `seed` and `parts`: objects with a `name`, and
   * either a `weight` or a `size`. Errors: as the constructor, `recipe` (it is no JSON object), `recipe`, `split` or
   * `parts` (this object has an unknown member), `samples` (not the sum of the sizes).
   */
  static fromRecipe<T>(this: Class<T>, recipe: string | object): T {
    return new this({}, SplitRecipe.read(recipe) as unknown as SplitOptions);
  }

  /** The split that `toJSON` wrote. Errors: as `fromRecipe`. */
  static fromJSON<T>(this: Class<T>, json: SplitJson | string): T {
    return new this({}, SplitRecipe.ofJson(json) as unknown as SplitOptions);
  }

  /**
   * The split of which each part has exactly so many of these keys as its size in this split says; one more part, `rest`,
   * has all other keys. Use it to draw a sample of an exact size: by the key of each row, or of each group. Keys are
   * texts or whole numbers, of which equal ones count once. Their order changes nothing. A larger part has the keys of
   * the smaller one, if the parts before it stay the same. The new split has weights, so no key changes its part if keys
   * are added later. The memory depends on the sizes, not on the number of keys. Errors: `weights` (this split has
   * weights), `size` (fewer different keys than the sizes together; or the last key of a part and the next key are texts
   * with the same id, which happens to one sample in a billion with 10^7 texts), `name` (a part has the name `rest`, or
   * it is empty or longer than 256 bytes), `ids`, `keys` (as `partOf` and `partOfKeys`), memory.
   *
   * @example
   * const names = Array.from({ length: 1000 }, (_, number) => `${number}.jpg`);
   * const split = Split.ofSizes({ test: 100 }, { seed: 7 }).among(names, 'training');
   * console.log(split.indicesOfKeys('test', names).length); // 100
   */
  among(keys: Iterable<string | Integer>, rest = 'rest'): this {
    const name = string('rest', rest);
    const Own = this.constructor as Class<this>;
    const sizes = new Own({}, SplitRecipe.alone(this.recipe) as unknown as SplitOptions);
    try {
      const exact = sizes.call((raw) => raw.exactSizes());
      for (const some of pieces(keys)) {
        sizes.call(() => {
          if (some instanceof BigUint64Array) exact.addIds(some);
          else exact.addKeys(some.join(''), endsOf(some));
        });
      }
      const recipe = sizes.call(() => exact.recipe(name));
      return new Own({}, SplitRecipe.read(recipe) as unknown as SplitOptions);
    } finally {
      sizes.dispose();
    }
  }

  /**
   * The number of the part of each id. An id is a sample index, or the number of a group whose samples have to stay together. Errors:
   * `ids` (not below 2^53 - 1, or with sizes not below their sum; more than 2^25 of them), memory.
   *
   * @example
   * const split = new Split({ test: 1, training: 9 });
   * const names = Array.from(split.partOf([0, 1, 2]), (part) => split.parts[part]);
   */
  partOf(ids: Integers): Uint32Array<ArrayBuffer> {
    const all = words('ids', ids);
    const read = (at: number, count: number) => this.call((raw) => raw.partOf(all.subarray(at, at + count)));
    return gathered(Uint32Array, all.length, MAX_COUNT, 'ids', read);
  }

  /**
   * The number of the part of each text: of a file name, or of the key of a group whose samples have to stay together,
   * such as a patient or a document. Errors: `keys` (no texts; half of a surrogate pair in one; more than 2^25 of them,
   * or of characters in one), `sizes` (the parts have sizes, and a text has no number), memory.
   *
   * @example
   * const split = new Split({ test: 1, training: 9 });
   * const parts = split.partOfKeys(['a.jpg', 'b.jpg']);
   */
  partOfKeys(keys: readonly string[]): Uint32Array<ArrayBuffer> {
    const texts = textsOf(keys);
    const out = new Uint32Array(texts.length);
    let start = 0;
    do {
      const end = windowEnd(texts, start);
      const window = texts.slice(start, end);
      const ends = endsOf(window);
      out.set(
        this.call((raw) => raw.partOfKeys(window.join(''), ends)),
        start,
      );
      start = end;
    } while (start < texts.length);
    return out;
  }

  /**
   * The name of the part of an id, or of a text. Errors: as `partOf` and `partOfKeys`.
   *
   * @example
   * const split = new Split({ test: 1, training: 9 });
   * const name = split.nameOf('a.jpg');
   */
  nameOf(id: Integer | string): string {
    const [part] = typeof id === 'string' ? this.partOfKeys([id]) : this.partOf([id]);
    return this.#names()[part as number] as string;
  }

  /**
   * The samples of a part, ascending, of a dataset with `samples` samples. `part` is a name or a number. With sizes,
   * `samples` is their sum by default. The call looks at every sample. Errors: `part`, `samples` (missing; more than
   * 2^30; with sizes, more than their sum), memory.
   *
   * @example
   * const split = new Split({ test: 1, training: 9 }, { seed: 7 });
   * const held = order('feistel', { samples: 1000 }).subset(split.indices('test', 1000));
   */
  indices(part: string | Integer, samples?: Integer): Indices {
    const number = this.#number(part);
    return this.#gathered(samples, (start, count) => {
      return numbers(this.call((raw) => raw.members(number, start, count)));
    });
  }

  /**
   * The samples that are not in a part, ascending, of a dataset with `samples` samples: with folds, the samples to
   * train with. Errors: as `indices`.
   */
  others(part: string | Integer, samples?: Integer): Indices {
    const number = this.#number(part);
    return this.#gathered(samples, (start, count) => {
      const parts = this.call((raw) => raw.partOfRun(start, count));
      const found = new Float64Array(count);
      let length = 0;
      for (let i = 0; i < count; i++) if (parts[i] !== number) found[length++] = Number(start) + i;
      return found.subarray(0, length);
    });
  }

  /**
   * The indices, ascending, at which a list of keys has keys of a part. If `keys` has the group of each sample, these
   * are the samples of the part. Errors: `part`, and as `partOfKeys`.
   *
   * @example
   * const patients = ['anna', 'boris', 'anna', 'chen'];
   * const split = new Split({ test: 1, training: 1 }, { seed: 1 });
   * console.log(split.indicesOfKeys('test', patients).join(' ')); // 0 2
   */
  indicesOfKeys(part: string | Integer, keys: readonly string[]): Uint32Array<ArrayBuffer> {
    const number = this.#number(part);
    const parts = this.partOfKeys(keys);
    return Uint32Array.from(parts.keys()).filter((i) => parts[i] === number);
  }

  /** The recipe as it was given, for `JSON.stringify` and `fromJSON`. */
  toJSON(): SplitJson {
    return this.#recipe.document.toJson({});
  }

  #names(): readonly string[] {
    this.#parts ??= this.parts;
    return this.#parts;
  }

  #number(part: unknown): number {
    if (typeof part !== 'string') {
      // Asks for no sample, so that the engine checks `part`, also if there are no samples.
      const ask = (number: number) => this.call((raw) => raw.members(number, 0n, 0));
      const number = u32('part', part, (other) => ask(Number(other)));
      ask(number);
      return number;
    }
    const names = this.#names();
    const number = names.indexOf(part);
    if (number < 0) unknownName('part', part, names);
    return number;
  }

  /** The number of samples, if the parts have sizes. */
  #samples(): number {
    const { samples } = JSON.parse(this.recipe).split;
    if (samples === undefined)
      fail('missing', 'samples', '', 'the number of samples of the dataset, as the parts have weights');
    return samples;
  }

  /** The samples that `read` finds among `samples` samples, window by window. */
  #gathered(samples: Integer | undefined, read: (start: bigint, count: number) => Float64Array): Indices {
    const end = u53('samples', samples === undefined ? this.#samples() : samples);
    named('samples', () => this.call((raw) => raw.partOfRun(end, 0)));
    if (end > MOST_SAMPLES) {
      const allowed = `up to ${MOST_SAMPLES}, each of which is looked at; for more, ask partOf for some of them at a time`;
      fail('out-of-range', 'samples', end, allowed, mostFacts(MOST_SAMPLES));
    }
    const found: Indices[] = [];
    let count = 0;
    for (let at = 0; at < end; at += MAX_COUNT) {
      const window = read(BigInt(at), Math.min(MAX_COUNT, Number(end) - at));
      found.push(joined([window], window.length, end, ['samples', end]));
      count += window.length;
    }
    return joined(found, count, end, ['samples', end]);
  }
}

/** The keys in pieces, each of texts or of numbers. */
function* pieces(keys: Iterable<string | Integer>): Generator<readonly string[] | BigUint64Array<ArrayBuffer>> {
  if (typeof keys === 'string' || typeof keys?.[Symbol.iterator] !== 'function')
    fail('wrong-type', 'keys', keys, 'an iterable of texts or of whole numbers');
  const checked = (some: (string | Integer)[]) =>
    typeof some[0] === 'string' ? textsOf(some as string[]) : words('ids', some as Integer[]);
  let some: (string | Integer)[] = [];
  let characters = 0;
  for (const key of keys) {
    if (typeof key === 'string') characters += key.length;
    if (some.length === MAX_COUNT || (characters > CHARACTERS && some.length > 0)) {
      yield checked(some);
      some = [];
      characters = typeof key === 'string' ? key.length : 0;
    }
    some.push(key);
  }
  if (some.length > 0) yield checked(some);
}

/** An array of texts. */
function textsOf(value: unknown): readonly string[] {
  if (!Array.isArray(value)) fail('wrong-type', 'keys', value, 'an array of texts');
  return Array.from(list('keys', value), (key, i) =>
    placed(`at index ${i}`, () => {
      if (typeof key !== 'string') fail('wrong-type', 'keys', key, 'a text');
      if (key.length > LONGEST)
        fail('out-of-memory', 'keys', `a text of ${key.length} characters`, `up to ${LONGEST} of them`);
      // An encoder would turn every half of a surrogate pair into the same bytes, so different texts would become one.
      if (/\p{Surrogate}/u.test(key)) {
        const allowed = 'texts that UTF-8 can encode: no half of a surrogate pair';
        fail('out-of-range', 'keys', JSON.stringify(key).slice(0, 64), allowed);
      }
      return key;
    }),
  );
}

const ENCODER = new TextEncoder();

/** For each text, how many bytes of UTF-8 there are up to its end, if all are laid end to end. */
function endsOf(texts: readonly string[]): Uint32Array<ArrayBuffer> {
  const ends = new Uint32Array(texts.length);
  let end = 0;
  texts.forEach((text, i) => {
    end += ENCODER.encode(text).length;
    ends[i] = end;
  });
  return ends;
}

/** The end of the run of texts, from `start` on, that one call takes. */
function windowEnd(texts: readonly string[], start: number): number {
  let characters = 0;
  let end = start;
  while (end < texts.length && end - start < MAX_COUNT) {
    characters += (texts[end] as string).length;
    if (characters > CHARACTERS && end > start) break;
    end += 1;
  }
  return end;
}
