// What is said to whoever runs the process, once: nothing is wrong with any row.
import { detectRank, type Reading, SamedealError } from '#samedeal';

const told = new Set<string>();

/** Node prints it; `process.on('warning')` and `--disable-warning=CODE` know it by its code. */
function warn(code: string, message: string): void {
  if (told.has(message)) return;
  told.add(message);
  globalThis.process.emitWarning(message, { type: 'SamedealWarning', code });
}

/** Where readers share lanes, or the order in which rows are stored, the work for a row is done several times. */
export function warnOfLanes(reading: Reading): void {
  const { readsPerRow: times, worldSize, workers, lanesReadOnce: better } = reading;
  if (times === 1) return;
  const { order } = JSON.parse(reading.recipe) as { order?: { lanes?: number } };
  const advice = better === undefined ? '' : `; lanes: ${better} would be read once`;
  const who = `${worldSize * workers} readers (${worldSize} ranks x ${workers} workers)`;
  const what = `each row is read and decoded by ${times} of them, and given by one`;
  const lanes = order?.lanes === undefined ? 'rows in the order in which they are stored' : `${order.lanes} lanes`;
  warn('SAMEDEAL_LANES', `${who} do not divide ${lanes}, so that ${what}${advice}`);
}

/** Where a launcher started several processes, and none was told which one it is, each of them reads everything. */
export function warnOfRank(): void {
  let found: string;
  try {
    const { rank, worldSize, used } = detectRank();
    if (worldSize === 1) return;
    found = `${used.join(', ')}: this is rank ${rank} of ${worldSize}`;
  } catch (error) {
    // What may not be read says nothing.
    if (!(error instanceof SamedealError)) return;
    found = `the launcher's variables cannot be used, ${error.message}`;
  }
  const remedy = 'pass those that detectRank() finds, or rank 0 and worldSize 1 if that is meant';
  warn('SAMEDEAL_RANK', `${found}; readShards was given no rank and worldSize, and reads all rows here; ${remedy}`);
}
