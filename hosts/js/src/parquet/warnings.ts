// What is said to whoever runs the program, once: nothing is wrong with any row.
import type { Reading } from '#samedeal';
import type { Host } from './sources.js';

const told = new Set<string>();

function warn(host: Host, code: string, message: string): void {
  if (told.has(message)) return;
  told.add(message);
  host.warn(code, message);
}

/** Where readers share lanes, or the order in which rows are stored, the work for a row is done several times. */
export function warnOfLanes(host: Host, reading: Reading): void {
  const { readsPerRow: times, worldSize, workers, lanesReadOnce: better } = reading;
  if (times === 1) return;
  const { order } = JSON.parse(reading.recipe) as { order?: { lanes?: number } };
  const advice = better === undefined ? '' : `; lanes: ${better} would be read once`;
  const who = `${worldSize * workers} readers (${worldSize} ranks x ${workers} workers)`;
  const what = `each row is read and decoded by ${times} of them, and given by one`;
  const lanes = order?.lanes === undefined ? 'rows in the order in which they are stored' : `${order.lanes} lanes`;
  warn(host, 'SAMEDEAL_LANES', `${who} do not divide ${lanes}, so that ${what}${advice}`);
}

/** Where a launcher started several processes, and none was told which one it is, each of them reads everything. */
export function warnOfRank(host: Host): void {
  const found = host.launched();
  if (found === undefined) return;
  const remedy = 'pass those that detectRank() finds, or rank 0 and worldSize 1 if that is meant';
  const message = `${found}; readShards was given no rank and worldSize, and reads all rows here; ${remedy}`;
  warn(host, 'SAMEDEAL_RANK', message);
}
