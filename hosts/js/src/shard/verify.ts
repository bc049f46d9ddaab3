import { fail, placed, type Range, u32 } from '../checks.js';
import type { ComponentBindings } from '../engine/types.js';
import type { Engine } from '../engine.js';
import { LONGEST, list, words32 } from '../lists.js';
import type { Integer, Integers } from '../types.js';
import type { Verification } from './types.js';

/**
 * Lists of numbers of 32 bits, laid end to end. `offsets` has the beginning of each list, and the end of the last one.
 */
export function ragged(field: string, value: unknown, range: Range): { offsets: Uint32Array; values: Uint32Array } {
  if (!Array.isArray(value)) fail('wrong-type', field, value, 'an array of lists of whole numbers');
  const lists = Array.from(list(field, value), (element, i) => {
    return placed(`in list ${i}`, () => words32(field, element, range));
  });
  const offsets = new Uint32Array(lists.length + 1);
  for (const [i, { length }] of lists.entries()) offsets[i + 1] = (offsets[i] as number) + length;
  const total = lists.reduce((sum, { length }) => sum + length, 0);
  if (total > LONGEST) fail('out-of-memory', field, `${total} elements`, `up to ${LONGEST} of them`);
  const values = new Uint32Array(total);
  for (const [i, element] of lists.entries()) values.set(element, offsets[i]);
  return { offsets, values };
}

/** `verifyShards` with the engine as a parameter. */
export function verifyWith(
  engine: Engine<ComponentBindings>,
  numShards: Integer,
  assigned: readonly Integers[],
): Verification {
  const count = u32('num_shards', numShards);
  const { offsets, values } = ragged('assigned', assigned, [0n, BigInt(count) - 1n]);
  return verified(engine, count, offsets, values);
}

/** Compares lists of shards, laid end to end, with all shards. The list of reader i begins at `offsets[i]`. */
export function verified(
  engine: Engine<ComponentBindings>,
  numShards: number,
  offsets: Uint32Array,
  assigned: Uint32Array,
): Verification {
  const size = 64 * (offsets.length + assigned.length);
  const call = ({ shards }: ComponentBindings) => shards.verify(numShards, offsets, assigned);
  const found = engine.once(['num_shards', numShards], size, call);
  const { shard, firstReader, otherReader } = found.overlaps;
  const { firstShard, numShards: counts } = found.gaps;
  const overlaps = Array.from(shard, (shard, i) => {
    return { shard, firstReader: firstReader[i] as number, otherReader: otherReader[i] as number };
  });
  const gaps = Array.from(firstShard, (firstShard, i) => ({ firstShard, numShards: counts[i] as number }));
  return { ok: overlaps.length === 0 && gaps.length === 0, overlaps, gaps };
}
