// Parquet files that are small but need much memory: warnings about them, and files that are refused.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Reading } from 'samedeal';
import { findShards, readBatches, readShards } from 'samedeal/parquet';
import { folder, python } from './parquet-files.mjs';

/** Lets Python write a file with the table `table`, which is a Python expression. */
function written(t, table, options = '') {
  const path = join(folder(t), 'a.parquet');
  const script = `
import sys, numpy as np, pyarrow as pa, pyarrow.parquet as pq
table = pa.table(${table})
pq.write_table(table, sys.argv[1], row_group_size=2**31 - 1, store_schema=False${options})`;
  execFileSync(python, ['-c', script, path]);
  return path;
}

/** The warnings before the first row is read. No row is ever read, because the file fails after the first warning. */
async function told(t, path, read) {
  const heard = [];
  const hear = ({ code, message }) => code === 'SAMEDEAL_LANES' && heard.push(message);
  process.on('warning', hear);
  t.after(() => process.off('warning', hear));
  const bytes = readFileSync(path);
  const slice = async (start, end = bytes.length) => {
    await new Promise(setImmediate);
    if (heard.length > 0) throw new Error('enough');
    return bytes.buffer.slice(bytes.byteOffset + start, bytes.byteOffset + end);
  };
  await assert.rejects(read({ name: path, byteLength: bytes.length, slice }).next(), /enough/);
  return heard;
}

describe('row groups that take much memory', () => {
  test('lists without a page index, of which all lanes hold all', async (t) => {
    const lists = 'pa.ListArray.from_arrays(np.arange(2_000_001, dtype=np.int32), np.zeros(2_000_000, dtype=np.int64))';
    const path = written(t, `{f"list {i}": ${lists} for i in range(8)}`);
    const expected = [
      `${path} has a row group of 2000000 rows, in which several of 64 lanes lie: each of 2 readers (1 ranks x 2 workers) decodes about 1.2 GB before its first row, and holds it; row groups with fewer rows, or fewer columns cost less`,
    ];
    assert.deepEqual(await told(t, path, (file) => readShards(file, { rank: 0, worldSize: 1, workers: 2 })), expected);
  });

  test('pages of many lanes, and the lanes that fit', async (t) => {
    const path = written(
      t,
      '{f"number {i}": np.zeros(2_200_000, dtype=np.int64) for i in range(16)}',
      ', max_rows_per_page=20_000',
    );
    const read = async function* (file) {
      const shards = await findShards(file);
      yield* readBatches(shards, new Reading(shards.sizes, { lanes: 128, batchSize: 4 }), { rank: 0 });
    };
    const [message, ...others] = await told(t, path, read);
    assert.deepEqual(others, []);
    assert.match(
      message,
      /several of 128 lanes lie: each of 1 readers .* about 1\.1 GB .*; lanes: 104, row groups with/,
    );
    // With this number of lanes, there is no warning, and rows are read.
    const heard = [];
    process.on('warning', (warning) => heard.push(warning.message));
    for await (const row of readShards(path, { lanes: 104, columns: ['number 3'] })) {
      assert.deepEqual(row, { 'number 3': 0n });
      break;
    }
    assert.deepEqual(heard, []);
  });
});

describe('small files that would fill the memory', () => {
  for (const [kind, of] of [
    ['texts', (text) => text],
    ['lists of texts', (text) => `[${text}]`],
  ]) {
    test(`${kind}: a page that becomes much more than it is`, async (t) => {
      const path = written(t, `{"text": [${of('"x" * 2**28')}]}`, ', compression="zstd", use_dictionary=False');
      assert(readFileSync(path).length < 100_000);
      const message =
        /a\.parquet: a page becomes 2684354\d\d bytes, though the file has \d+: refused, as more than 64 times/;
      await assert.rejects(readShards(path).next(), message);
    });
  }

  test('a list of more values than fit into memory', async (t) => {
    const list = 'pa.ListArray.from_arrays(pa.array([0, 2**27 + 1], pa.int32()), np.zeros(2**27 + 1, dtype=np.int8))';
    const path = written(t, `{"list": ${list}}`);
    assert(readFileSync(path).length < 100_000);
    const message = /a\.parquet: 134217729 values of column list would be decoded at once: refused/;
    await assert.rejects(readShards(path).next(), message);
  });

  test('a long text that each row has is there once', async (t) => {
    const path = written(t, '{"text": pa.DictionaryArray.from_arrays(np.zeros(2**15, dtype=np.int8), ["x" * 2**16])}');
    const before = process.memoryUsage().rss;
    let rows = 0;
    for await (const { text } of readShards(path)) rows += text.length === 2 ** 16;
    assert.equal(rows, 2 ** 15);
    assert(process.memoryUsage().rss - before < 2 ** 29);
  });
});

describe('names of columns', () => {
  for (const table of ['{"abcdef": [1]}', '{"outer": [{"abcdef": 1}]}']) {
    test(`${table}: one that is not UTF-8`, async (t) => {
      const path = written(t, table);
      const bytes = readFileSync(path).toString('latin1').replaceAll('abcdef', 'ab\xffdef');
      writeFileSync(path, bytes, 'latin1');
      const message = `${path}: a column has a name that is not UTF-8: ab\ufffddef`;
      await assert.rejects(findShards(path), { message });
    });
  }

  test('one with the sign that stands for what is not UTF-8', async (t) => {
    const { columns } = await findShards(written(t, '{"a\\ufffdb": [1]}'));
    assert.deepEqual(columns, ['a\ufffdb']);
  });
});
