import { link } from '../../link.svelte.ts';
import { isObject, parsed, shown } from '../../parts/json.ts';
import { listed } from '../../parts/text.ts';
import { session } from '../../session.svelte.ts';

/** How many samples a state had consumed, as far as it says it. */
export function consumedOf(state: string): number | undefined {
  const document = parsed(state);
  const consumed = isObject(document) ? Number(shown(document.consumed)) : 0;
  return Number.isSafeInteger(consumed) && consumed > 0 ? consumed : undefined;
}

/** The steps taken, of which the first part ends where the state does, if that is a whole number of its steps. */
export function stoppedAt(
  { worlds, taken, batch }: { worlds: string; taken: string; batch: string },
  consumed: number,
): string | undefined {
  const steps = consumed / (Number(listed(worlds)[0]) * Number(batch));
  return Number.isSafeInteger(steps) ? [String(steps), ...listed(taken).slice(1)].join(', ') : undefined;
}

/** The first part of a resume ends where the state does that is open. */
export function stopWhereTheStateDoes(): void {
  const consumed = consumedOf(link.values.state);
  const taken = consumed === undefined ? undefined : stoppedAt(link.plain, consumed);
  if (taken === undefined) return;
  link.values.taken = taken;
  session.stopped = taken;
}
