// Files of other formats than Parquet, which pyarrow and Python's json have written. What Python reads from such files
// is compared in tests/docs/test_other_formats.py.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { Reading, SamedealError, ShardPlan } from 'samedeal';
import { findShards, jsonLines, readBatches, readRows, readShards } from 'samedeal/files';
import * as parquetAlone from 'samedeal/parquet';
import { folder, open, python, withWrongBits, write } from './parquet-files.mjs';

const run = promisify(execFile);
const SIZES = [250, 1, 0, 600, 20];
const TOTAL = 871;
const host = fileURLToPath(new URL('..', import.meta.url));

/** Writes a folder for each kind of file, with files of `SIZES`, and other files beside them. */
const SCRIPT = `
import json, os, sys
import pyarrow as pa, pyarrow.feather as feather
folder, sizes = sys.argv[1], json.loads(sys.argv[2])
schema = pa.schema([("id", pa.int32()), ("text", pa.string()), ("list", pa.list_(pa.int64())), ("kind", pa.dictionary(pa.int8(), pa.string()))])
def arrow(codec):
    def write(path, rows):
        options = pa.ipc.IpcWriteOptions(compression=codec)
        with pa.ipc.new_file(path + ".arrow", schema, options=options) as writer:
            writer.write_table(pa.Table.from_pylist(rows, schema), max_chunksize=100)
    return write
def stream(path, rows):
    plain = pa.schema([*list(schema)[:3], ("kind", pa.string())])
    with pa.ipc.new_stream(path + ".arrow", plain) as writer:
        writer.write_table(pa.Table.from_pylist(rows, plain), max_chunksize=100)
def jsonl(path, rows):
    lines = [json.dumps({**row, "padding": "." * 2000}, ensure_ascii=False) for row in rows]
    with open(path + ".jsonl", "w", encoding="utf-8", newline="") as file:
        file.write("\\n\\n".join(filter(None, ["\\n".join(lines[:10]), "\\r\\n".join(lines[10:])])))
writers = {"file": arrow(None), "lz4": arrow("lz4"), "zstd": arrow("zstd"), "stream": stream, "jsonl": jsonl,
    "feather": lambda path, rows: feather.write_feather(pa.Table.from_pylist(rows, schema), path + ".feather", chunksize=90)}
for name, writer in writers.items():
    os.makedirs(f"{folder}/{name}")
    open(f"{folder}/{name}/README.md", "w").write("no data")
    base = 0
    for number, size in enumerate(sizes):
        rows = [{"id": i, "text": f"row {i} ü😀", "list": [i] * (i % 3) if i % 5 else None, "kind": f"kind {i % 7}"} for i in range(base, base + size)]
        base += size
        writer(f"{folder}/{name}/{number}", rows)
`;

const KINDS = ['file', 'lz4', 'zstd', 'feather', 'stream', 'jsonl'];
const ENDINGS = { feather: 'feather', jsonl: 'jsonl' };

/** The path of the file with this number. */
const fileOf = (where, kind, number) => join(where, kind, `${number}.${ENDINGS[kind] ?? 'arrow'}`);

/** The files of all kinds, which no test changes. */
const where = folder({ after });
before(() => execFileSync(python, ['-c', SCRIPT, where, JSON.stringify(SIZES)]));

/** A copy of the files, for a test that changes some. */
function copied(t, kind = '') {
  const own = folder(t);
  cpSync(join(where, kind), join(own, kind), { recursive: true });
  return own;
}

/** The row with this number. In JSON, whole numbers are no `bigint`s, and there is a column more. */
function rowOf(id, kind) {
  const isJson = kind === 'jsonl';
  const list = id % 5 ? Array(id % 3).fill(isJson ? id : BigInt(id)) : null;
  const row = { id, text: `row ${id} ü😀`, list, kind: `kind ${id % 7}` };
  return isJson ? { ...row, padding: '.'.repeat(2000) } : row;
}

async function all(items) {
  const seen = [];
  for await (const item of items) seen.push(item);
  return seen;
}

const idsOf = (batches) => batches.flatMap((batch) => batch.map(({ id }) => id));

describe('what is read', () => {
  for (const kind of KINDS) {
    test(`${kind}: all rows, in the order of the reading, on all ranks and workers`, async () => {
      const shards = await findShards(join(where, kind));
      assert.deepEqual([...shards.sizes], SIZES);
      assert.deepEqual(shards.columns, Object.keys(rowOf(0, kind)));
      for (const options of [{ lanes: 8, shuffleWindow: 16 }, { shuffle: false }]) {
        const reading = new Reading(shards.sizes, { ...options, worldSize: 2, workers: 2, seed: 3, batchSize: 9 });
        for (const [rank, worker] of [
          [0, 0],
          [0, 1],
          [1, 0],
          [1, 1],
        ]) {
          const batches = await all(readBatches(shards, reading, { rank, worker }));
          const expected = [...reading.indices(rank, worker, 0)];
          assert.deepEqual(
            batches.flat(),
            expected.map((id) => rowOf(id, kind)),
          );
        }
      }
      assert.deepEqual(open(where), []);
    });

    test(`${kind}: rows of any samples, and some columns`, async () => {
      const wanted = [870, 0, 249, 250, 251, 799, 798, 870, 130];
      const rows = await readRows(await findShards(join(where, kind)), wanted);
      assert.deepEqual(
        rows,
        wanted.map((id) => rowOf(id, kind)),
      );
      const some = await findShards(join(where, kind), { columns: ['text', 'id'] });
      assert.deepEqual(await readRows(some, [7]), [{ text: 'row 7 ü😀', id: 7 }]);
      await assert.rejects(findShards(join(where, kind), { columns: ['nothing'] }), {
        kind: 'unknown-name',
        field: 'columns',
      });
    });

    test(`${kind}: a state in the middle of an epoch, on other ranks`, async () => {
      const shards = await findShards(join(where, kind));
      const before = new Reading(shards.sizes, { workers: 2, batchSize: 10, lanes: 4, seed: 5 });
      const taken = [];
      for (const worker of [0, 1])
        taken.push(...(await all(readBatches(shards, before, { rank: 0, worker }))).slice(0, 15));
      const own = { worldSize: 3, batchSize: 7, lanes: 4, remainder: 'uneven', seed: 5, state: before.state(30) };
      const rest = [];
      for (const rank of [0, 1, 2]) rest.push(...(await all(readShards(join(where, kind), { ...own, rank }))));
      assert.deepEqual(
        idsOf([...taken, ...rest]).sort((one, other) => one - other),
        [...Array(TOTAL).keys()],
      );
    });

    test(`${kind}: whole files, by their bytes`, async () => {
      const shards = await findShards(join(where, kind));
      const options = { deal: 'shards', balanceBy: 'bytes', worldSize: 2 };
      const plan = new ShardPlan(shards.sizes, { balanceBy: 'bytes', bytes: shards.bytes, worldSize: 2 });
      const seen = [];
      for (const rank of [0, 1]) {
        const rows = await all(readShards(join(where, kind), { ...options, rank, shuffle: false, columns: ['id'] }));
        seen.push(...rows.map(({ id }) => id));
        assert.equal(
          rows.length,
          [...plan.shards(rank)].reduce((sum, shard) => sum + SIZES[shard], 0),
        );
      }
      assert.equal(new Set(seen).size, TOTAL);
    });
  }

  test('from a server, by ranges, and from memory', async (t) => {
    const server = createServer((request, response) => {
      const bytes = readFileSync(join(where, request.url));
      if (request.method === 'HEAD') return response.writeHead(200, { 'content-length': bytes.length }).end();
      const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range);
      response.writeHead(206).end(bytes.subarray(Number(start), Number(end) + 1));
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    for (const kind of KINDS) {
      const path = fileOf(where, kind, 3);
      const url = `http://127.0.0.1:${server.address().port}/${kind}/${path.split('/').at(-1)}?version=1`;
      const bytes = readFileSync(path);
      const buffer = {
        name: path,
        byteLength: bytes.length,
        slice: (start, end) => new Uint8Array(bytes.subarray(start, end)).buffer,
      };
      for (const source of [url.split('?')[0], buffer]) {
        const [row] = await readRows(await findShards(source), [599]);
        assert.deepEqual(row, rowOf(850, kind));
      }
    }
  });

  test('Arrow: one record batch is read for a row, and not the file', async () => {
    const bytes = readFileSync(fileOf(where, 'file', 3));
    const asked = [];
    const buffer = {
      name: 'a.arrow',
      byteLength: bytes.length,
      slice: (start, end) => {
        asked.push([start, end]);
        return new Uint8Array(bytes.subarray(start, end)).buffer;
      },
    };
    const shards = await findShards(buffer);
    const half = bytes.length / 2;
    asked.length = 0;
    await readRows(shards, [599]);
    const read = asked.reduce((sum, [start, end]) => sum + end - start, 0);
    assert(read < half, `${read} of ${bytes.length} bytes`);
  });

  test('lanes that are in one part load it once', async () => {
    const parts = [];
    const format = {
      name: 'numbers',
      suffixes: ['.numbers'],
      open: () => ({
        footer: { columns: new Map([['id', 'number']]), rows: [500, 0, 500], bytes: [500, 0, 500] },
        async part(number) {
          parts.push(number);
          return (first, end) => [Float64Array.from({ length: end - first }, (_, i) => first + i + 250 * number)];
        },
      }),
    };
    const path = join(where, 'a.numbers');
    writeFileSync(path, '');
    const rows = await all(readShards(path, { format, lanes: 8, shuffleWindow: 8, sampleColumn: 'n' }));
    assert.equal(new Set(rows.map(({ id }) => id)).size, 1000);
    assert(rows.every(({ id, n }) => id === n));
    assert(parts.length <= 4, `${parts.length} parts were loaded`);
    rmSync(path);
  });
});

describe('which format', () => {
  test('follows from the names of files, or is given', async (t) => {
    const where = folder(t);
    writeFileSync(join(where, 'a.jsonl'), '{"id": 7}\n');
    writeFileSync(join(where, 'b.txt'), '{"id": 8}\n');
    assert.deepEqual(await all(readShards(where)), [{ id: 7 }]);
    for (const format of ['jsonl', jsonLines(), jsonLines({ id: 'int64' })]) {
      assert.deepEqual(await all(readShards(join(where, 'b.txt'), { format })), [{ id: 8 }]);
    }
    await assert.rejects(all(readShards(join(where, 'b.txt'))), /b\.txt: not a Parquet file/);
    // Other files may be beside Parquet files.
    write(where, [3]);
    assert.equal((await all(readShards(where))).length, 3);
    assert.deepEqual(await all(readShards(where, { format: 'jsonl' })), [{ id: 7 }]);
    await assert.rejects(all(readShards([where, join(where, 'a.jsonl')])), { kind: 'contradiction', field: 'paths' });
    rmSync(join(where, '0.parquet'));
    writeFileSync(join(where, 'c.arrow'), '');
    await assert.rejects(all(readShards(where)), {
      kind: 'missing',
      field: 'format',
      message: `format is missing; needed: one of arrow, jsonl, since ${where} has files of these formats`,
    });
    await assert.rejects(all(readShards(where, { format: 'parquet' })), { kind: 'contradiction', field: 'paths' });
  });

  test('what is no format', async () => {
    for (const [format, kind] of [
      ['csv', 'unknown-name'],
      ['toString', 'unknown-name'],
      [3, 'wrong-type'],
      [null, 'wrong-type'],
      [{}, 'wrong-type'],
      [{ name: 'a', suffixes: [], open() {} }, 'wrong-type'],
      [{ name: 'a', suffixes: ['.a'] }, 'wrong-type'],
      [jsonLines, 'wrong-type'],
    ]) {
      assert.throws(() => readShards('data', { format }), { kind, field: 'format' });
      await assert.rejects(findShards('data', { format }), { kind, field: 'format' });
    }
    // The entry for Parquet has no other format, so that a bundle needs no other package.
    assert.throws(() => parquetAlone.readShards('data', { format: 'arrow' }), {
      kind: 'unknown-name',
      known: ['parquet'],
    });
    for (const schema of ['int64', 3, null, ['int64'], { id: 'int32' }, { id: [] }, { id: ['int64', 'int64'] }]) {
      assert.throws(
        () => jsonLines(schema),
        (error) => error instanceof SamedealError && error.field === 'schema',
      );
    }
  });

  test('a directory that Hugging Face saved', async (t) => {
    const where = join(copied(t, 'stream'), 'stream');
    const state = { _data_files: [3, 0].map((number) => ({ filename: `${number}.arrow` })) };
    writeFileSync(join(where, 'state.json'), JSON.stringify(state));
    writeFileSync(join(where, 'dataset_info.json'), '{}');
    const names = async () => (await findShards(where)).paths.map((path) => path.split('/').at(-1));
    assert.deepEqual(await names(), ['3.arrow', '0.arrow']);
    for (const [text, told] of [
      ['{}', /state\.json: not what save_to_disk writes/],
      [JSON.stringify({ ...state, _indices_data_files: [{}] }), /state\.json: .*flatten_indices/],
      [JSON.stringify({ _data_files: [{ filename: '9.arrow' }] }), /state\.json names 9\.arrow, which is not there/],
    ]) {
      writeFileSync(join(where, 'state.json'), text);
      await assert.rejects(findShards(where), told);
    }
    writeFileSync(join(where, 'dataset_dict.json'), '{}');
    await assert.rejects(findShards(where), /dataset_dict\.json: a DatasetDict; name the directory of one split/);
  });
});

describe('what cannot be read', () => {
  test('files that are cut off, are missing or were replaced, by their names', async (t) => {
    const where = copied(t);
    for (const kind of KINDS) {
      const path = fileOf(where, kind, 3);
      const whole = readFileSync(path);
      // In the middle, and within the mark of the end. JSON has no such mark: there, the last row is cut in two.
      for (const cut of [Math.floor(whole.length / 2) - 1, whole.length - 3]) {
        writeFileSync(path, whole.subarray(0, cut));
        await assert.rejects(all(readShards(join(where, kind))), ({ message }) => message.startsWith(`${path}: `));
      }
      writeFileSync(path, whole);
      const shards = await findShards(join(where, kind));
      copyFileSync(fileOf(where, kind, 0), path);
      await assert.rejects(readRows(shards, [800]), ({ message }) => {
        return message.startsWith(`${path}: it holds `) && message.endsWith(' at the start');
      });
      renameSync(path, `${path}.away`);
      await assert.rejects(
        readRows(shards, [800]),
        ({ code, message }) => code === 'ENOENT' && message.startsWith(path),
      );
      renameSync(`${path}.away`, path);
    }
    assert.deepEqual(open(where), []);
  });

  test('any byte of an Arrow file that is wrong is an error that names the file, or a value, and never a row less', async (t) => {
    const path = fileOf(copied(t, 'file'), 'file', 0);
    const read = () => all(readShards(path, { lanes: 3, shuffleWindow: 7 }));
    const refused = await withWrongBits(path, 150, 250, read);
    assert(refused > 10, `${refused} refused`);
    assert.deepEqual(open(path), []);
  });

  test('a broken record batch, by its rows', async (t) => {
    const where = copied(t, 'file');
    const path = fileOf(where, 'file', 3);
    const bytes = readFileSync(path);
    // A byte that no text has, in the place of the text of a row.
    bytes[bytes.indexOf('row 700')] = 0xff;
    writeFileSync(path, bytes);
    const shards = await findShards(join(where, 'file'));
    assert.equal((await readRows(shards, [251]))[0].id, 251);
    await assert.rejects(readRows(shards, [660]), {
      message: `${path}: rows 400 to 499: column text: the text of row 49 is not UTF-8`,
    });
  });

  test('a broken line, by its row and its byte', async (t) => {
    const where = folder(t);
    const path = join(where, 'a.jsonl');
    const line = `${JSON.stringify({ n: 1, when: '2024-05-06', f: 0.5, padding: 'x'.repeat(5000) })}\n`;
    const byte = 300 * line.length;
    for (const [last, told] of [
      ['{"n": 1', /Expected|Unexpected/],
      ['[1]', /it is no object/],
      ['{"n": 1.5}', /column n: 1\.5 is no int64; .* jsonLines\(schema\)/],
      ['{"n": 1, "more": 1}', /column more is new; .* jsonLines\(schema\)/],
      ['{"n": 9223372036854775808}', /column n: 9223372036854775808 is no int64/],
      ['{"when": "\\ud800"}', /column when: .* is no string/],
      ['{"f": 1e400}', /column f: Infinity is no double/],
      [`{"f": ${'9'.repeat(400)}}`, /column f: 9+ is no double/],
    ]) {
      writeFileSync(path, `${line.repeat(300)}${last}`);
      const shards = await findShards(path);
      assert.equal((await readRows(shards, [0]))[0].n, 1);
      await assert.rejects(readRows(shards, [300]), ({ message }) => {
        assert(message.startsWith(`${path}: row 300, at byte ${byte}: `), message);
        assert.match(message, told);
        return true;
      });
    }
    const own = jsonLines({ n: 'double', when: 'string', f: 'double', padding: 'string', more: ['bool'] });
    writeFileSync(path, `${line.repeat(300)}{"n": 1.5, "when": "never", "more": [true, null]}`);
    const shards = await findShards(path, { columns: ['n', 'more', 'when'], format: own });
    assert.deepEqual(await readRows(shards, [300, 0]), [
      { n: 1.5, more: [true, null], when: 'never' },
      { n: 1, more: null, when: '2024-05-06' },
    ]);
  });

  test('values of JSON keep all their digits', async (t) => {
    const path = join(folder(t), 'a.jsonl');
    const lines = [
      '{"n": 9007199254740993, "f": 0.1234567890123456789, "s": "9007199254740993", "o": {"a": [-9223372036854775808]}}',
      '{"n": -1, "f": NaN, "s": "NaN \\"Infinity", "o": {}}',
      '{"f": -Infinity}',
    ];
    writeFileSync(path, lines.join('\n'));
    assert.deepEqual(await all(readShards(path, { deal: 'shards', shuffle: false })), [
      { n: 9007199254740993n, f: 0.12345678901234568, s: '9007199254740993', o: { a: [-(2n ** 63n)] } },
      { n: -1, f: Number.NaN, s: 'NaN "Infinity', o: { a: null } },
      { n: null, f: Number.NEGATIVE_INFINITY, s: null, o: null },
    ]);
  });

  test('a text of many megabytes beside a number of many digits', async (t) => {
    const path = join(folder(t), 'a.jsonl');
    const text = '\n"x\\'.repeat(1e6);
    writeFileSync(path, JSON.stringify({ text, n: 1 }).replace(/1\}$/, '9007199254740993}'));
    const [row] = await all(readShards(path));
    assert.equal(row.n, 9007199254740993n);
    assert(row.text === text);
  });

  test('columns that differ between files, unless those are not read', async (t) => {
    const where = folder(t);
    const put = (...texts) => {
      for (const [i, text] of texts.entries()) writeFileSync(join(where, `${i}.jsonl`), text);
    };
    // A column that is null in one file may have any type in another one, and a file without rows has no columns.
    put('', '{"a": null, "b": []}', '{"b": [1], "a": {"x": 1}}');
    assert.deepEqual(await all(readShards(where, { deal: 'shards', shuffle: false })), [
      { a: null, b: [] },
      { a: { x: 1 }, b: [1] },
    ]);
    for (const [one, other] of [
      ['{"a": 1}', '{"a": 1.5}'],
      ['{"a": 1}', '{"a": "x"}'],
      ['{"a": {"x": 1}}', '{"a": {"x": 1, "y": 1}}'],
    ]) {
      put('{"a": null, "c": 1}', one.replace('}', ', "c": 1}'), other.replace(/\}$/, ', "c": 1}'));
      if (one.includes('x')) put('{"a": null, "c": 1}', '{"c": 1, "a": {"x": 1}}', '{"c": 1, "a": {"x": 1, "y": 1}}');
      const message = `${join(where, '2.jsonl')}: its columns differ from those of ${join(where, '0.jsonl')}; read a selection that all have`;
      await assert.rejects(findShards(where), { message });
      assert.equal((await all(readShards(where, { columns: ['c'] }))).length, 3);
    }
  });

  test('packed files, and others that cannot be read from the middle', async (t) => {
    const where = folder(t);
    for (const [name, content, told] of [
      ['a.jsonl.gz', gzipSync('{"a": 1}\n'), /packed by gzip/],
      ['a.arrow', gzipSync('a'), /gzip, which cannot be read from the middle/],
      ['a.feather', 'FEA1', /Feather version 1/],
      ['a.arrow', 'ARROW1', /no footer/],
      ['a.arrow', '', /no mark of its end/],
    ]) {
      const path = join(where, name);
      writeFileSync(path, content);
      await assert.rejects(findShards(path), ({ message }) => message.startsWith(`${path}: `) && told.test(message));
      rmSync(path);
    }
  });

  test('a codec and a package that are not installed, by their names', async (t) => {
    // A project in which only the linked packages are found. This package is no link, since packages are looked for
    // beside the file that a link leads to.
    const cwd = folder(t);
    const packages = join(cwd, 'node_modules');
    mkdirSync(join(packages, 'samedeal'), { recursive: true });
    for (const name of ['dist', 'package.json']) {
      cpSync(join(host, name), join(packages, 'samedeal', name), { recursive: true });
    }
    const told = async (path) => {
      const text = `import('samedeal/files').then(({ findShards }) => findShards(${JSON.stringify(path)})).then(({ sizes }) => console.log(sizes.length), ({ message }) => console.log(message))`;
      const { stdout } = await run(process.execPath, ['--eval', text], { cwd });
      return stdout.trim();
    };
    assert.equal(await told(join(where, 'jsonl')), '5');
    assert.match(
      await told(join(where, 'file')),
      /0\.arrow: apache-arrow reads Arrow files: npm install apache-arrow$/,
    );
    symlinkSync(join(host, 'node_modules/apache-arrow'), join(packages, 'apache-arrow'));
    assert.equal(await told(join(where, 'file')), '5');
    assert.match(await told(join(where, 'lz4')), /0\.arrow: compressed by LZ4: npm install lz4js$/);
    const zstd = await told(join(where, 'zstd'));
    if ('zstdDecompressSync' in (await import('node:zlib'))) assert.equal(zstd, '5');
    else assert.match(zstd, /0\.arrow: compressed by ZSTD: npm install hyparquet-compressors$/);
  });
});
