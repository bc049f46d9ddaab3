// Calls into the core module of a component, by the canonical ABI of the component model, for the types that the
// interfaces of `wit/` have. A list of numbers is copied in one piece, as a typed array. `crates/generator` writes the
// data that describes the interfaces.
import { disposes } from './resources.js';

/** A type of the interfaces: the name of a simple type, or the parts of a compound one. */
export type Type = 'bool' | 'u32' | 'u64' | 's64' | 'string' | Made;
/**
 * A compound type: its kind, and its parts. `list`, `option`: the type of the element. `result`: a type or null, and
 * one for errors. `record`: fields, each a name and a type. `tuple`: types. `enum`: names. `own`, `borrow`: a resource.
 */
interface Made extends ReadonlyArray<Type | string | null | readonly [name: string, type: Type]> {
  readonly 0: 'list' | 'option' | 'result' | 'record' | 'tuple' | 'enum' | 'own' | 'borrow' | typeof HANDLE;
}

/** A call: its export, its parameters (a method has its object first), and what it returns. */
type Call = readonly [name: string, parameters: readonly Type[], result: Type | null];

/** The interfaces of a component, by their names. */
export type Interfaces = Readonly<
  Record<
    string,
    {
      id: string;
      resources: Readonly<Record<string, Readonly<Record<string, Call>>>>;
      functions: Readonly<Record<string, Call>>;
    }
  >
>;

type Flat = number | bigint;
type CoreFunction = (...flat: Flat[]) => Flat | undefined;

/** The encoding of a type: how its values are passed to a core function and read from its result. */
interface Codec {
  /** The size and the alignment of a value in memory. */
  readonly size: number;
  readonly align: number;
  /** The parameters of the core function for a missing value, as in an empty option. A value has as many parameters. */
  readonly none: readonly Flat[];
  /** Reads a value from memory. */
  load(at: number): unknown;
  /** Writes a value to memory. */
  store(at: number, value: never): void;
  /** Adds a value to the parameters of a core function. */
  lower(out: Flat[], value: never): void;
  /** Makes the value from the single number that a core function returns. */
  lift(flat: Flat): unknown;
}

/** An object of a resource. Its handle is its address in the memory of its instance. */
interface Resource {
  handle: number;
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const encoder = new TextEncoder();

const aligned = (at: number, align: number): number => (at + align - 1) & -align;

/** An instance of a core module, and the classes and functions of its interfaces. */
export class Core {
  readonly memory: WebAssembly.Memory;
  readonly #exports: Record<string, CoreFunction>;
  readonly #realloc: CoreFunction;
  /** A view of the memory. When a call makes the memory grow, the view has to be made again: see `#look`. */
  view: DataView;

  /** Makes an instance. `interfaceOf` makes the classes and functions of its interfaces. */
  constructor(module: WebAssembly.Module) {
    // The imports turn objects into handles and back. Handles are addresses, so every import returns its argument. This
    // also serves for the imports that drop an object, since the component never drops an object that it gave away.
    const imports: Record<string, Record<string, (handle: number) => number | undefined>> = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
      imports[from] ??= {};
      imports[from][name] = (handle) => handle;
    }
    const { exports } = new WebAssembly.Instance(module, imports);
    this.memory = exports.memory as WebAssembly.Memory;
    this.#exports = exports as Record<string, CoreFunction>;
    this.#realloc = this.#exports.cabi_realloc as CoreFunction;
    this.#exports._initialize?.();
    this.view = new DataView(this.memory.buffer);
  }

  /** Renews the view if a call made the memory grow. A check before each read would cost more than the read. */
  #look(): void {
    if (this.view.buffer !== this.memory.buffer) this.view = new DataView(this.memory.buffer);
  }

  /** The address of newly allocated memory. */
  room(size: number, align: number): number {
    if (size === 0) return align;
    const at = Number(this.#realloc(0, 0, align, size)) >>> 0;
    this.#look();
    return at;
  }

  /** The classes of the resources of an interface, and its functions, by their names. */
  interfaceOf({ id, resources, functions }: Interfaces[string]): Record<string, unknown> {
    const classes: Record<string, new (...values: unknown[]) => Resource> = {};
    const made: Record<string, unknown> = {};
    for (const [resource, calls] of Object.entries(resources)) {
      const Class = this.#class(id, resource, calls, classes);
      classes[resource] = Class;
      made[pascal(resource)] = Class;
    }
    for (const [name, call] of Object.entries(functions)) made[name] = this.#call(id, call, classes);
    return made;
  }

  #class(id: string, resource: string, calls: Readonly<Record<string, Call>>, classes: Classes) {
    const { new: make, ...methods } = calls;
    // A resource without a constructor is made by functions alone.
    const making = make && this.#call(id, [make[0], make[1], handleOf(make[2])], classes);
    const Class = class implements Resource {
      handle: number;

      constructor(...values: unknown[]) {
        if (!making) throw new TypeError(`${resource} has no constructor`);
        this.handle = making(...values) as number;
      }
    };
    const drop = this.#exports[`${id}#[dtor]${resource}`] as (handle: number) => void;
    const prototype = Class.prototype as unknown as Record<PropertyKey, unknown>;
    prototype[disposes] = function (this: Resource) {
      drop(this.handle);
    };
    for (const [name, call] of Object.entries(methods)) {
      const calling = this.#call(id, call, classes);
      prototype[name] = function (this: Resource, ...values: unknown[]) {
        return calling(this, ...values);
      };
    }
    return Class;
  }

  /**
   * A function for a call. Its codecs are made at the first call, since an instance has many functions that nobody
   * calls.
   */
  #call(id: string, call: Call, classes: Classes): (...values: unknown[]) => unknown {
    let made: ((...values: unknown[]) => unknown) | undefined;
    return (...values) => {
      made ??= this.#made(id, call, classes);
      return made(...values);
    };
  }

  #made(id: string, [name, parameters, result]: Call, classes: Classes): (...values: unknown[]) => unknown {
    const path = `${id}#${name}`;
    const inner = this.#exports[path];
    // An older component may lack the function. The error comes when the function is called, not earlier.
    if (!inner) return () => missing(path);
    const after = this.#exports[`cabi_post_${path}`];
    const codecs = parameters.map((type) => this.#codec(type, classes));
    const returned = result === null ? undefined : this.#codec(result, classes);
    const fails = isMade(result) && result[0] === 'result';
    return (...values) => {
      const flat: Flat[] = [];
      for (let i = 0; i < codecs.length; i++) (codecs[i] as Codec).lower(flat, values[i] as never);
      const back = inner(...flat);
      this.#look();
      if (!returned) return undefined;
      // A result that does not fit into a single number is in memory: `back` is its address.
      const value = returned.none.length > 1 ? returned.load(Number(back) >>> 0) : returned.lift(back as Flat);
      after?.(back as Flat);
      if (!fails) return value;
      const [isOk, inside] = value as [boolean, unknown];
      if (!isOk) throw inside;
      return inside;
    };
  }

  #codec(type: Type, classes: Classes): Codec {
    if (!isMade(type)) return type === 'string' ? this.#texts() : this.#plain(type);
    const [kind, ...of] = type;
    switch (kind) {
      case 'list':
        return this.#list(of[0] as Type, classes);
      case 'option':
        return this.#option(this.#codec(of[0] as Type, classes));
      case 'result': {
        const [ok, error] = (of as (Type | null)[]).map((each) =>
          each === null ? NOTHING : this.#codec(each, classes),
        );
        return this.#result(ok as Codec, error as Codec);
      }
      case 'record': {
        const fields = of as (readonly [string, Type])[];
        return this.#fields(
          fields.map(([, each]) => this.#codec(each, classes)),
          fields.map(([name]) => name),
        );
      }
      case 'tuple':
        return this.#fields((of as Type[]).map((each) => this.#codec(each, classes)));
      case 'enum':
        return this.#enum(of as string[]);
      default:
        return this.#handles(kind, of[0] as string, classes);
    }
  }

  #plain(type: 'bool' | 'u32' | 'u64' | 's64'): Codec {
    const one = (lower: Codec['lower'], none: Flat = 0) => ({ lower, none: [none] });
    switch (type) {
      case 'bool':
        return {
          ...one((out, value: boolean) => out.push(value ? 1 : 0)),
          size: 1,
          align: 1,
          load: (at) => this.view.getUint8(at) !== 0,
          store: (at, value: boolean) => this.view.setUint8(at, value ? 1 : 0),
          lift: (flat) => flat !== 0,
        };
      case 'u32':
        return {
          ...one((out, value) => out.push(value)),
          size: 4,
          align: 4,
          load: (at) => this.view.getUint32(at, true),
          store: (at, value) => this.view.setUint32(at, value, true),
          lift: (flat) => (flat as number) >>> 0,
        };
      default: {
        const isSigned = type === 's64';
        return {
          ...one((out, value) => out.push(value), 0n),
          size: 8,
          align: 8,
          load: (at) => (isSigned ? this.view.getBigInt64(at, true) : this.view.getBigUint64(at, true)),
          store: (at, value) => this.view.setBigUint64(at, value, true),
          lift: (flat) => (isSigned ? flat : BigInt.asUintN(64, flat as bigint)),
        };
      }
    }
  }

  /** A type whose values are passed as an address and a length. */
  #pair(load: (at: number, length: number) => unknown, write: (value: never) => [at: number, length: number]): Codec {
    return {
      size: 8,
      align: 4,
      none: [0, 0],
      load: (at) => load(this.view.getUint32(at, true), this.view.getUint32(at + 4, true)),
      store: (at, value) => {
        const [to, length] = write(value);
        this.view.setUint32(at, to, true);
        this.view.setUint32(at + 4, length, true);
      },
      lower: (out, value) => {
        const [to, length] = write(value);
        out.push(to, length);
      },
      lift: never,
    };
  }

  #texts(): Codec {
    return this.#pair(
      (at, length) => decoder.decode(new Uint8Array(this.memory.buffer, at, length)),
      (value: string) => {
        const bytes = encoder.encode(value);
        const at = this.room(bytes.length, 1);
        new Uint8Array(this.memory.buffer, at, bytes.length).set(bytes);
        return [at, bytes.length];
      },
    );
  }

  #list(type: Type, classes: Classes): Codec {
    if (type === 'u32' || type === 'u64') {
      const List = type === 'u32' ? Uint32Array : BigUint64Array;
      const size = List.BYTES_PER_ELEMENT;
      return this.#pair(
        (at, length) => (length === 0 ? new List() : new List(this.memory.buffer, at, length).slice()),
        (values: ArrayLike<never>) => {
          const at = this.room(values.length * size, size);
          if (values.length > 0) new List(this.memory.buffer, at, values.length).set(values);
          return [at, values.length];
        },
      );
    }
    const { size, align, load, store } = this.#codec(type, classes);
    return this.#pair(
      (at, length) => Array.from({ length }, (_, i) => load(at + i * size)),
      (values: readonly never[]) => {
        const at = this.room(values.length * size, align);
        for (let i = 0; i < values.length; i++) store(at + i * size, values[i] as never);
        return [at, values.length];
      },
    );
  }

  #option({ size, align, none, load, store, lower }: Codec): Codec {
    const inside = aligned(1, align);
    return {
      size: aligned(inside + size, align),
      align,
      none: [0, ...none],
      load: (at) => (this.view.getUint8(at) === 0 ? undefined : load(at + inside)),
      store: (at, value) => {
        this.view.setUint8(at, value === undefined ? 0 : 1);
        if (value !== undefined) store(at + inside, value);
      },
      lower: (out, value) => {
        out.push(value === undefined ? 0 : 1);
        if (value === undefined) out.push(...none);
        else lower(out, value);
      },
      lift: never,
    };
  }

  /**
   * The codec of a result: loads whether the call succeeded, and the value or the error. Calls only return results, and
   * never take them as parameters.
   */
  #result(ok: Codec, error: Codec): Codec {
    const align = Math.max(ok.align, error.align);
    const inside = aligned(1, align);
    return {
      size: aligned(inside + Math.max(ok.size, error.size), align),
      align,
      none: [0, ...(ok.none.length > error.none.length ? ok.none : error.none)],
      load: (at) => {
        const isOk = this.view.getUint8(at) === 0;
        return [isOk, (isOk ? ok : error).load(at + inside)];
      },
      store: never,
      lower: never,
      lift: never,
    };
  }

  /** Values side by side: the parts of a tuple, or with names the fields of a record. */
  #fields(codecs: readonly Codec[], names?: readonly string[]): Codec {
    const places: number[] = [];
    let [end, most] = [0, 1];
    for (const { size, align } of codecs) {
      places.push(aligned(end, align));
      end = aligned(end, align) + size;
      most = Math.max(most, align);
    }
    const part = (value: unknown, i: number) => (value as Record<string | number, never>)[names?.[i] ?? i] as never;
    return {
      size: aligned(end, most),
      align: most,
      none: codecs.flatMap(({ none }) => none),
      // A loop, since it is fast: loading is most of the cost of a call that returns a record.
      load: (at) => {
        const made = (names ? {} : []) as Record<string | number, unknown>;
        for (let i = 0; i < codecs.length; i++)
          made[names?.[i] ?? i] = (codecs[i] as Codec).load(at + (places[i] as number));
        return made;
      },
      store: (at, value) => {
        for (const [i, codec] of codecs.entries()) codec.store(at + (places[i] as number), part(value, i));
      },
      lower: (out, value) => {
        for (const [i, codec] of codecs.entries()) codec.lower(out, part(value, i));
      },
      // A record with one part is returned as that part.
      lift: (flat) => {
        const value = (codecs[0] as Codec).lift(flat);
        return names ? { [names[0] as string]: value } : [value];
      },
    };
  }

  #enum(names: string[]): Codec {
    const numberOf = (value: string) => {
      const number = names.indexOf(value);
      if (number < 0) throw new TypeError(`no case of an enum: ${value}`);
      return number;
    };
    return {
      size: 1,
      align: 1,
      none: [0],
      load: (at) => names[this.view.getUint8(at)],
      store: (at, value) => this.view.setUint8(at, numberOf(value)),
      lower: (out, value) => out.push(numberOf(value)),
      lift: (flat) => names[flat as number],
    };
  }

  #handles(kind: string, resource: string, classes: Classes): Codec {
    const lift = (flat: Flat) => {
      const object = Object.create((classes[resource] as { prototype: Resource }).prototype);
      object.handle = (flat as number) >>> 0;
      return object;
    };
    return {
      size: 4,
      align: 4,
      none: [0],
      load: (at) => (kind === HANDLE ? this.view.getUint32(at, true) : lift(this.view.getUint32(at, true))),
      store: (at, value: Resource) => this.view.setUint32(at, value.handle, true),
      lower: (out, value: Resource) => out.push(value.handle),
      lift: (flat) => (kind === HANDLE ? (flat as number) >>> 0 : lift(flat)),
    };
  }
}

type Classes = Readonly<Record<string, { prototype: Resource }>>;

/**
 * The kind of type that replaces `own` where a constructor returns its object: only the handle is needed, since the
 * JavaScript object exists already.
 */
const HANDLE = 'handle';

function handleOf(result: Type | null): Type {
  const [kind, ...of] = result as Made;
  return kind === 'result'
    ? ([kind, handleOf(of[0] as Type), of[1] as Type] as const)
    : ([HANDLE, of[0] as string] as const);
}

const isMade = (type: Type | null): type is Made => typeof type === 'object' && type !== null;

const NOTHING: Codec = { size: 0, align: 1, none: [], load: () => undefined, store: never, lower: never, lift: never };

function never(): never {
  throw new Error('there is no such value in the interfaces');
}

function missing(path: string): never {
  throw new Error(`the component has no ${path}`);
}

function pascal(name: string): string {
  return name.replace(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase());
}
