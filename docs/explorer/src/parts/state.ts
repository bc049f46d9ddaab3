import { isObject, type Members, parsed, shown } from './json.ts';
import { counted } from './text.ts';

/** What can be said of a state that no view asks: what it is, how far it is, and what it does not hold. */
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
  steps: ['A state of a schedule of steps', 'This page has no view of schedules.'],
};

const objects = (value: unknown): Members[] => (Array.isArray(value) ? value.filter(isObject) : []);
const number = (value: unknown): number => Number(shown(value)) || 0;

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
  if (state.consumed !== undefined) facts.push(['Positions read', shown(state.consumed)]);
  if (state.step !== undefined) facts.push(['Step', shown(state.step)]);
  for (const [at, segment] of history.entries()) {
    const workers = segment.workers === undefined ? '' : `, ${counted(number(segment.workers), 'worker')} each`;
    const size = segment.batch_size === undefined ? '' : `, batch size ${shown(segment.batch_size)}`;
    const ranks = counted(number(segment.world_size), 'rank');
    facts.push([`Part ${at + 1}`, `${counted(number(segment.steps), 'step')} on ${ranks}${workers}${size}`]);
  }
  for (const [section, inner] of Object.entries(recipe)) {
    if (!isObject(inner)) continue;
    for (const [name, value] of Object.entries(inner))
      if (!Array.isArray(value) && !isObject(value)) facts.push([`${section}.${name}`, shown(value)]);
  }
  const steps = history.reduce((sum, segment) => sum + number(segment.steps), 0);
  const far =
    history.length > 0
      ? `The run had taken ${counted(steps, 'step')} of epoch ${shown(state.epoch)}.`
      : `The run was in epoch ${shown(state.epoch)}.`;
  return { title, says: `${far} ${limit}`, facts };
}

/** The recipe of a reading that goes on as its state ends: with the ranks, workers and batches of the last part. */
export function readingOf(text: string): string {
  const state = parsed(text) as Members;
  const { world_size, workers, batch_size, drop_last } = objects(state.history).at(-1) ?? {};
  const recipe = isObject(state.recipe) ? state.recipe : {};
  const deal = { world_size, workers, ...('order' in recipe && drop_last ? { remainder: 'drop' } : {}) };
  return JSON.stringify({ ...recipe, deal, batch: { batch_size } });
}
