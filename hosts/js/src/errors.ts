/** The kinds of failure, for programs to branch on. A later component may have further kinds. */
export type Kind =
  | 'out-of-range'
  | 'unknown-name'
  | 'unknown-member'
  | 'out-of-memory'
  | 'wrong-type'
  | 'missing'
  | 'contradiction'
  | (string & {});

/** One fact about what is allowed, as the bindings give it. */
export interface Fact {
  name: string;
  value: string;
}

/** A failure as data: which value was wrong, and what is allowed. */
export interface Failure {
  /** The kind of the failure. */
  kind: Kind;
  /** The name of the parameter or of the member of a recipe at fault, the same in every language, such as `batch_size`. */
  field: string;
  /**
   * The path of a member in its recipe or state, such as `deal.world_size` or `order.sources[0].weight`; its last name
   * is `field`. For any other value, the path is `field`.
   */
  path: string;
  /** The wrong value as text (cut after 64 characters). */
  value: string;
  /** A description of the allowed values, for people. */
  allowed: string;
}

/** Whether a thrown value is a failure of the engine, as the bindings throw it. */
export function isFailure(error: unknown): error is Raw {
  return typeof error === 'object' && error !== null && !(error instanceof Error) && 'kind' in error;
}

/** A failure as the bindings give it. */
export interface Raw extends Omit<Failure, 'path'> {
  path?: string;
  facts?: readonly Fact[];
}

/**
 * The error of this package for values that a caller passes. The message uses JavaScript's names (`batchSize`); `field`
 * and `path` have the names that all languages share (`batch_size`). The object whose call failed can be used as
 * before.
 */
export class SamedealError extends Error implements Failure {
  override readonly name = 'SamedealError';
  readonly kind: Kind;
  readonly field: string;
  readonly path: string;
  readonly value: string;
  readonly allowed: string;
  /**
   * The allowed values for programs, if they are a range, names or one value: texts under the names `min`, `max`,
   * `known` and `needs`. The properties of these names return them.
   */
  readonly facts: Readonly<Record<string, readonly string[]>>;

  /** @internal */
  constructor({ kind, field, path = field, value, allowed, facts = [] }: Raw) {
    super(message({ kind, path, value, allowed: inOptions(allowed, facts) }));
    this.kind = kind;
    this.field = field;
    this.path = path;
    this.value = value;
    this.allowed = allowed;
    const byName: Record<string, string[]> = {};
    for (const fact of facts) {
      const values = byName[fact.name] ?? [];
      values.push(fact.value);
      byName[fact.name] = values;
    }
    this.facts = byName;
  }

  /** The object that `JSON.stringify` writes. Without this method it would leave out the message. */
  toJSON(): Failure & { name: string; message: string; facts: Readonly<Record<string, readonly string[]>> } {
    const { name, message, kind, field, path, value, allowed, facts } = this;
    return { name, message, kind, field, path, value, allowed, facts };
  }

  /** The smallest number that is allowed, if the failure says it; a `bigint` where it is beyond 2^53 - 1. */
  get min(): number | bigint | undefined {
    return numberOf(this.facts.min);
  }

  /** The largest number that is allowed, if the failure says it; a `bigint` where it is beyond 2^53 - 1. */
  get max(): number | bigint | undefined {
    return numberOf(this.facts.max);
  }

  /** The known names, if one of them is allowed; else empty. */
  get known(): readonly string[] {
    return this.facts.known ?? [];
  }

  /** The only value that is allowed, if there is one. */
  get needs(): string | undefined {
    return this.facts.needs?.[0];
  }
}

function numberOf(values: readonly string[] | undefined): number | bigint | undefined {
  if (values?.[0] === undefined) return undefined;
  const number = Number(values[0]);
  return Number.isSafeInteger(number) ? number : BigInt(values[0]);
}

/**
 * A name in camel case, from words with `mark` between them. It uses no regular expression, since V8 may not compile
 * one near the end of the stack: see src/engine.ts.
 */
export function camelled(name: string, mark: '-' | '_'): string {
  const [first, ...others] = name.split(mark);
  return [first, ...others.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join('');
}

/**
 * The text `allowed`, with option names in camel case: the engine writes them in snake case, as recipes do. If a fact
 * has an underscore, the words with underscores in the text are values and not options, so the text stays as it is.
 */
function inOptions(allowed: string, facts: readonly Fact[]): string {
  if (facts.some(({ value }) => value.includes('_'))) return allowed;
  const isOption = (word: string) => word.includes('_') && word === word.toLowerCase();
  return allowed
    .split(' ')
    .map((word) => (isOption(word) ? camelled(word, '_') : word))
    .join(' ');
}

/**
 * A path as messages show it: without the section, since its members are options of a call. The name of an order is
 * called `order`.
 */
function spoken(path: string): string {
  const point = path.indexOf('.');
  const within = path.slice(point + 1);
  return camelled(point > 0 && within === 'name' ? path.slice(0, point) : within, '_');
}

function message({ kind, path, value, allowed }: Omit<Failure, 'field'>): string {
  const name = spoken(path);
  switch (kind) {
    case 'unknown-name':
      return `${name} is "${value}"; known: ${allowed}`;
    case 'unknown-member':
      return `${name} has no member "${value}"; known: ${allowed}`;
    case 'out-of-memory':
      return `no memory for ${name} = ${value}; allowed: ${allowed}`;
    case 'missing': {
      // If several values could be missing, `value` says which one is: its source, or its place in a list.
      const which = value === '' || value.startsWith('(') ? value : `(${value})`;
      return `${[name, 'is missing', which].filter((word) => word !== '').join(' ')}; needed: ${allowed}`;
    }
    default:
      return `${name} is ${value}; allowed: ${allowed}`;
  }
}
