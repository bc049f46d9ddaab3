import type { LightBindings } from '../bindings/types.js';
import { fail, natural32, options, record, U32 } from '../checks.js';
import type { Engine } from '../engine.js';
import type { Integer } from '../types.js';

/** What was found about a process. */
export interface Detection {
  /** Which process of the job this is. */
  rank: number;
  /** How many there are. */
  worldSize: number;
  /** Which process of its node it is, where that was said. */
  localRank?: number;
  /** How many there are on its node, where that was said. */
  localWorldSize?: number;
  /**
   * Whose word it is: `torchrun`, `open-mpi`, `mvapich`, `pmi`, `slurm`; `explicit` where no variable was used; or `none`
   * where nothing is set: rank 0 of 1. There may be more names in a later version.
   */
  launcher: string;
  /** What was used, as `NAME=value`. */
  used: string[];
  /**
   * What other variables say that does not agree, in words: it was not used. A launcher that starts one process for each
   * node, which starts the processes there (torchrun below srun or mpirun), agrees.
   */
  warnings: string[];
}

/** What a rank is detected from. */
export interface DetectOptions {
  /** Wins over every variable. */
  rank?: Integer;
  /** Wins over every variable. */
  worldSize?: Integer;
  /** The variables that launchers set. Default: those of this process. */
  environment?: Readonly<Record<string, string | undefined>>;
}

/** The longest value that crosses: one more character than any error shows. */
const LONGEST = 65;

/** `detectRank` over an engine. */
export function detectWith(
  engine: Engine<LightBindings>,
  defaults: NonNullable<DetectOptions['environment']>,
  given: DetectOptions | undefined,
): Detection {
  const { rank, worldSize, environment = defaults } = options(given, ['rank', 'worldSize', 'environment']);
  const fixed = [rank, worldSize].map((value, i) => {
    return value === undefined ? value : natural32(i === 0 ? 'rank' : 'world-size', value, U32);
  });
  // That of Node is an object of a class.
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
