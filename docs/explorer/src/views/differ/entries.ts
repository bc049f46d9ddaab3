import { isObject, parsed } from '../../parts/json.ts';

/** An entry that a rank printed: a label, and a document or a fingerprint. */
export interface Entry {
  label: string;
  text: string;
}

/**
 * Finds the documents and fingerprints in a text. Each may have a label before it in its line, such as `rank 3:`. A
 * document may have several lines.
 */
export function entriesOf(text: string): Entry[] {
  const entries: Entry[] = [];
  let at = 0;
  let label = '';
  const push = (found: string) => {
    const name = label
      .slice(label.lastIndexOf('\n') + 1)
      .replaceAll(/["'`]/g, '')
      .replace(/[:=\s]+$/, '')
      .trim();
    const given = /^\d+$/.test(name) ? `rank ${name}` : name || `rank ${entries.length}`;
    // A label that another entry has already gets a number.
    let unique = given;
    for (let copy = 2; entries.some((entry) => entry.label === unique); copy++) unique = `${given} (${copy})`;
    entries.push({ label: unique, text: found });
    label = '';
  };
  while (at < text.length) {
    const hash = /^[0-9a-f]{64}\b/.exec(text.slice(at, at + 65));
    if (hash) {
      push(hash[0]);
      at += 64;
    } else if (text[at] === '{') {
      const end = endOf(text, at);
      push(text.slice(at, end));
      at = end;
    } else {
      label += text[at];
      at += 1;
    }
  }
  return entries;
}

/** The end of the object that begins at `from`. */
function endOf(text: string, from: number): number {
  let depth = 0;
  // Strings are matched as a whole, because they can contain braces.
  const token = /"(?:[^"\\]|\\.)*"|[{}]/g;
  token.lastIndex = from;
  for (let found = token.exec(text); found; found = token.exec(text)) {
    if (found[0] === '{') depth += 1;
    else if (found[0] === '}' && --depth === 0) return token.lastIndex;
  }
  return text.length;
}

/** The entries with one more: a document in one line, after its name. Without a name, it is numbered. */
export function withEntry(entries: string, text: string, name = ''): string {
  const document = parsed(text);
  const line = document === undefined ? text.trim() : JSON.stringify(document);
  const label = isObject(document)
    ? `${name.replaceAll(/[{}\n]/g, ' ') || `pasted ${entriesOf(entries).length + 1}`}: `
    : '';
  return `${entries.trim() ? `${entries.trimEnd()}\n` : ''}${label}${line}\n`;
}

/** The entries of an example, which is shown until the user enters some: rank 2 has another seed. */
export const EXAMPLE = [42, 42, 43, 42]
  .map((seed, rank) => `rank ${rank}: {"order":{"samples":1000,"seed":${seed}},"deal":{"world_size":4}}`)
  .join('\n');
