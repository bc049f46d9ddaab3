// Estimates of the memory of objects, by which src/engine.ts decides which objects share an instance. A factor of two
// does not matter: if an object does not fit into the memory, the engine itself reports it.
import { DEFAULTS, TABLES } from './generated/names.js';

/** A depth of nested orders that no recipe reaches. */
const DEEPEST = 24;
/** The longest period of a `blend-exact`, and the bytes for each position of the period. */
const PERIOD = 2 ** 20;
const OF_PERIOD = 16;
/**
 * The bytes of a lane, and of each sample of a round: the place where it is stored, its span (a run of rows of a
 * shard), and its number among the rows of all spans of the round.
 */
const OF_LANE = 1200;
const OF_ROUND = 120;
/** The bytes of a source of a blend, for each stage of the blend. */
const OF_SOURCE = 512;
/** The bytes of a worker of a rank. */
const OF_READER = 128;

type Members = Record<string, unknown>;
const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null;
const objects = (value: unknown): Members[] => (Array.isArray(value) ? value.filter(isObject) : []);
/** The orders that an order is made of. */
const partsOf = ({ of, sources }: Members): Members[] =>
  [of, ...objects(sources).map(({ order }) => order)].filter(isObject);

/** A number of a recipe; NaN for any other value. It calls no method of the value. */
export const numberIn = (value: unknown): number => (typeof value === 'number' ? value : Number.NaN);

/** Bytes of the table of an order; 0 if the order needs none. Wrong values in a recipe count 0, here and below. */
export function tableMemory(order: unknown, samples: unknown): number {
  const count = numberIn(samples);
  return TABLES.includes(order) && count > 0 ? 4 * count : 0;
}

/**
 * Bytes of an order and of the orders in it. `table`: of tables alone. `all`: of everything but the text and the lists,
 * which `Document.size` counts.
 */
export function orderMemory(order: unknown, depth = 0): { table: number; all: number } {
  if (!isObject(order) || depth > DEEPEST) return { table: 0, all: 0 };
  const { name, samples, lanes = DEFAULTS.lanes } = order;
  const sources = objects(order.sources);
  // Each source that is exhausted and left out begins another stage.
  const leaving = order.exhaustion === 'renormalize' ? sources.length : 0;
  const stages = 1 + objects(order.stages).length + leaving;
  const sum = sources.reduce((sum, { weight = 1 }) => sum + (numberIn(weight) || 0), 0);
  const period = name === 'blend-exact' ? Math.min(sum, PERIOD) : 0;
  let table = tableMemory(name, samples);
  let all = table + stages * (OF_SOURCE * sources.length + OF_PERIOD * period);
  if (name === 'sharded') all += OF_LANE * numberIn(lanes) || 0;
  for (const part of partsOf(order)) {
    const inner = orderMemory(part, depth + 1);
    table += inner.table;
    all += inner.all;
  }
  return { table, all };
}

/**
 * Bytes of one round of each order that a composed order is made of; in a reading, all of them are sharded. A round has
 * one shuffle window of each lane. A sharded order alone needs no such memory.
 */
export function roundsMemory(order: unknown, depth = 0): number {
  if (!isObject(order) || depth > DEEPEST) return 0;
  const parts = partsOf(order);
  const { lanes = DEFAULTS.lanes, shuffle_window: window = DEFAULTS.shuffle_window } = order;
  const own = depth > 0 && parts.length === 0 ? OF_ROUND * numberIn(lanes) * numberIn(window) || 0 : 0;
  return parts.reduce((sum, part) => sum + roundsMemory(part, depth + 1), own);
}

/** Bytes of the workers of all ranks. */
export function readersMemory({ world_size: ranks = 1, workers = 1 }: Members = {}): number {
  return OF_READER * numberIn(ranks) * numberIn(workers) || 0;
}
