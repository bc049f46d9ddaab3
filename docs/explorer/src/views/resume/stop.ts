import { DEFAULTS, link } from '../../link.svelte.ts';
import { isObject, type Members, parsed, shown } from '../../parts/json.ts';
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

/** The largest number of samples whose default stops, after a few steps, are seen in the picture. */
const FEW = 10_000;

/**
 * The values of the view Resume for an example: ranks are lost after about a third of the epoch, and again after
 * another third. Of a small epoch, the defaults are shown.
 */
export function changeOfRanks(recipe: string, batch: string): { worlds: string; taken: string } {
  const document = parsed(recipe);
  const { order, deal } = (isObject(document) ? document : {}) as { order?: Members; deal?: Members };
  const sizes = Array.isArray(order?.sizes) ? (order.sizes as number[]) : [];
  const samples = Number(order?.samples ?? sizes.reduce((sum, size) => sum + size, 0));
  const [ranks, size] = [Number(deal?.world_size), Number(batch)];
  if (!(samples > FEW && ranks > 1 && size > 0)) return { worlds: DEFAULTS.worlds, taken: DEFAULTS.taken };
  const worlds = [ranks, Math.ceil((ranks * 3) / 4), Math.ceil((ranks * 5) / 8)];
  const stops = worlds.slice(0, -1).map((world) => Math.max(1, Math.floor(samples / 3 / (world * size))));
  return { worlds: worlds.join(', '), taken: stops.join(', ') };
}
