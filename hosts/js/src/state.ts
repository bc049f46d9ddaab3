// States as documents: each has the recipe of what was read, without how it was dealt.
import { fail, stateText } from './checks.js';
import { written } from './document.js';

/** An object after a state. It is freed where that is no state of it. */
export function resumed<T extends { resume(state: string): unknown; dispose(): void }>(made: T, state: string): T {
  try {
    made.resume(state);
  } catch (error) {
    made.dispose();
    throw error;
  }
  return made;
}

/** The recipe of a state as text, with sections that a state does not have. The text is not written anew: a number may have 64 bits. */
export function recipeOfState(state: unknown, sections: Readonly<Record<string, object | undefined>>): string {
  const text = stateText(state);
  const recipe = isObject(text) ? memberOf(text, 'recipe') : undefined;
  if (recipe === undefined || !isObject(recipe)) fail('wrong-type', 'state', text, 'the text that `state` gave');
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

/** The text of a member of an object in JSON; that of the first one if there are several. */
function memberOf(json: string, name: string): string | undefined {
  const space = /\s*/y;
  const skip = (at: number) => {
    space.lastIndex = at;
    return at + (space.exec(json)?.[0].length ?? 0);
  };
  let at = skip(skip(0) + 1);
  while (json[at] === '"') {
    const key = endOf(json, at);
    const start = skip(skip(key) + 1);
    const end = endOf(json, start);
    if (JSON.parse(json.slice(at, key)) === name) return json.slice(start, end);
    at = skip(skip(end) + 1);
  }
  return undefined;
}

/** Where a value that begins there ends. */
function endOf(json: string, start: number): number {
  let depth = 0;
  for (let at = start; at < json.length; at++) {
    const letter = json[at] as string;
    if (letter === '"') {
      for (at += 1; json[at] !== '"'; at++) if (json[at] === '\\') at += 1;
      if (depth === 0) return at + 1;
    } else if (letter === '{' || letter === '[') {
      depth += 1;
    } else if (letter === '}' || letter === ']') {
      depth -= 1;
      if (depth <= 0) return depth < 0 ? at : at + 1;
    } else if (depth === 0 && letter === ',') {
      return at;
    }
  }
  return json.length;
}
