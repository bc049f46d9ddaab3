// Functions of all JavaScript adapters: reading the golden cases, and printing the outcome.
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

// A folder with other cases, such as random ones.
const other = process.env.SAMEDEAL_CASES;
const vectors = other ? pathToFileURL(`${resolve(other)}/`) : new URL('../vectors/', import.meta.url);

/** The names of the files of golden cases. */
export function groupFiles() {
  const files = readdirSync(vectors).filter((file) => file.endsWith('.json') && file !== 'schema.json');
  if (files.length === 0) fail(`no golden cases in ${vectors.pathname}`);
  return files.sort();
}

const schema = JSON.parse(readFileSync(new URL('../vectors/schema.json', import.meta.url), 'utf8'));

/**
 * The golden cases of a file, and the most items of a list that is written as a repetition. Cases that need a table of
 * several hundred megabytes are left out unless they are requested.
 */
export function readGroup(file) {
  const { cases, ...rest } = JSON.parse(readFileSync(new URL(file, vectors), 'utf8'));
  const mostRepeated = schema.$defs['repeated-count'].maximum;
  return { ...rest, mostRepeated, cases: cases.filter(({ slow }) => !slow || process.env.SAMEDEAL_SLOW) };
}

/**
 * Prints one line of the matrix. A failed case makes the process fail at its end. A group that an engine does not
 * support gets a line, too.
 */
export function report(engine, { group, without, passed, errors }) {
  if (without) return console.log(['without', engine, group].join('\t'));
  console.log(['matrix', engine, group, passed, errors.length].join('\t'));
  for (const error of errors) console.error(`${engine}: ${error}`);
  if (errors.length > 0) process.exitCode = 1;
}

export function fail(message) {
  console.error(message);
  process.exit(1);
}
