/** The kinds of failure: what a program branches on. */
export type Kind = 'out-of-range' | 'unknown-name' | 'out-of-memory' | 'wrong-type' | 'missing' | 'contradiction';

/** Which value was wrong and what is allowed, as data. */
export interface Failure {
  /** What kind of failure this is. */
  kind: Kind;
  /** The parameter at fault, by its name in the language-neutral interface, such as `batch-size`. */
  field: string;
  /** Its value as text (cut after 64 characters). */
  value: string;
  /** What is allowed in its place, for people. */
  allowed: string;
}

/**
 * The one error of this package that depends on what a caller passes. The message uses JavaScript's names
 * (`batchSize`); `field` keeps the name that all languages share (`batch-size`). The object that threw it is as good
 * as before.
 */
export class SamedealError extends Error implements Failure {
  override readonly name = 'SamedealError';
  readonly kind: Kind;
  readonly field: string;
  readonly value: string;
  readonly allowed: string;

  /** @internal */
  constructor({ kind, field, value, allowed }: Failure) {
    super(message({ kind, field, value, allowed }));
    this.kind = kind;
    this.field = field;
    this.value = value;
    this.allowed = allowed;
  }
}

/**
 * A name whose words have a mark between them, as JavaScript writes it. Without a regular expression, which V8 may not compile
 * near the end of the stack: see src/engine.ts.
 */
export function camelled(name: string, mark: '-' | '_'): string {
  const [first, ...others] = name.split(mark);
  return [first, ...others.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join('');
}

function message({ kind, field, value, allowed }: Failure): string {
  const name = camelled(field, '-');
  switch (kind) {
    case 'unknown-name':
      return `${name} is "${value}"; known: ${allowed}`;
    case 'out-of-memory':
      return `no memory for ${name} = ${value}; allowed: ${allowed}`;
    case 'missing':
      return `${name} is missing; needed: ${allowed}`;
    default:
      return `${name} is ${value}; allowed: ${allowed}`;
  }
}
