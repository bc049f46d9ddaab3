import { parsed } from './json.ts';

/** A recipe as a text of each language, in one line. */
export function literal(recipe: string) {
  const document = parsed(recipe);
  const text = document === undefined ? recipe : JSON.stringify(document);
  // Recipes have no escapes, and names that somebody made may have quotes of their own.
  const quoted = `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  return { python: quoted, javascript: quoted, rust: `r#"${text}"#`, shell: `'${text.replaceAll("'", "'\\''")}'` };
}
