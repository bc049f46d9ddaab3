// The files that paths, directories and addresses stand for.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { SamedealError } from 'samedeal';
import { findShards, readRows, readShards } from 'samedeal/parquet';
import { folder, linux, write } from './parquet-files.mjs';

const isWindows = process.platform === 'win32';
/** The option of a test that needs FIFOs, modes or users, which only POSIX systems have. */
const posix = { skip: isWindows && 'Windows has none of these' };

const STORED = { deal: 'shards', shuffle: false, policy: 'round-robin' };

async function ids(paths, options = STORED) {
  const seen = [];
  for await (const { id } of readShards(paths, options)) seen.push(id);
  return seen;
}

/** Writes a file with one row, whose number is `id`. */
function put(path, id) {
  mkdirSync(dirname(path), { recursive: true });
  const columnData = [{ name: 'id', data: Int32Array.of(id), type: 'INT32', nullable: false }];
  const [made] = write(dirname(path), [1], { columnData });
  if (made !== path) {
    writeFileSync(path, readFileSync(made));
    rmSync(made);
  }
}

/** Checks that reading fails with an error that names the path. */
async function refused(where, path, what) {
  await assert.rejects(ids(where), (error) => {
    assert(error.message.startsWith(`${path}: `), error.message);
    assert.match(error.message, what);
    return true;
  });
}

test('a directory stands for its *.parquet files, in the order of their bytes, without what is hidden', async (t) => {
  const where = folder(t);
  put(join(where, 'b.parquet'), 3);
  put(join(where, 'a/deep/x.parquet'), 1);
  put(join(where, 'a.parquet'), 0);
  put(join(where, 'a0.parquet'), 2);
  for (const hidden of ['.a.parquet', '_a.parquet', '.git/a.parquet', '_temporary/0/a.parquet', 'a/_b.parquet']) {
    put(join(where, hidden), 100);
  }
  for (const other of ['c.PARQUET', 'a.parquet.tmp', 'parquet', 'a/x.parquet_']) {
    writeFileSync(join(where, other), 'no Parquet');
  }
  mkdirSync(join(where, 'empty.parquet'));
  if (!isWindows) execFileSync('mkfifo', [join(where, 'fifo.parquet')]);
  // Paths are sorted by their bytes: '.' comes before '/', and '/' before '0'.
  assert.deepEqual(await ids(where), [0, 1, 2, 3]);
  // A path that is named is read, even if its name is that of a hidden file.
  assert.deepEqual(await ids([join(where, '_temporary'), join(where, '.a.parquet')]), [100, 100]);
  const empty = join(where, 'empty.parquet');
  await assert.rejects(ids(empty), {
    kind: 'contradiction',
    field: 'paths',
    message: `paths is a directory without Parquet files; allowed: a directory with *.parquet files below it; ${empty} has none`,
  });
});

test('a path that is missing keeps the code of its error, and a pattern is told to be none', async (t) => {
  const where = folder(t);
  put(join(where, 'a.parquet'), 0);
  await assert.rejects(ids(join(where, 'b.parquet')), { code: 'ENOENT', message: /b\.parquet'$/ });
  // Windows does not allow names with `*` or `?`, the marks of the first two patterns.
  for (const pattern of ['*.parquet', '?.parquet', '[ab].parquet', '{a,b}.parquet'].slice(isWindows ? 2 : 0)) {
    const path = join(where, pattern);
    await assert.rejects(ids(path), {
      code: 'ENOENT',
      message: /: ENOENT.* \(patterns are not expanded: pass a directory/,
    });
    put(path, 1);
    // A file may have such marks in its name. It is then read.
    assert.deepEqual(await ids(path), [1]);
    rmSync(path);
  }
});

test('links to files and directories are followed', async (t) => {
  const [where, other] = [folder(t), folder(t)];
  put(join(other, 'more/0.parquet'), 1);
  put(join(other, 'one'), 2);
  put(join(where, 'a.parquet'), 0);
  symlinkSync(join(other, 'more'), join(where, 'b'));
  symlinkSync(join(other, 'one'), join(where, 'c.parquet'));
  symlinkSync('nowhere', join(where, '.hidden'));
  assert.deepEqual(await ids(where), [0, 1, 2]);
  symlinkSync(where, join(other, 'all'));
  assert.deepEqual(await ids(join(other, 'all')), [0, 1, 2]);
});

test('a link that leads back, or nowhere, is an error that names it', posix, async (t) => {
  const where = folder(t);
  put(join(where, 'a.parquet'), 0);
  mkdirSync(join(where, 'sub'));
  for (const [name, target, what] of [
    ['loop', '.', /leads back to .*, a directory above it/],
    ['sub/loop', '..', /leads back/],
    ['sub/up', '../..', /leads back/],
    ['nowhere', 'missing', /ENOENT/],
    ['nowhere.parquet', 'missing', /ENOENT/],
    ['self', 'self', /ELOOP/],
  ]) {
    symlinkSync(target, join(where, name));
    await refused(where, join(where, name), what);
    rmSync(join(where, name));
  }
  assert.deepEqual(await ids(where), [0]);
  // The link leads back through another directory.
  const other = folder(t);
  symlinkSync(where, join(other, 'back'));
  symlinkSync(other, join(where, 'there'));
  await refused(where, join(where, 'there/back'), /leads back/);
});

test('a directory that cannot be listed is an error that names it', posix, async (t) => {
  const where = folder(t);
  put(join(where, 'a.parquet'), 0);
  // The modules that load on demand are loaded here, before the process changes its user.
  assert.deepEqual(await ids(where), [0]);
  const shut = join(where, 'shut');
  mkdirSync(shut);
  chmodSync(where, 0o755);
  chmodSync(shut, 0);
  const isRoot = process.geteuid() === 0;
  // Root may list any directory, so the test runs as another user.
  if (isRoot) process.seteuid(65534);
  try {
    await refused(where, shut, /EACCES/);
  } finally {
    if (isRoot) process.seteuid(0);
    chmodSync(shut, 0o755);
  }
});

test('a file that becomes a FIFO is an error, not a wait', posix, async (t) => {
  const where = folder(t);
  const paths = write(where, [60, 40]);
  const shards = await findShards(paths);
  rmSync(paths[1]);
  execFileSync('mkfifo', [paths[1]]);
  await assert.rejects(readRows(shards, [0, 70]), (error) => {
    assert.equal(error.message, `${paths[1]}: it is a FIFO, and no regular file and no directory`);
    return true;
  });
});

test('what is no file and no directory is an error, not a wait', posix, async (t) => {
  const fifo = join(folder(t), 'fifo.parquet');
  execFileSync('mkfifo', [fifo]);
  await refused(fifo, fifo, /it is a FIFO, and no regular file/);
  await refused('/dev/null', '/dev/null', /it is a device/);
  const socket = join(folder(t), 'socket');
  const server = createServer().listen(socket);
  await new Promise((resolve) => server.once('listening', resolve));
  await refused(socket, socket, /it is a socket/).finally(() => server.close());
});

test('a name that is not UTF-8 is an error that names it', linux, async (t) => {
  const where = folder(t);
  put(join(where, 'a.parquet'), 0);
  put(join(where, 'ü.parquet'), 1);
  assert.deepEqual(await ids(where), [0, 1]);
  const odd = Buffer.concat([Buffer.from(join(where, 'b')), Buffer.of(0xe9), Buffer.from('.parquet')]);
  writeFileSync(odd, 'no Parquet');
  await refused(where, join(where, 'b\ufffd.parquet'), /not UTF-8 \(62e92e70617271756574 in hexadecimal\)/);
});

/** Starts a server for the files in a folder. `requests` has the ranges of all requests. */
async function serving(t, where, { ranges = true } = {}) {
  const requests = [];
  const server = createServer((request, response) => {
    const path = join(where, new URL(request.url, 'http://localhost').pathname);
    if (!existsSync(path)) return response.writeHead(404).end();
    const { size } = statSync(path);
    if (request.method === 'HEAD') return response.writeHead(200, { 'content-length': size }).end();
    requests.push(request.headers.range);
    const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range);
    const bytes = readFileSync(path);
    if (!ranges) return response.writeHead(200).end(bytes);
    response.writeHead(206).end(bytes.subarray(Number(start), Number(end) + 1));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { address: `http://127.0.0.1:${server.address().port}`, requests };
}

test('addresses of files are read by ranges', async (t) => {
  const where = folder(t);
  const paths = write(where, [300, 200], { rowGroupSize: 50 });
  for (const ranges of [true, false]) {
    const { address, requests } = await serving(t, where, { ranges });
    const addresses = [`${address}/0.parquet`, new URL(`${address}/1.parquet`)];
    for (const options of [STORED, { lanes: 4, shuffleWindow: 16, seed: 3 }]) {
      assert.deepEqual(await ids(addresses, options), await ids(paths, options));
    }
    // A server without support of ranges sends the whole file each time that it is opened.
    assert(ranges ? requests.length > 10 : requests.length > 0);
    await refused(`${address}/2.parquet`, `${address}/2.parquet`, /404/);
    const twice = [addresses[0], addresses[0]];
    await assert.rejects(ids(twice), { kind: 'contradiction', field: 'paths' });
  }
});

test('other URLs are refused by their scheme', async (t) => {
  const where = folder(t);
  put(join(where, 'a.parquet'), 0);
  assert.deepEqual(await ids(pathToFileURL(where)), [0]);
  assert.deepEqual(await ids(pathToFileURL(where).href), [0]);
  for (const url of ['s3://bucket/a.parquet', 'hf://datasets/a', new URL('ftp://host/a.parquet')]) {
    await assert.rejects(ids(url), (error) => {
      assert(error instanceof SamedealError);
      assert.deepEqual([error.kind, error.field], ['wrong-type', 'paths']);
      assert.match(
        error.message,
        /paths is ".*:\/\/.*"; allowed: paths of files and directories, URLs with file:, http: or https:, and AsyncBuffers/,
      );
      return true;
    });
  }
});
