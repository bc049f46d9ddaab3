// No two files of the sources import each other, directly or through other files, not even for a type.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const sources = fileURLToPath(new URL('../src', import.meta.url));

test('imports lead in no circle', () => {
  const files = readdirSync(sources, { recursive: true }).filter((file) => file.endsWith('.ts'));
  const imports = new Map(
    files.map((file) => {
      const found = readFileSync(join(sources, file), 'utf8').matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)\.js'/g);
      const own = Array.from(found, ([, path]) => `${normalize(join(dirname(file), path))}.ts`);
      return [file, own.filter((other) => files.includes(other))];
    }),
  );
  assert([...imports.values()].flat().length > 200);
  const ended = new Set();
  const visit = (file, path) => {
    assert(!path.includes(file), [...path.slice(path.indexOf(file)), file].join(' -> '));
    if (ended.has(file)) return;
    for (const other of imports.get(file)) visit(other, [...path, file]);
    ended.add(file);
  };
  for (const file of files) visit(file, []);
});
