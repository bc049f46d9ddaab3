// The log in a folder: it works as other logs do, is shared by processes, and may be replaced. In
// tests/crossing/training, Python shares a folder with Node.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { MemoryLog, openLedger, replayLedger, Sampler } from 'samedeal';
import { FolderLog } from 'samedeal/node';
import { wrong } from './values.mjs';

const folder = mkdtempSync(join(tmpdir(), 'samedeal-'));
after(() => rmSync(folder, { recursive: true }));
let made = 0;
const fresh = () => join(folder, `log ${made++}`);
const contents = (path) => readdirSync(path).map((name) => [name, readFileSync(join(path, name), 'utf8')]);
const sorted = (samples) => [...samples].sort((one, other) => one - other);

const READER = `
  import { openLedger, Sampler } from 'samedeal';
  import { FolderLog } from 'samedeal/node';
  const [path, reader] = process.argv.slice(1);
  const ledger = await openLedger(new Sampler(600, { seed: 5 }), new FolderLog(path), { reader: Number(reader), blockSize: 20 });
  for await (const claim of ledger) console.log(claim.samples().join('\\n'));`;

test('processes share a folder, and leave no other file', async () => {
  const path = fresh();
  const read = (reader) =>
    text(
      spawn(process.execPath, ['--input-type=module', '-e', READER, path, reader], { cwd: import.meta.dirname }).stdout,
    );
  const told = await Promise.all(['0', '1', '2'].map(read));
  const found = told.map((lines) => lines.split('\n').slice(0, -1).map(Number));
  assert.deepEqual(
    sorted(found.flat()),
    Array.from({ length: 600 }, (_, i) => i),
  );
  const files = contents(path);
  assert.deepEqual(
    files.map(([name]) => name),
    files.map((_, i) => `${String(i).padStart(16, '0')}.json`),
  );
  const log = new FolderLog(pathToFileURL(path));
  assert.equal(log.path, path);
  const lines = files.map(([, line]) => line).join('');
  assert.equal((await log.entries()).map((entry) => `${entry}\n`).join(''), lines);
  for (const [reader, samples] of found.entries()) {
    assert.deepEqual([...replayLedger(lines, { reader, readers: 3 }).samples(new Sampler(600, { seed: 5 }))], samples);
  }
});

test('a long log in a folder is read from its last checkpoint on', async () => {
  const path = fresh();
  const [log, memory] = [new FolderLog(path), new MemoryLog()];
  assert.deepEqual([await log.read(0), await log.lastCheckpoint()], [[], undefined]);
  for (const each of [log, memory]) {
    const ledger = await openLedger(new Sampler(200), each, { reader: 0, blockSize: 2, checkpointInterval: 50 });
    for await (const claim of ledger) if (claim.start === 150) break;
  }
  assert.equal(await log.lastCheckpoint(), memory.lastCheckpoint());
  const reads = [];
  const again = new FolderLog(path);
  const watched = {
    append: (...given) => again.append(...given),
    lastCheckpoint: () => again.lastCheckpoint(),
    async read(from) {
      const entries = await again.read(from);
      if (entries.length > 0) reads.push(from);
      return entries;
    },
  };
  const rest = await openLedger(new Sampler(200), watched, { reader: 1 });
  const { committed, entries } = await rest.progress();
  assert.equal(committed, 150);
  const { number } = JSON.parse(memory.lastCheckpoint());
  assert(reads.includes(number + 1), reads.join());
  assert.equal(await again.append(entries - 1, 'x'), false);
  assert.equal(await again.append(entries + 1, 'x'), false);
});

for (const how of ['begun anew', 'gone', 'cut']) {
  test(`a folder that was replaced is another log: ${how}`, async () => {
    const path = fresh();
    const open = () => openLedger(new Sampler(40), new FolderLog(path), { reader: 0, blockSize: 10 });
    const old = await open();
    const claim = await old.claim();
    rmSync(how === 'cut' ? join(path, '0000000000000002.json') : path, { recursive: true });
    const anew = how === 'begun anew' ? await open() : undefined;
    // The last entry of the new log has the same text as in the old log.
    const held = await anew?.claim();
    const before = how === 'gone' ? undefined : contents(path);
    for (const call of [() => claim.commit(), () => claim.release(), () => old.claim(), () => old.progress()]) {
      const message = /another log: entry [12] is not the one that was read/;
      await assert.rejects(call, { kind: 'contradiction', field: 'log', message });
    }
    if (before) assert.deepEqual(contents(path), before);
    else assert.throws(() => readdirSync(path), { code: 'ENOENT' });
    if (!anew) return;
    await held.commit();
    const starts = [];
    for await (const { start } of anew) starts.push(start);
    assert.deepEqual(starts, [10, 20, 30]);
  });
}

test('a folder that is replaced during a commit gets no entry', async (t) => {
  const [path, other] = [fresh(), fresh()];
  const claimed = async (at, reader) => {
    const ledger = await openLedger(new Sampler(40), new FolderLog(at), { reader, blockSize: 10 });
    return ledger.claim();
  };
  const claim = await claimed(path, 0);
  // The other log is as long as this one.
  await claimed(other, 1);
  const before = contents(other);
  const { randomUUID } = crypto;
  // The folder is replaced after the log was read and before the entry is written.
  t.mock.method(crypto, 'randomUUID', () => {
    t.mock.restoreAll();
    renameSync(path, `${path} before`);
    renameSync(other, path);
    return randomUUID.call(crypto);
  });
  await assert.rejects(claim.commit(), { kind: 'contradiction', field: 'log' });
  assert.deepEqual(contents(path), before);
});

test('an entry of the log that replaced another one stays', async () => {
  const [path, other] = [fresh(), fresh()];
  const opened = (at, reader) => openLedger(new Sampler(40), new FolderLog(at), { reader, blockSize: 10 });
  const claim = await (await opened(path, 0)).claim();
  // The other log has an entry of the number that is written below.
  const ledger = await opened(other, 1);
  const claims = [await ledger.claim(), await ledger.claim()];
  assert.equal(claims.length, 2);
  const before = contents(other);
  const { link } = fs;
  fs.link = async (...given) => {
    fs.link = link;
    syncBuiltinESMExports();
    await link(...given);
    renameSync(path, `${path} before`);
    renameSync(other, path);
  };
  syncBuiltinESMExports();
  await assert.rejects(claim.commit(), { kind: 'contradiction', field: 'log' });
  assert.deepEqual(contents(path), before);
});

test('a lost answer of a server of files is found', async () => {
  const path = fresh();
  const { link } = fs;
  const twice = async (...given) => {
    await link(...given);
    await link(...given);
  };
  const withLink = async (other, call) => {
    fs.link = other;
    syncBuiltinESMExports();
    try {
      return await call();
    } finally {
      fs.link = link;
      syncBuiltinESMExports();
    }
  };
  assert.equal(await withLink(twice, () => new FolderLog(path).append(0, 'one')), true);
  assert.equal(await new FolderLog(path).append(0, 'two'), false);
  const away = async () => {
    throw new Error('no links here');
  };
  await assert.rejects(
    withLink(away, () => new FolderLog(path).append(1, 'two')),
    /no links here/,
  );
  assert.deepEqual(contents(path), [['0000000000000000.json', 'one\n']]);
});

test('a log takes an entry at its end and nowhere else', async () => {
  for (const log of [new MemoryLog(), new FolderLog(fresh())]) {
    assert.deepEqual([await log.append(1, 'b'), await log.append(0, 'a')], [false, true]);
    for (const number of [0, 2, 9]) assert.equal(await log.append(number, 'b'), false);
    assert.deepEqual(await log.read(0), ['a']);
  }
});

test('no log is in a folder that is a file', async () => {
  const path = fresh();
  writeFileSync(path, 'a file');
  const log = new FolderLog(path);
  const calls = [() => log.read(0), () => log.append(0, 'a'), () => log.append(1, 'a'), () => log.lastCheckpoint()];
  for (const call of calls) await assert.rejects(call, { code: 'ENOTDIR' });
  assert.equal(readFileSync(path, 'utf8'), 'a file');
});

test('bad input', async () => {
  for (const path of [3, undefined, new URL('http://example.org/log')]) {
    assert.throws(() => new FolderLog(path), { kind: wrong(path), field: 'path' });
  }
  for (const path of ['', 'a\0b']) assert.throws(() => new FolderLog(path), { kind: 'out-of-range', field: 'path' });
  const log = new FolderLog(fresh());
  await assert.rejects(log.read(-1), { field: 'from' });
  await assert.rejects(log.append(0.5, 'x'), { field: 'number' });
  await assert.rejects(log.append(0, 'x\ny'), { kind: 'out-of-range', field: 'entry' });
  await assert.rejects(log.append(0, 3), { kind: 'wrong-type', field: 'entry' });
  await assert.rejects(new FolderLog(join(fresh(), 'none')).append(0, 'x'), { code: 'ENOENT' });
});
