// What is said to whoever runs the process, once: nothing is wrong with any row.
import { detectRank, type Reading, SamedealError } from '#samedeal';
import type { Integer } from '../types.js';

const told = new Set<string>();

/** Node prints it; `process.on('warning')` and `--disable-warning=CODE` know it by its code. */
function warn(code: string, message: string): void {
  if (told.has(message)) return;
  told.add(message);
  globalThis.process.emitWarning(message, { type: 'SamedealWarning', code });
}

/** Where readers share lanes, or the order in which rows are stored, the work for a row is done several times. */
export function warnOfLanes(reading: Reading, world?: Integer, workers?: Integer): void {
  const times = reading.readsPerRow;
  if (times === 1) return;
  const { lanes } = JSON.parse(reading.recipe) as { lanes?: number };
  if (lanes === undefined || world === undefined || workers === undefined) {
    const what = `each row is read and decoded by ${times} readers, and given by one`;
    warn(
      'SAMEDEAL_LANES',
      `${what}; with lanes that are a multiple of ranks times workers, or with whole shards, it is read once`,
    );
    return;
  }
  const readers = Number(world) * Number(workers);
  const better = reading.lanesReadOnce;
  const advice = better === undefined ? '' : `; lanes: ${better} would be read once`;
  const who = `${readers} readers (${world} ranks x ${workers} workers)`;
  const what = `each row is read and decoded by ${times} of them, and given by one`;
  warn('SAMEDEAL_LANES', `${who} do not divide ${lanes} lanes, so that ${what}${advice}`);
}

/** Where a launcher started several processes, and none was told which one it is, each of them reads everything. */
export function warnOfRank(): void {
  let found: string;
  try {
    const { rank, world, used } = detectRank();
    if (world === 1) return;
    found = `${used.join(', ')}: this is rank ${rank} of ${world}`;
  } catch (error) {
    // What may not be read says nothing.
    if (!(error instanceof SamedealError)) return;
    found = `the launcher's variables cannot be used, ${error.message}`;
  }
  const remedy = 'pass those that detectRank() finds, or rank 0 and world 1 if that is meant';
  warn('SAMEDEAL_RANK', `${found}; readShards was given no rank and world, and reads all rows here; ${remedy}`);
}
