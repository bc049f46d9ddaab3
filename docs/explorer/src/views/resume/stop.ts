import { link } from '../../link.svelte.ts';
import { isObject, parsed, shown } from '../../parts/json.ts';
import { ofSampler } from '../../parts/state.ts';
import { listed } from '../../parts/text.ts';
import { session } from '../../session.svelte.ts';

/** The number of positions that a state has consumed; undefined if the state does not have it. */
export function consumedOf(state: string): number | undefined {
  const document = parsed(state);
  const consumed = isObject(document) ? Number(shown(document.consumed)) : 0;
  return Number.isSafeInteger(consumed) && consumed > 0 ? consumed : undefined;
}

/**
 * The stops of all parts if the first part stops at the position of a state. Undefined if this position is not after a
 * whole number of steps.
 */
export function stoppedAt(
  { worlds, taken, batch }: { worlds: string; taken: string; batch: string },
  consumed: number,
): string | undefined {
  const steps = consumed / (Number(listed(worlds)[0]) * Number(batch));
  return Number.isSafeInteger(steps) ? [String(steps), ...listed(taken).slice(1)].join(', ') : undefined;
}

/** Sets the stop of the first part in the view Resume to the position of the open state. */
export function stopWhereTheStateDoes(): void {
  const consumed = consumedOf(ofSampler(link.values.state));
  const taken = consumed === undefined ? undefined : stoppedAt(link.plain, consumed);
  if (taken === undefined) return;
  link.values.taken = taken;
  session.stopped = taken;
}
