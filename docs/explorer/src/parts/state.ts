import { isObject, type Members, parsed, shown } from './json.ts';
import { counted } from './text.ts';

/**
 * The facts about a state that no view can use: its kind, how far the run was, and the facts that the state does not
 * have.
 */
export interface StateFacts {
  title: string;
  says: string;
  facts: [name: string, value: string][];
}

const KINDS: Readonly<Record<string, readonly [title: string, limit: string]>> = {
  batcher: [
    'A state of batches',
    'It holds a hash of the lengths and not the lengths, so this page cannot say which samples were seen. A Batcher with these lengths can, after resume(state).',
  ],
  reading: [
    'A state of a dataset in files',
    'This page does not say of single rows whether they were seen. A Reading of this recipe goes on, after resume(state), with the rows that were not.',
  ],
  schedule: ['A state of a schedule of steps', 'This page has no view of schedules.'],
};

const objects = (value: unknown): Members[] => (Array.isArray(value) ? value.filter(isObject) : []);
const number = (value: unknown): number => Number(shown(value)) || 0;

/** The options of batches that had another value in an earlier part of the run, as text. */
function othersOf(then: Members, now: Members): string {
  const others = Object.entries(then).filter(([name, value]) => shown(value) !== shown(now[name]));
  return others.map(([name, value]) => `, ${name} ${shown(value)}`).join('');
}

export function factsOf(text: string): StateFacts {
  const document = parsed(text);
  const state: Members = isObject(document) ? document : {};
  const [title, limit] = KINDS[String(state.kind)] ?? [
    `A state of the kind ${shown(state.kind)}`,
    'This page has no view of it.',
  ];
  const recipe: Members = isObject(state.recipe) ? state.recipe : {};
  const facts: [string, string][] = [['Epoch', shown(state.epoch)]];
  const history = objects(state.history);
  if (state.consumed !== undefined)
    facts.push([state.kind === 'batcher' ? 'Positions in whole windows' : 'Positions read', shown(state.consumed)]);
  if (state.step !== undefined) facts.push(['Step', shown(state.step)]);
  for (const [at, segment] of history.entries()) {
    const workers = segment.workers === undefined ? '' : `, ${counted(number(segment.workers), 'worker')} each`;
    const size = segment.batch_size === undefined ? '' : `, batch size ${shown(segment.batch_size)}`;
    const ranks = counted(number(segment.world_size), 'rank');
    const batch = isObject(segment.batch) && isObject(recipe.batch) ? othersOf(segment.batch, recipe.batch) : '';
    facts.push([`Part ${at + 1}`, `${counted(number(segment.steps), 'step')} on ${ranks}${workers}${size}${batch}`]);
  }
  for (const [section, inner] of Object.entries(recipe)) {
    if (!isObject(inner)) continue;
    for (const [name, value] of Object.entries(inner))
      if (!Array.isArray(value) && !isObject(value)) facts.push([`${section}.${name}`, shown(value)]);
  }
  return { title, says: `${farOf(state, history)} ${limit}`, facts };
}

/** A sentence that says how far the run was. */
function farOf(state: Members, history: Members[]): string {
  const epoch = `epoch ${shown(state.epoch)}`;
  const steps = history.reduce((sum, segment) => sum + number(segment.steps), 0);
  if (state.kind !== 'batcher')
    return history.length > 0 ? `The run had taken ${counted(steps, 'step')} of ${epoch}.` : `The run was in ${epoch}.`;
  // The history has only the steps of the open window. The state does not have the number of steps before it.
  const consumed = number(state.consumed);
  if (consumed === 0)
    return steps > 0
      ? `The run had taken ${counted(steps, 'step')} of the first window of ${epoch}.`
      : `The run had taken nothing of ${epoch}.`;
  const then = steps > 0 ? `, and ${counted(steps, 'step')} of the window behind them` : '';
  return `The run had taken the first ${counted(consumed, 'position')} of ${epoch} in whole windows${then}.`;
}

/** The recipe of a reading that continues after its state, with the ranks, workers and batches of the last part. */
export function readingOf(text: string): string {
  const state = parsed(text) as Members;
  const { world_size, workers, batch_size, drop_last } = objects(state.history).at(-1) ?? {};
  const recipe = isObject(state.recipe) ? state.recipe : {};
  const deal = { world_size, workers, ...('order' in recipe && drop_last ? { remainder: 'drop' } : {}) };
  return JSON.stringify({ ...recipe, deal, batch: { batch_size } });
}
