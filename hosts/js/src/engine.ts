import { using } from './engine/resources.js';
import { isFailure, SamedealError } from './errors.js';

/** The exports that every instance has. */
export interface Bindings {
  /** Frees an object, which must not be used again. Nothing else frees it but the end of the instance. */
  release(raw: object): void;
}

/** The definition of an object of an engine: how to make it, and to make it again where its instance is lost. */
export interface Recipe<B, R> {
  /** The most memory that it can come to hold, in bytes. */
  readonly size: number;
  /** The parameter that an error tells, and its value, where there is no memory for an instance. */
  readonly cause: readonly [field: string, value: unknown];
  /** The message of a call whose object was lost, if the object cannot be made again, since it has got more than its recipe says. */
  readonly lost?: string;
  /** The call that makes an equal object; of each list at most so many numbers, and of a text as much. */
  source?(most: number): string;
  /** Whether it is made again before another object is made of it: see `BEFORE_OTHERS`. */
  readonly isMadeFirst?: boolean;
  make(bindings: B): R;
}

/** A WebAssembly instance, with a memory of its own. */
class Instance<B extends Bindings> {
  readonly bindings: B;
  /** How many bytes of objects it still takes. */
  room = SHARED;
  /**
   * False while a call is under way, and so for good after a call that did not end: a trap, or a stack that overflowed,
   * leaves memory that nothing is known about.
   */
  sound = true;
  /**
   * Frees what was collected, in a task of its own. Each instance has one, and nothing else refers to that: a loop that never ends its
   * task, or awaits what is done at once, drops whole instances with all that is dead in them. None in an older workerd, where memory is given
   * back by `dispose` alone, and with the whole instance.
   */
  readonly collected =
    typeof FinalizationRegistry === 'function' ? new FinalizationRegistry<Seat<B, object>>(leave) : undefined;

  constructor(bindings: B) {
    this.bindings = bindings;
  }
}

/** Where an object is. */
export interface Seat<B extends Bindings, R> {
  instance: Instance<B>;
  raw: R;
  /** The most memory that it can come to hold, in bytes. */
  readonly size: number;
  /** The registry that frees it when its owner is collected: that of the instance in which it was made first. */
  readonly collected: Instance<B>['collected'];
}

/** How many bytes of objects share an instance. With windows and all gaps between them they stay far below the end of its memory. */
const SHARED = 64 << 20;
/** A larger object gets an instance of its own, whose memory is given back as a whole. It comes first in there. */
const LARGEST_SHARED = 4 << 20;
/** The size to declare for an object that must get an instance of its own, also if it is small. */
export const ALONE = LARGEST_SHARED + 1;
/**
 * A table that is larger than this may leave no room for a second one. So its object is dropped before another object is made of the same
 * recipe.
 */
export const BEFORE_OTHERS = 256 << 20;

/**
 * Objects in as few instances as is sound: browsers have address space for about a hundred. An object is decided by its
 * recipe, unless that says otherwise; so one whose instance is lost is made again, in another one, at its next call.
 */
export class Engine<B extends Bindings> {
  readonly #instantiate: () => B;
  #shared: Instance<B> | undefined;

  /** `instantiate` makes a new instance. */
  constructor(instantiate: () => B) {
    this.#instantiate = instantiate;
  }

  /** Calls a function that takes and gives at most `size` bytes, and keeps nothing. */
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
   * Calls an object; if that throws anything but a `SamedealError`, it is made again by `recipe` at the next call, or is
   * lost for good.
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
   * Puts what `next` makes of an object in its place, and frees that one; the rest is as in `call`. If it is an error, the object
   * is as before.
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

  /** Asks another object, which `next` makes of this one and which is freed afterwards; the rest is as in `call`. */
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

  /** The instance that takes so many bytes more. */
  #for(size: number, cause: Recipe<B, object>['cause']): Instance<B> {
    if (size > LARGEST_SHARED) return this.#instance(cause);
    if (!this.#shared?.sound || this.#shared.room < size) this.#shared = this.#instance(cause);
    return this.#shared;
  }

  #instance([field, value]: Recipe<B, object>['cause']): Instance<B> {
    try {
      return new Instance(this.#instantiate());
    } catch (error) {
      // There is no other way to tell it from a stack that overflows; near whose end V8 compiles no regular expression.
      if (!(error instanceof Error && error.message.toLowerCase().includes('memory'))) throw error;
      const allowed = 'fewer objects at a time, or smaller ones';
      throw new SamedealError({ kind: 'out-of-memory', field, value: String(value), allowed });
    }
  }
}

/** An object of an engine in the hands of the object that users see. */
export class Handle<B extends Bindings, R extends object> {
  readonly #engine: Engine<B>;
  readonly #what: string;
  #recipe: Recipe<B, R>;
  #seat: Seat<B, R> | undefined;

  /**
   * Makes the object, which lasts until `dispose`, or until `owner`, by default this, is collected; `what` is what errors call
   * it. @internal
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

  /** Asks what `next` makes of the object, and leaves the object as it is. @internal */
  protected aside<T>(next: (raw: R) => R, ask: (raw: R) => T): T {
    return this.#engine.aside(this.#there(), this.#recipe, next, ask);
  }

  /** The call that makes an equal object: see `Recipe.source`. @internal */
  protected source(most: number): string {
    return this.#recipe.source?.(most) ?? this.#what;
  }

  /** Follows what changed: nothing may throw between the call that changed it and this. @internal */
  protected follow(recipe: Recipe<B, R>): void {
    this.#recipe = recipe;
  }

  /**
   * Goes on with what `next` makes of the object. `tell` gives the recipe of that, by which it is made again, and whatever else is
   * asked of it. @internal
   */
  protected move<T extends { recipe: Recipe<B, R> }>(next: (raw: R) => R, tell: (raw: R) => T): T {
    const told = this.#engine.move(this.#there(), this.#recipe, next, tell);
    // Nothing here may throw.
    this.#recipe = told.recipe;
    return told;
  }

  /** Frees the engine's memory now rather than when the object is collected; it cannot be used afterwards. */
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

/** Older engines lack the symbol; there, `dispose()` has the same effect. */
export const symbolDispose: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose');

/** The symbol that `console.log` of Node, Deno and Bun asks for. */
export const symbolInspect: unique symbol = Symbol.for('nodejs.util.inspect.custom');

/** The part of an object of an engine that users see. */
export abstract class Facade<B extends Bindings, R extends object> extends Handle<B, R> {
  /** @internal */
  constructor(engine: Engine<B>, what: string, recipe: Recipe<B, R>) {
    super(engine, undefined, what, recipe);
  }

  /** The call that makes an equal object; it answers after `dispose()` too. */
  toString(): string {
    return this.source(Number.POSITIVE_INFINITY);
  }

  /** The text that `console.log` of Node, Deno and Bun shows: the same, with the beginning of what is long. @internal */
  [symbolInspect](): string {
    return this.source(16);
  }

  /** Calls `dispose()`, for `using`. */
  [symbolDispose](): void {
    this.dispose();
  }
}

/** The class of an entry: `Base` over the engine that `engine` gives when the first object is made. */
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
  // Before the call, as a stack that is at its end lets nothing be called after it.
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
