import { counted, grouped, percent } from '../../parts/text.ts';
import { type BatchesAnswer, type Compared, isWhole } from './compute.ts';

/** The strategy that fills the largest part of the budget with tokens. Padding and empty room both count as waste. */
export const leastWaste = ({ compared }: BatchesAnswer): Compared | undefined =>
  compared.reduce<Compared | undefined>(
    (best, one) => (one.problem || one.steps === 0 || (best && best.filled >= one.filled) ? best : one),
    undefined,
  );

const THEN: Readonly<Record<string, string>> = {
  drop: ' and left out',
  truncate: ' and cut',
  split: ' and split',
  single: ' and a batch each',
};

/** A sentence that says which strategy wastes the least. */
export function verdict(answer: BatchesAnswer): string {
  const { room, worldSize, tooLong, tooLongPolicy, compared } = answer;
  const best = leastWaste(answer);
  const at = `At ${grouped(room)} tokens a batch on ${counted(worldSize, 'rank')}`;
  if (!best) return `${at}, no strategy has a step.`;
  const others = compared
    .filter((one) => one !== best && !one.problem)
    .sort((a, b) => b.filled - a.filled)
    .map(({ strategy, padding, filled }) =>
      padding < best.padding || filled < best.filled / 2
        ? `${strategy} pads ${percent(padding)} but fills only ${percent(filled)}`
        : `${strategy} pads ${percent(padding)}`,
    );
  const { count, limit } = tooLong;
  const long =
    count > 0
      ? `; ${counted(count, 'sample')} ${count === 1 ? 'is' : 'are'} longer than ${counted(limit, 'token')}${THEN[tooLongPolicy] ?? ''}`
      : '';
  const isAll = compared.every((one) => one.problem || isWhole(one));
  const [of, steps] = isAll
    ? ['', `, in ${counted(best.steps, 'step')}`]
    : [' in the part of the epoch that is planned', ''];
  return `${at}, ${best.strategy} wastes the least${of}: ${percent(best.padding)} is padding and ${percent(best.filled)} of the budget is filled${steps} (${others.join(', ')})${long}.`;
}

/** A sentence about the change that another budget made for the chosen strategy. */
export function changed(now: BatchesAnswer, before: BatchesAnswer | undefined): string {
  const [own, old] = [now, before].map((answer) => answer?.compared.find(({ isChosen }) => isChosen));
  if (!before || !own || !old || own.strategy !== old.strategy)
    return 'Drag the tokens of a batch to see what another budget changes.';
  const steps =
    isWhole(own) && isWhole(old) ? `takes ${counted(own.steps, 'step')} instead of ${grouped(old.steps)}, and ` : '';
  return `From ${grouped(before.room)} to ${grouped(now.room)} tokens, ${own.strategy} ${steps}pads ${percent(own.padding)} instead of ${percent(old.padding)}.`;
}
