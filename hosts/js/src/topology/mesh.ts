import { FROM_ONE, fail, options, record, saved, string, u32, unknownName } from '../checks.js';
import type { Axis } from '../components/interfaces/samedeal-deal-mesh.js';
import type { LightBindings, RawMesh } from '../engine/types.js';
import type { Engine, Recipe } from '../engine.js';
import { MAX_AXES } from '../generated/limits.js';
import { MeshMembers } from '../generated/mesh.js';
import type { Integer } from '../types.js';

/** The axes of a mesh, the last one counting fastest, and how many ranks lie along each. */
export type Axes = Readonly<Record<string, Integer>>;

/**
 * A mesh in JSON. Axes are a list, since their order matters, and not every store keeps the order of an object's
 * members.
 */
export interface MeshJson {
  worldSize: number;
  axes: [name: string, size: number][];
  shard: string[];
}

/** The definition of a mesh. */
export class MeshRecipe implements Recipe<LightBindings, RawMesh> {
  readonly size: number;
  readonly cause: readonly [string, number];
  readonly #axes: Axis[];

  constructor(worldSize: number, axes: Axis[]) {
    this.size = 1024 + 512 * axes.length;
    this.cause = ['world_size', worldSize];
    this.#axes = axes;
  }

  make(bindings: LightBindings): RawMesh {
    return bindings.mesh(this.cause[1], this.#axes);
  }
}

/** The members of `Mesh`. An entry point such as index.ts adds the engine. */
export abstract class BaseMesh extends MeshMembers {
  readonly #worldSize: number;
  readonly #axes: readonly Axis[];

  /** @internal */
  constructor(engine: Engine<LightBindings>, worldSize: Integer, axes: Axes, shard: readonly string[]) {
    const ranks = u32('world_size', worldSize, undefined, FROM_ONE);
    const grid = axesOf(axes, shard);
    const raw = grid.map((axis) => ({ ...axis, name: string('axes', axis.name) }));
    super(engine, 'mesh', new MeshRecipe(ranks, raw));
    this.#worldSize = ranks;
    this.#axes = grid;
  }

  /** The mesh that `toJSON` wrote. Errors: as the constructor. */
  static fromJSON<T>(
    this: new (
      worldSize: Integer,
      axes: Axes,
      shard: readonly string[],
    ) => T,
    json: MeshJson | string,
  ): T {
    const { worldSize, axes, shard } = options(saved(json), ['worldSize', 'axes', 'shard']);
    const isPair = (axis: unknown) => Array.isArray(axis) && axis.length === 2 && typeof axis[0] === 'string';
    if (!Array.isArray(axes) || !axes.every(isPair)) fail('wrong-type', 'axes', axes, 'an array of [name, size]');
    const names = axes.map(([name]) => name);
    const twice = names.find((name, i) => names.indexOf(name) < i);
    if (twice !== undefined) fail('contradiction', 'axes', twice, 'each name once');
    return new this(worldSize as Integer, Object.fromEntries(axes), shard as string[]);
  }

  /** How many ranks there are. */
  get worldSize(): number {
    return this.#worldSize;
  }

  /** How many ranks lie along each axis, by its name. */
  get axes(): Record<string, number> {
    return this.#named((i) => this.#axes[i]?.size as number);
  }

  /** The names of the axes along which ranks get different samples. */
  get shard(): string[] {
    return this.#axes.filter(({ role }) => role === 'shard').map(({ name }) => name);
  }

  /** The coordinates of a rank: its place along each axis, by the name of the axis. Errors: `rank`. */
  coordinates(rank: Integer): Record<string, number> {
    const number = u32('rank', rank, (other) => this.dataRank(other));
    const found = this.call((raw) => raw.coordinates(number));
    return this.#named((i) => found[i] as number);
  }

  /** The rank at a place of the grid: a coordinate for each axis, by its name. Errors: `coordinates`. */
  rankAt(coordinates: Readonly<Record<string, Integer>>): number {
    const field = 'coordinates';
    const names = this.#axes.map(({ name }) => name);
    const given = new Map(entries(field, coordinates));
    for (const name of given.keys()) {
      if (!names.includes(name)) unknownName(field, name, names, NO_AXES);
    }
    const place = this.#axes.map(({ name, size }) => {
      if (!given.has(name)) fail('missing', field, '', `one along ${name}`);
      return u32(field, given.get(name), undefined, [0n, BigInt(size) - 1n]);
    });
    return this.call((raw) => raw.rankAt(Uint32Array.from(place)));
  }

  /** The JSON of which an equal mesh is made, for `JSON.stringify` and `fromJSON`. */
  toJSON(): MeshJson {
    return { worldSize: this.#worldSize, axes: this.#axes.map(({ name, size }) => [name, size]), shard: this.shard };
  }

  /** @internal */
  protected override source(): string {
    return `Mesh(${this.worldSize}, ${JSON.stringify(this.axes)}, ${JSON.stringify(this.shard)})`;
  }

  #named(value: (axis: number) => number): Record<string, number> {
    return Object.fromEntries(this.#axes.map(({ name }, i) => [name, value(i)]));
  }
}

/** The text of an error in place of the names of axes, if there are none. */
const NO_AXES = 'no name, there are no axes';

function axesOf(axes: unknown, shard: unknown): Axis[] {
  const given = entries('axes', axes);
  if (given.length > MAX_AXES) fail('out-of-range', 'axes', `${given.length} axes`, `up to ${MAX_AXES}`);
  const names = given.map(([name]) => name);
  const digits = names.find((name) => /^\d+$/.test(name));
  if (digits !== undefined) {
    fail('out-of-range', 'axes', digits, 'names that are no numbers, which an object would put first');
  }
  if (!Array.isArray(shard)) fail('wrong-type', 'shard', shard, 'an array of names of axes');
  const sharded = Array.from(shard, (name) => {
    if (typeof name !== 'string') fail('wrong-type', 'shard', name, 'a name of an axis');
    if (!names.includes(name)) unknownName('shard', name, names, NO_AXES);
    return name;
  });
  return given.map(([name, size]) => {
    return { name, size: u32('axes', size, undefined, FROM_ONE), role: sharded.includes(name) ? 'shard' : 'replicate' };
  });
}

function entries(field: string, value: unknown): [string, unknown][] {
  return Object.entries(record(field, value, 'a plain object with a whole number for each name'));
}
