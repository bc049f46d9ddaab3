import { using } from '../bindings/resources.js';
import type { PlanningBindings, RawReading } from '../bindings/types.js';
import { boolean, FROM_ONE, integer, natural32, options, type Range, S64, stateText, string, U64 } from '../checks.js';
import type { Recipe } from '../engine.js';
import type { Options } from '../jco/interfaces/samedeal-deal-read.js';
import { shown, words } from '../lists.js';
import { type Checks, checked, fromJson, type Given, namesIn, settings, source, toJson } from '../options.js';
import type { ReadingJson, ReadingOptions } from './types.js';

const upTo = (most: bigint): Range => [1n, most];

/** The name of the setter of an option. */
type Setter<Name extends string> = Name extends 'world' ? 'setWorldSize' : `set${Capitalize<Name>}`;
/** The options, as their setters take them. */
type RawOptions = {
  [Name in keyof ReadingOptions]-?: Setter<Name> extends keyof Options ? Parameters<Options[Setter<Name>]>[0] : never;
};

/** How each option crosses. The ranges are what an error tells of what cannot cross: the component holds to them. */
const CHECKS: Checks<RawOptions> = {
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
const OPTIONS = namesIn(CHECKS);

/** Where a reading stands: at the beginning of an epoch, or where a state was taken. */
export type Stand = { epoch: bigint } | { state: string };

/** What the spans of a round and the tables of the order take where nothing is said of lanes. */
const USUAL_LANES = 64;

/** What decides a reading: the dataset, the options that were given, and where it stands. */
export class ReadingRecipe implements Recipe<PlanningBindings, RawReading> {
  readonly sizes: BigUint64Array;
  readonly given: Partial<RawOptions>;
  /** Epoch 0 where it is missing. */
  readonly stand: Stand | undefined;
  readonly size: number;

  constructor(sizes: BigUint64Array, given: Partial<RawOptions>, stand?: Stand) {
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
  at(stand: Stand): ReadingRecipe {
    return new ReadingRecipe(this.sizes, this.given, stand);
  }

  make({ read }: PlanningBindings): RawReading {
    const whole = using(new read.Options(this.sizes), (options) => {
      for (const [name, value] of Object.entries(this.given)) {
        const setter = name === 'world' ? 'setWorldSize' : `set${name.charAt(0).toUpperCase()}${name.slice(1)}`;
        (options as unknown as Record<string, (value: unknown) => void>)[setter]?.(value);
      }
      return new read.Reading(options);
    });
    const { stand } = this;
    if (!stand) return whole;
    return using(whole, () => ('state' in stand ? whole.resume(stand.state) : whole.atEpoch(stand.epoch)));
  }

  /** Of the options of a constructor. */
  static of(sizes: unknown, given: Given<ReadingOptions> | undefined): ReadingRecipe {
    const named = options(given, OPTIONS);
    return new ReadingRecipe(words('sizes', sizes), checked(CHECKS, named, {}));
  }

  static ofJson(json: ReadingJson): ReadingRecipe {
    const { sizes, epoch, state, ...others } = fromJson(json, ['sizes', ...OPTIONS, 'epoch', 'state']);
    const recipe = ReadingRecipe.of(sizes, others);
    if (state !== undefined) return recipe.at({ state: stateText(state) });
    return epoch === undefined ? recipe : recipe.at({ epoch: integer('epoch', epoch, U64) });
  }

  toJson(): ReadingJson {
    const { sizes, given, stand = { epoch: 0n } } = this;
    return toJson({ sizes, ...given, ...stand }) as unknown as ReadingJson;
  }

  /** The calls that make an equal reading; of lists and of a state, at most so many numbers and characters. */
  source(numbers: number, characters: number): string {
    const parts = settings(this.given, numbers);
    const second = parts.length > 0 ? `, { ${parts.join(', ')} }` : '';
    const made = `Reading(${shown(this.sizes, numbers)}${second})`;
    if (!this.stand) return made;
    if ('epoch' in this.stand) return `${made}.atEpoch(${source(this.stand.epoch)})`;
    const { state } = this.stand;
    return `${made}.resume(${state.length > characters ? `'${state.slice(0, characters)}...'` : JSON.stringify(state)})`;
  }
}
