import { inspect, plainOrders } from 'samedeal/web';
import { isObject, type Members, parsed } from '../parts/json.ts';
import { isNumbers } from '../parts/number.ts';
import { entriesOf } from '../views/differ/entries.ts';
import { samplerOf } from './samplers.ts';

/** The names of the plain orders. */
export const orders = (_question: undefined): string[] => [...plainOrders()];

/** The recipe as the core writes it, with all defaults, and its fingerprint. */
export function canonical({ recipe }: { recipe: string }) {
  const sampler = samplerOf(recipe);
  return { recipe: sampler.recipe, fingerprint: sampler.recipeFingerprint() };
}

/**
 * The facts about the run that wrote a state, from the member `taken_by` beside the state: its ranks, its batch size,
 * and the position at which these ranks began. Empty texts for unknown facts.
 */
export interface Taken {
  ranks: string;
  each: string;
  begun: string;
}

function takenBy(value: unknown): Taken {
  const { world_size, batch_size, from } = isObject(value) ? value : ({} as Members);
  const whole = (number: unknown, least: number) =>
    Number.isSafeInteger(number) && (number as number) >= least ? String(number) : '';
  return { ranks: whole(world_size, 1), each: whole(batch_size, 1), begun: whole(from, 0) || '0' };
}

/** The kind of a text that was pasted or dropped, and its content. */
export type Found =
  | { kind: 'sampler' | 'batcher' | 'reading' | 'plan'; text: string }
  | { kind: 'state'; of: string; text: string; recipe: string; epoch: string; taken: Taken }
  | { kind: 'log' | 'lengths' | 'index' | 'entries'; text: string }
  /** `text` completes a sentence whose subject is the opened text. */
  | { kind: 'unknown'; text: string };

/**
 * The first state within a JSON document, such as the `trainer_state.json` of a checkpoint, and the facts about its
 * run.
 */
function stateWithin(value: unknown, beside?: unknown, depth = 0): { state: Members; taken: Taken } | undefined {
  if (typeof value === 'string')
    return value.includes('"samedeal"') && depth <= 32 ? stateWithin(parsed(value), beside, depth + 1) : undefined;
  if (typeof value !== 'object' || value === null || depth > 32) return undefined;
  if (isObject(value) && value.samedeal === 1 && typeof value.kind === 'string')
    return { state: value, taken: takenBy(beside) };
  const own = isObject(value) ? value.taken_by : undefined;
  for (const inner of Object.values(value)) {
    const found = stateWithin(inner, own, depth + 1);
    if (found) return found;
  }
  return undefined;
}

/**
 * The recipe in a state of a sampler, with all defaults. A state has no number of ranks: if the page shows a recipe of
 * the same order, this recipe stays.
 */
function recipeOf(state: Members, shown: string): string {
  const own = JSON.stringify(state.recipe);
  const orderOf = (recipe: string) => JSON.stringify((parsed(samplerOf(recipe).recipe) as Members).order);
  try {
    if (orderOf(shown) === JSON.stringify((state.recipe as Members).order)) return shown;
    return samplerOf(own).recipe;
  } catch {
    // An invalid recipe stays as it is: the view of the recipe shows its error.
    return own;
  }
}

/** Finds out the kind of a text. `shown` is the recipe on the page. */
export function recognise({ text, shown = '' }: { text: string; shown?: string }): Found {
  const plain = text.trim();
  const first = parsed(plain.slice(0, plain.indexOf('\n') < 0 ? plain.length : plain.indexOf('\n')));
  if (isObject(first) && first.kind === 'ledger') return { kind: 'log', text: `${plain}\n` };
  if (isNumbers(plain)) return { kind: 'lengths', text: plain };
  // A damaged index is treated as an index, so that the component names its error.
  if (/^\{[^{}]*"kind"\s*:\s*"index"/.test(plain)) return { kind: 'index', text: plain };
  const document = parsed(plain);
  const found = stateWithin(document);
  if (found) {
    const { state, taken } = found;
    const of = String(state.kind);
    const recipe = of === 'sampler' ? recipeOf(state, shown) : JSON.stringify(state.recipe);
    return { kind: 'state', of, text: JSON.stringify(state), recipe, epoch: JSON.stringify(state.epoch ?? 0), taken };
  }
  if (!isObject(document)) {
    if (entriesOf(text).length > 0) return { kind: 'entries', text };
    return { kind: 'unknown', text: 'has no recipe, state, log, lengths or fingerprint' };
  }
  return recipeOfKind(plain);
}

/**
 * The kind of a recipe, if the page has a view for it. A recipe with a mistake counts as that of a sampler, whose view
 * shows the mistake.
 */
function recipeOfKind(text: string): Found {
  try {
    const { form, of } = inspect(text);
    if (form === 'index') return { kind: 'index', text };
    if (of === 'sampler' || of === 'batcher' || of === 'reading' || of === 'plan') return { kind: of, text };
    return { kind: 'unknown', text: `is the recipe of a ${of}, which this page does not show` };
  } catch (error) {
    // The text has no section of any recipe.
    if ((error as { field?: string }).field === 'text') return { kind: 'unknown', text: 'is no recipe, state or log' };
    return { kind: 'sampler', text };
  }
}
