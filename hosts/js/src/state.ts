// States as documents: a state has the recipe of the object that was read, without the options by which it was dealt.
import { fail, STATE, stateText } from './checks.js';
import { written } from './document.js';
import { isCutOff, placeOf } from './json.js';

/** Moves a new object to a state. Frees the object if it refuses the state. */
export function resumed<S, T extends { resume(state: S): unknown; dispose(): void }>(made: T, state: S): T {
  try {
    made.resume(state);
  } catch (error) {
    made.dispose();
    throw error;
  }
  return made;
}

/**
 * The recipe in a state as text, with `sections` added, which a state does not have. The text is not parsed and written
 * anew, which would round numbers of 64 bits.
 */
export function recipeOfState(state: unknown, sections: Readonly<Record<string, object | undefined>>): string {
  const text = stateText(state);
  const place = isObject(text) ? placeOf(text, 'recipe') : undefined;
  const recipe = place && text.slice(...place);
  if (recipe === undefined || !isObject(recipe)) {
    fail('wrong-type', 'state', text, isCutOff(text) ? `${STATE}, in whole: this one ends too early` : STATE);
  }
  const own = recipe.slice(1, -1).trim();
  const given = Object.entries(sections).filter(([, section]) => section !== undefined);
  const others = given.map(([name, section]) => `${JSON.stringify(name)}:${written(name, section, 1)}`);
  return `{${[...(own === '' ? [] : [own]), ...others].join(',')}}`;
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
