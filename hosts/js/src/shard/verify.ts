import type { PlanningBindings } from '../bindings/types.js';
import { natural32, U32 } from '../checks.js';
import type { Engine } from '../engine.js';
import { type Integers, ragged } from '../lists.js';
import type { Integer } from '../types.js';
import type { Verification } from './types.js';

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
