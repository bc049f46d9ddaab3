import { fail, options, record, u32 } from '../checks.js';
import type { LightBindings } from '../engine/types.js';
import type { Engine } from '../engine.js';
import type { Detection } from '../generated/launch.js';
import type { Integer } from '../types.js';

/** The values that a rank is detected from. */
export interface DetectOptions {
  /** The rank to use, whatever the variables say. */
  rank?: Integer;
  /** The number of ranks to use, whatever the variables say. */
  worldSize?: Integer;
  /** The variables that launchers set. Default: those of this process. */
  environment?: Readonly<Record<string, string | undefined>>;
}

/** The longest value that is passed to the engine: one more character than any error shows. */
const LONGEST = 65;

/** `detectRank` with the engine as a parameter. */
export function detectWith(
  engine: Engine<LightBindings>,
  defaults: NonNullable<DetectOptions['environment']>,
  given: DetectOptions | undefined,
): Detection {
  const { rank, worldSize, environment = defaults } = options(given, ['rank', 'worldSize', 'environment']);
  const fixed = [rank, worldSize].map((value, i) => {
    return value === undefined ? value : u32(i === 0 ? 'rank' : 'world_size', value);
  });
  // Node's own environment is no plain object, so only an environment that the caller passed is checked.
  if (environment !== defaults) record('environment', environment, 'a plain object with a string for each variable');
  const names = engine.once(['environment', ''], 0, ({ launch }) => launch.variables());
  const pairs: [string, string][] = [];
  for (const name of names) {
    const value: unknown = environment[name];
    if (value === undefined) continue;
    if (typeof value !== 'string') fail('wrong-type', name, value, 'a string');
    pairs.push([name, [...value.slice(0, 2 * LONGEST)].slice(0, LONGEST).join('')]);
  }
  return engine.once(['environment', ''], 0, ({ launch }) => launch.detect(pairs, fixed[0], fixed[1]));
}
