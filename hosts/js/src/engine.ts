import { using } from './engine/resources.js';
import { isFailure, SamedealError } from './errors.js';

/** The exports that every instance has. */
export interface Bindings {
  /** Frees an object, which must not be used again. An object that is not freed lasts as long as its instance. */
  release(raw: object): void;
}

/** The definition of an object of an engine: how to make it, and to make it again where its instance is lost. */
export interface Recipe<B, R> {
  /** The most memory that the object can come to use, in bytes. */
  readonly size: number;
  /** The parameter and its value in the error if there is no memory for an instance. */
  readonly cause: readonly [field: string, value: unknown];
  /**
   * The message of a call after the object was lost, for an object that cannot be made again, since it has received
   * data that its recipe does not have.
   */
  readonly lost?: string;
  /**
   * The source text of a call that makes an equal object, with at most `most` numbers of each list, and a text cut
   * likewise.
   */
  source?(most: number): string;
  /**
   * Whether the object may have a table so large that there is no room for a second one. Then `move` frees the object
   * and makes it again, without the table, before it makes the next object from it: see `BEFORE_OTHERS`.
   */
  readonly isMadeFirst?: boolean;
  make(bindings: B): R;
}

/** A WebAssembly instance, with a memory of its own. */
class Instance<B extends Bindings> {
  readonly bindings: B;
  /** How many bytes of further objects fit into the instance. */
  room = SHARED;
  /**
   * Whether the instance can be called. False during a call; it stays false after a call that did not return (a trap, a
   * stack overflow), since the state of the memory is unknown then.
   */
  sound = true;
  /**
   * The registry that frees objects whose owners were collected; it does so in tasks of its own. Each instance has its
   * own registry, to which only the instance and the seats of its objects refer: so a loop that lets no other task run
   * still drops whole instances, with all dead objects in them. Undefined in an older workerd, where memory is only
   * freed by `dispose`, and with the whole instance.
   */
  readonly collected =
    typeof FinalizationRegistry === 'function' ? new FinalizationRegistry<Seat<B, object>>(leave) : undefined;

  constructor(bindings: B) {
    this.bindings = bindings;
  }
}

/** The place of an object: its instance, and the object in there. */
export interface Seat<B extends Bindings, R> {
  instance: Instance<B>;
  raw: R;
  /** The most memory that the object can come to use, in bytes. */
  readonly size: number;
  /**
   * The registry that frees the object when its owner is collected: that of the instance in which the object was first
   * made.
   */
  readonly collected: Instance<B>['collected'];
}

/**
 * How many bytes of objects share an instance. Together with the lists that calls return and the gaps between
 * allocations, these objects stay far below the memory limit of an instance.
 */
const SHARED = 64 << 20;
/**
 * The size of the largest object that shares an instance. A larger object gets an instance of its own, which is freed
 * as a whole.
 */
const LARGEST_SHARED = 4 << 20;
/** The size to declare for an object that must get an instance of its own, also if it is small. */
export const ALONE = LARGEST_SHARED + 1;
/**
 * The size of a table, in bytes, above which an instance may have no room for a second one. Before the next object is
 * made from an object with such a table, that object is freed, and made again without the table.
 */
export const BEFORE_OTHERS = 256 << 20;

/**
 * Puts objects into few instances, since browsers have address space for about a hundred instances. If the instance of
 * an object is lost, the next call of the object makes it again in another instance, from its recipe. (If the recipe
 * has `lost`, the call fails with this message.)
 */
export class Engine<B extends Bindings> {
  readonly #instantiate: () => B;
  #shared: Instance<B> | undefined;

  /** `instantiate` makes a new instance. */
  constructor(instantiate: () => B) {
    this.#instantiate = instantiate;
  }

  /**
   * Calls a function that makes no object, in an instance with room for `size` bytes: the most that its arguments and
   * its result take together.
   */
  once<T>(cause: Recipe<B, object>['cause'], size: number, call: (bindings: B) => T): T {
    const instance = this.#for(size, cause);
    return run(instance, () => call(instance.bindings));
  }

  /** Makes an object, which lasts until `close`, or until `owner` is collected. */
  open<R extends object>(owner: object, recipe: Recipe<B, R>): Seat<B, R> {
    const seat = this.#place(recipe, recipe.size);
    // An object with an instance of its own is collected with that instance.
    if (seat.size <= LARGEST_SHARED) seat.collected?.register(owner, seat, seat);
    return seat;
  }

  /**
   * Calls an object. If the call throws anything but a `SamedealError`, the next call makes the object again by
   * `recipe`, or fails if `recipe` has `lost`.
   */
  call<R extends object, T>(seat: Seat<B, R>, recipe: Recipe<B, R>, call: (raw: R) => T): T {
    if (!seat.instance.sound) {
      if (recipe.lost !== undefined) throw new Error(recipe.lost);
      const { instance, raw } = this.#place(recipe, seat.size);
      seat.instance = instance;
      seat.raw = raw;
    }
    const { instance, raw } = seat;
    return run(instance, () => call(raw));
  }

  /**
   * Replaces an object by a new one, which `next` makes from the old one, and frees the old one. Returns the result of
   * `tell` for the new object. If `next` throws a failure, the old object stays as it was. For any other error, see
   * `call`.
   */
  move<R extends object, T>(seat: Seat<B, R>, recipe: Recipe<B, R>, next: (raw: R) => R, tell: (raw: R) => T): T {
    return this.call(seat, recipe, () => {
      const { bindings } = seat.instance;
      if (recipe.isMadeFirst) {
        bindings.release(seat.raw);
        seat.raw = recipe.make(bindings);
      }
      const before = seat.raw;
      seat.raw = next(before);
      bindings.release(before);
      return tell(seat.raw);
    });
  }

  /**
   * Returns the result of `ask` for a temporary object, which `next` makes from this object, and which is freed
   * afterwards. For errors, see `call`.
   */
  aside<R extends object, T>(seat: Seat<B, R>, recipe: Recipe<B, R>, next: (raw: R) => R, ask: (raw: R) => T): T {
    return this.call(seat, recipe, (raw) => using(next(raw), ask, seat.instance.bindings.release));
  }

  /** Frees an object, which must not be used again. */
  close(seat: Seat<B, object>): void {
    seat.collected?.unregister(seat);
    leave(seat);
  }

  #place<R>(recipe: Recipe<B, R>, size: number): Seat<B, R> {
    const instance = this.#for(size, recipe.cause);
    const raw = run(instance, () => recipe.make(instance.bindings));
    instance.room -= size;
    return { instance, raw, size, collected: instance.collected };
  }

  /** An instance with room for `size` more bytes. */
  #for(size: number, cause: Recipe<B, object>['cause']): Instance<B> {
    if (size > LARGEST_SHARED) return this.#instance(cause);
    if (!this.#shared?.sound || this.#shared.room < size) this.#shared = this.#instance(cause);
    return this.#shared;
  }

  #instance([field, value]: Recipe<B, object>['cause']): Instance<B> {
    try {
      return new Instance(this.#instantiate());
    } catch (error) {
      // Only the message tells a lack of memory from a stack overflow. Near the end of the stack, V8 compiles no
      // regular expression.
      if (!(error instanceof Error && error.message.toLowerCase().includes('memory'))) throw error;
      const allowed = 'fewer objects at a time, or smaller ones';
      throw new SamedealError({ kind: 'out-of-memory', field, value: String(value), allowed });
    }
  }
}

/** The connection of an object that users see to its object in the engine. */
export class Handle<B extends Bindings, R extends object> {
  readonly #engine: Engine<B>;
  readonly #what: string;
  #recipe: Recipe<B, R>;
  #seat: Seat<B, R> | undefined;

  /**
   * Makes the object, which lasts until `dispose`, or until `owner` (by default this handle) is collected. `what` is
   * its name in errors. @internal
   */
  constructor(engine: Engine<B>, owner: object | undefined, what: string, recipe: Recipe<B, R>) {
    this.#engine = engine;
    this.#what = what;
    this.#recipe = recipe;
    this.#seat = engine.open(owner ?? this, recipe);
  }

  /** @internal */
  call<T>(call: (raw: R) => T): T {
    return this.#engine.call(this.#there(), this.#recipe, call);
  }

  /**
   * Returns the result of `ask` for a temporary object, which `next` makes from this one. The object itself is
   * unchanged. @internal
   */
  protected aside<T>(next: (raw: R) => R, ask: (raw: R) => T): T {
    return this.#engine.aside(this.#there(), this.#recipe, next, ask);
  }

  /** The source text of a call that makes an equal object: see `Recipe.source`. @internal */
  protected source(most: number): string {
    return this.#recipe.source?.(most) ?? this.#what;
  }

  /**
   * Stores the recipe of an object that a call changed. Nothing may throw between that call and this one: a lost object
   * would be made again as it was before. @internal
   */
  protected follow(recipe: Recipe<B, R>): void {
    this.#recipe = recipe;
  }

  /**
   * Replaces the object by the one that `next` makes of it. `tell` returns the recipe by which the new object can be
   * made again, and other facts about the new object. @internal
   */
  protected move<T extends { recipe: Recipe<B, R> }>(next: (raw: R) => R, tell: (raw: R) => T): T {
    const told = this.#engine.move(this.#there(), this.#recipe, next, tell);
    // Nothing may throw before this: the recipe would be that of the old object.
    this.#recipe = told.recipe;
    return told;
  }

  /**
   * Frees the object's memory in the engine now, not only when the object is collected. Afterwards, it cannot be used.
   */
  dispose(): void {
    const seat = this.#seat;
    if (!seat) return;
    this.#seat = undefined;
    this.#engine.close(seat);
  }

  #there(): Seat<B, R> {
    if (!this.#seat) throw new Error(`this ${this.#what} has been disposed of`);
    return this.#seat;
  }
}

/** The symbol of `using`. Older engines do not have it; there, call `dispose()` instead. */
export const symbolDispose: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose');

/** The symbol that `console.log` of Node, Deno and Bun asks for. */
export const symbolInspect: unique symbol = Symbol.for('nodejs.util.inspect.custom');

/** The base of the public classes whose objects exist in an engine. */
export abstract class Facade<B extends Bindings, R extends object> extends Handle<B, R> {
  /** @internal */
  constructor(engine: Engine<B>, what: string, recipe: Recipe<B, R>) {
    super(engine, undefined, what, recipe);
  }

  /** The source text of a call that makes an equal object; also after `dispose()`. */
  toString(): string {
    return this.source(Number.POSITIVE_INFINITY);
  }

  /**
   * The text that `console.log` of Node, Deno and Bun shows: as `toString`, with long lists and texts cut. @internal
   */
  [symbolInspect](): string {
    return this.source(16);
  }

  /** Calls `dispose()`, for `using`. */
  [symbolDispose](): void {
    this.dispose();
  }
}

/** The public class of an entry point: `Base`, with the engine that `engine` returns when an object is made. */
export function over<B extends Bindings, A extends unknown[], T extends object, S extends object>(
  Base: (abstract new (engine: Engine<B>, ...args: A) => T) & S,
  engine: () => Engine<B>,
): (new (...args: A) => T) & Omit<S, 'prototype'> {
  const Bound = class extends (Base as unknown as new (engine: Engine<B>, ...args: A) => object) {
    constructor(...args: A) {
      super(engine(), ...args);
    }
  };
  return Bound as unknown as (new (...args: A) => T) & Omit<S, 'prototype'>;
}

function leave<B extends Bindings>({ instance, raw, size }: Seat<B, object>): void {
  if (!instance.sound) return;
  run(instance, () => instance.bindings.release(raw));
  instance.room += size;
}

/** Calls into an instance; `call` must do nothing else. */
function run<B extends Bindings, T>(instance: Instance<B>, call: () => T): T {
  // Set before the call: after a stack overflow, there may be no stack left to set it.
  instance.sound = false;
  try {
    const result = call();
    instance.sound = true;
    return result;
  } catch (error) {
    if (!isFailure(error)) throw error;
    instance.sound = true;
    throw new SamedealError(error);
  }
}
