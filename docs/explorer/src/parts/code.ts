import { parsed } from './json.ts';

/** The literal of a recipe in each language, in one line. */
export function literal(recipe: string) {
  const document = parsed(recipe);
  const text = document === undefined ? recipe : JSON.stringify(document);
  // Names in a recipe may have quotes, backslashes, and the characters that end a raw string of Rust.
  const quoted = `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  let marks = '#';
  while (text.includes(`"${marks}`)) marks += '#';
  return {
    python: quoted,
    javascript: quoted,
    rust: `r${marks}"${text}"${marks}`,
    shell: `'${text.replaceAll("'", "'\\''")}'`,
  };
}
