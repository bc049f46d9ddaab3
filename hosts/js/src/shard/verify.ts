import type { PlanningBindings } from '../bindings/types.js';
import { fail, natural32, placed, type Range, U32 } from '../checks.js';
import type { Engine } from '../engine.js';
import { type Integers, LONGEST, list, words32 } from '../lists.js';
import type { Integer } from '../types.js';
import type { Verification } from './types.js';

/** Lists of numbers of 32 bits, end to end, and where each begins, the end after them. */
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

/** `verifyShards` over an engine. */
export function verifyWith(
  engine: Engine<PlanningBindings>,
  shards: Integer,
  assigned: readonly Integers[],
): Verification {
  const count = natural32('shards', shards, U32);
  const { offsets, values } = ragged('assigned', assigned, [0n, BigInt(count) - 1n]);
  return verified(engine, count, offsets, values);
}

/** Of what reader i has from `offsets[i]` on. */
export function verified(
  engine: Engine<PlanningBindings>,
  shards: number,
  offsets: Uint32Array,
  assigned: Uint32Array,
): Verification {
  const size = 16 * (shards + offsets.length + assigned.length);
  const found = engine.once(['shards', shards], size, (bindings) => bindings.shards.verify(shards, offsets, assigned));
  const overlaps: Verification['overlaps'] = [];
  for (let at = 0; at < found.overlaps.length; at += 3) {
    const [shard, first, other] = found.overlaps.subarray(at, at + 3) as unknown as [number, number, number];
    overlaps.push({ shard, first, other });
  }
  return { ok: overlaps.length === 0 && found.gaps.length === 0, overlaps, gaps: found.gaps };
}
