// Warnings, each given once. They are about speed and memory; no row is wrong.
import type { Reading } from '#samedeal';
import { heldBytes, lanesThatFit, MUCH_BYTES } from './memory.js';
import type { Shards } from './shards.js';
import type { Host } from './sources.js';

const told = new Set<string>();

function warn(host: Host, code: string, message: string): void {
  if (told.has(message)) return;
  told.add(message);
  host.warn(code, message);
}

/**
 * Warns if several readers read and decode each row, since they share lanes, or read rows in the order in which these
 * are stored.
 */
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

/** Warns if a reader has too many decoded values in memory, because each of its lanes has a part of every column. */
export async function warnOfGroups(host: Host, shards: Shards, reading: Reading): Promise<void> {
  const { order } = JSON.parse(reading.recipe) as { order?: { lanes?: number } };
  const samples = shards.sizes.reduce((sum, size) => sum + size, 0);
  if (order?.lanes === undefined || samples === 0) return;
  const { lanes } = order;
  const { part } = shards.format;
  const { worldSize, workers } = reading;
  const readers = worldSize * workers;
  const own = lanes / divisor(lanes, readers);
  // An upper bound, by whole parts, for which no file has to be opened.
  const most = shards.largest.map(({ rows, width }) => heldBytes(own, Math.max(1, rows), samples, [{ rows, width }]));
  const shard = most.reduce((best, bytes, i) => (bytes > (most[best] as number) ? i : best), 0);
  if ((most[shard] as number) < MUCH_BYTES) return;
  const { rows } = shards.largest[shard] as { rows: number };
  const pieces = await shards.pieces(shard);
  const held = heldBytes(own, rows, samples, pieces);
  if (held < MUCH_BYTES) return;
  const fit = lanesThatFit(own, rows, samples, pieces);
  const where = own * rows > samples ? `, in which several of ${lanes} lanes lie` : '';
  const what = `decodes about ${(held / 1e9).toFixed(1)} GB before its first row, and holds it`;
  const advice = `${fit === 0 ? '' : `lanes: ${fit * readers}, `}${part}s with fewer rows`;
  const each = `each of ${readers} readers (${worldSize} ranks x ${workers} workers)`;
  const told = `${shards.paths[shard]} has a ${part} of ${rows} rows${where}: ${each} ${what}`;
  warn(host, 'SAMEDEAL_LANES', `${told}; ${advice}, or fewer columns cost less`);
}

/** The largest number that divides both. */
const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));

/** Warns if a launcher started several processes, but no rank was passed: then each process reads all rows. */
export function warnOfRank(host: Host): void {
  const found = host.launched();
  if (found === undefined) return;
  const remedy = 'pass those that detectRank() finds, or rank 0 and worldSize 1 if that is meant';
  const message = `${found}; readShards was given no rank and worldSize, and reads all rows here; ${remedy}`;
  warn(host, 'SAMEDEAL_RANK', message);
}
