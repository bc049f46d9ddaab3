// Places of values in texts of JSON. A text is cut at these places. It is not parsed and written again, because this
// would round numbers of more than 53 bits.
/** The beginning and the end of the value of an object's member `name`; of the first one if there are several. */
export function placeOf(json: string, name: string): [start: number, end: number] | undefined {
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
    if (JSON.parse(json.slice(at, key)) === name) return [start, end];
    at = skip(skip(end) + 1);
  }
  return undefined;
}

/**
 * The end of the value that begins at `start`. If the text ends within the value, the result is beyond the end of the
 * text.
 */
export function endOf(json: string, start: number): number {
  let depth = 0;
  for (let at = start; at < json.length; at++) {
    const letter = json[at] as string;
    if (letter === '"') {
      for (at += 1; at < json.length && json[at] !== '"'; at++) if (json[at] === '\\') at += 1;
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
  return depth > 0 ? json.length + 1 : json.length;
}

/** Whether a text begins with an object, and ends before the object is complete. */
export function isCutOff(json: string): boolean {
  const start = json.search(/\S/);
  return json[start] === '{' && endOf(json, start) > json.trimEnd().length;
}
