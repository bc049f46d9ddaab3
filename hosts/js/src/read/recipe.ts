import { boolean, FROM_ONE, integer, natural32, options, type Range, S64, stateText, string, U64 } from '../checks.js';
import { decimal, source } from '../config.js';
import type { Recipe } from '../engine.js';
import { shown, words } from '../lists.js';
import type { PlanningBindings } from '../plan-raw.js';
import type { RawReading, RawReadOptions, RawStand } from './raw.js';
import type { ReadingJson, ReadingOptions } from './types.js';

const upTo = (most: bigint): Range => [1n, most];

/** How each option crosses. The ranges are what an error tells of what cannot cross: the component holds to them. */
const CHECKS: { [Name in keyof RawReadOptions]-?: (value: unknown) => NonNullable<RawReadOptions[Name]> } = {
  seed: (value) => integer('seed', value, S64),
  deal: (value) => string('deal', value),
  shuffle: (value) => boolean('shuffle', value),
  lanes: (value) => natural32('lanes', value, upTo(4096n)),
  window: (value) => natural32('window', value, upTo(2n ** 20n)),
  remainder: (value) => string('remainder', value),
  shuffleRows: (value) => boolean('shuffle-rows', value),
  reshuffle: (value) => boolean('reshuffle', value),
  policy: (value) => string('policy', value),
  workerPolicy: (value) => string('worker-policy', value),
  weight: (value) => string('weight', value),
  bytes: (value) => words('bytes', value),
  world: (value) => natural32('world-size', value, upTo(2n ** 22n)),
  workers: (value) => natural32('workers', value, upTo(2n ** 16n)),
  batchSize: (value) => natural32('batch-size', value, FROM_ONE),
  dropLast: (value) => boolean('drop-last', value),
};
const OPTIONS = Object.keys(CHECKS) as (keyof ReadingOptions)[];

/** What the spans of a round and the tables of the order take where nothing is said of lanes. */
const USUAL_LANES = 64;

/** What decides a reading: the dataset, the options that were given, and where it stands. */
export class ReadingRecipe implements Recipe<PlanningBindings, RawReading> {
  readonly sizes: BigUint64Array<ArrayBuffer>;
  readonly given: RawReadOptions;
  /** Epoch 0 where it is missing. */
  readonly stand: RawStand | undefined;
  readonly size: number;

  constructor(sizes: BigUint64Array<ArrayBuffer>, given: RawReadOptions, stand?: RawStand) {
    this.sizes = sizes;
    this.given = given;
    this.stand = stand;
    const { bytes, world = 1, workers = 1, lanes = USUAL_LANES } = given;
    // The shards, an order of them for what was torn and one for the rest, or plans of them; and the spans of a round.
    const shards = 160 * sizes.length + 48 * (bytes?.length ?? 0);
    this.size = 4096 + shards + 64 * world * workers + 1200 * lanes;
  }

  get cause(): readonly [string, string] {
    return ['sizes', `${this.sizes.length} shards`];
  }

  /** The same at another place. */
  at(stand: RawStand): ReadingRecipe {
    return new ReadingRecipe(this.sizes, this.given, stand);
  }

  make(bindings: PlanningBindings): RawReading {
    return bindings.reading(this.sizes, this.given, this.stand);
  }

  /** Of the options of a constructor. */
  static of(sizes: unknown, given: ReadingOptions | undefined): ReadingRecipe {
    const checked = Object.entries(options(given, OPTIONS)).flatMap(([name, value]) => {
      // What is undefined has its default; null has none.
      return value === undefined ? [] : [[name, CHECKS[name as keyof RawReadOptions](value)]];
    });
    return new ReadingRecipe(words('sizes', sizes), Object.fromEntries(checked));
  }

  static ofJson(json: ReadingJson): ReadingRecipe {
    const { sizes, seed, bytes, epoch, state, ...others } = options(json, ['sizes', ...OPTIONS, 'epoch', 'state']);
    const texts = (list: unknown) => (Array.isArray(list) ? list.map(decimal) : list) as ReadingOptions['bytes'];
    const recipe = ReadingRecipe.of(texts(sizes), {
      ...others,
      ...(seed !== undefined && { seed: decimal(seed) }),
      ...(bytes !== undefined && { bytes: texts(bytes) as NonNullable<ReadingOptions['bytes']> }),
    });
    if (state !== undefined) return recipe.at({ state: stateText(state) });
    return epoch === undefined ? recipe : recipe.at({ epoch: integer('epoch', decimal(epoch), U64) });
  }

  toJson(): ReadingJson {
    const { seed, bytes, ...others } = this.given;
    const json = {
      sizes: Array.from(this.sizes, String),
      ...others,
      ...(seed !== undefined && { seed: String(seed) }),
      ...(bytes && { bytes: Array.from(bytes, String) }),
    } as ReadingJson;
    const { stand = { epoch: 0n } } = this;
    return { ...json, ...('state' in stand ? { state: stand.state } : { epoch: String(stand.epoch) }) };
  }

  /** The calls that make an equal reading; of lists and of a state, at most so many numbers and characters. */
  source(numbers: number, characters: number): string {
    const settings = Object.entries(this.given).map(([name, value]) => {
      if (typeof value === 'bigint') return `${name}: ${source(value)}`;
      if (typeof value === 'object') return `${name}: ${shown(value, numbers)}`;
      return `${name}: ${typeof value === 'string' ? `'${value}'` : value}`;
    });
    const second = settings.length > 0 ? `, { ${settings.join(', ')} }` : '';
    const made = `Reading(${shown(this.sizes, numbers)}${second})`;
    if (!this.stand) return made;
    if ('epoch' in this.stand) return `${made}.atEpoch(${source(this.stand.epoch)})`;
    const { state } = this.stand;
    return `${made}.resume(${state.length > characters ? `'${state.slice(0, characters)}...'` : JSON.stringify(state)})`;
  }
}
