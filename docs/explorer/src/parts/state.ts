import { isObject, type Members, parsed, shown } from './json.ts';
import { counted } from './text.ts';

/** The members of a state as a list of names and values, for reading. */
export type StateFacts = [name: string, value: string][];

export const kindOf = (text: string): string => {
  const document = parsed(text);
  return isObject(document) ? shown(document.kind) : '';
};

/** The kinds of states that the view of checkpoints shows. */
export const KINDS: readonly string[] = ['sampler', 'reading', 'batcher', 'schedule'];

/** The text of a state, unless it is one of another kind than a sampler. */
export const ofSampler = (text: string): string => (KINDS.indexOf(kindOf(text)) > 0 ? '' : text);

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
  const recipe: Members = isObject(state.recipe) ? state.recipe : {};
  const facts: StateFacts = [['Epoch', shown(state.epoch)]];
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
  return facts;
}

/**
 * The run that wrote a state of a dataset in files, or of batches: the ranks, workers and batch size of its last part,
 * if the state has it.
 */
export function lastPartOf(text: string): { ranks: string; workers: string; each: string } {
  const state = parsed(text);
  const { world_size, workers, batch_size } = (isObject(state) ? objects(state.history).at(-1) : undefined) ?? {};
  return { ranks: shown(world_size), workers: shown(workers), each: shown(batch_size) };
}

/** The recipe of a reading that continues after its state, with the ranks, workers and batches of the last part. */
export function readingOf(text: string): string {
  const state = parsed(text) as Members;
  const { world_size, workers, batch_size, drop_last } = objects(state.history).at(-1) ?? {};
  const recipe = isObject(state.recipe) ? state.recipe : {};
  const [isDealt, isCut] = ['order' in recipe, drop_last === true];
  const deal = { world_size, workers, ...(isDealt && isCut ? { remainder: 'drop' } : {}) };
  return JSON.stringify({ ...recipe, deal, batch: { batch_size, ...(!isDealt && isCut ? { drop_last: true } : {}) } });
}
