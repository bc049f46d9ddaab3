// Counts how often each page of a Parquet file is decoded if many lanes are in one row group.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { compressors } from 'hyparquet-compressors';
import { Reading } from 'samedeal';
import { findShards, readBatches } from 'samedeal/parquet';
import { folder, python } from './parquet-files.mjs';

/**
 * For each page, by the hash of its bytes: how often it was decompressed. The package takes the functions when it first
 * reads.
 */
const decoded = new Map();
const { SNAPPY } = compressors;
compressors.SNAPPY = (input, length) => {
  const page = createHash('sha256').update(input).digest('hex');
  decoded.set(page, (decoded.get(page) ?? 0) + 1);
  return SNAPPY(input, length);
};

const ROWS = 12_800;

/** Writes a file with one row group. No two pages and no two columns have equal values. */
const SCRIPT = `
import json, sys, pyarrow as pa, pyarrow.parquet as pq
path, rows, options = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
n = range(rows)
many = [range(j % 4) for j in n]
table = pa.table({
    "id": pa.array(n),
    "number": pa.array([j * 3 for j in n]),
    "text": pa.array([f"text {j}" for j in n]),
    "kind": pa.array([f"kind {j * j % 997}" for j in n]),
    "list": pa.array([[j * 5 + k for k in m] for j, m in zip(n, many)]),
    "kinds": pa.array([[f"of {(j + k) * j % 991}" for k in m] for j, m in zip(n, many)]),
    "both": pa.array([{"a": f"a long text of row {j}", "b": j * 7} for j in n]),
    "pairs": pa.array([[{"a": f"a long text of {k} in {j}", "b": j * 11 + k} for k in m] for j, m in zip(n, many)]),
})
pq.write_table(table, path, row_group_size=rows, write_batch_size=50, use_dictionary=["kind", "kinds.list.element"], **options)
`;

/** The row with this number, as a reader returns it. */
function rowOf(id) {
  const many = Array.from({ length: id % 4 }, (_, k) => k);
  return {
    id: BigInt(id),
    number: BigInt(id * 3),
    text: `text ${id}`,
    kind: `kind ${(id * id) % 997}`,
    list: many.map((k) => BigInt(id * 5 + k)),
    kinds: many.map((k) => `of ${((id + k) * id) % 991}`),
    both: { a: `a long text of row ${id}`, b: BigInt(id * 7) },
    pairs: many.map((k) => ({ a: `a long text of ${k} in ${id}`, b: BigInt(id * 11 + k) })),
  };
}

/** Reads an epoch with this number of lanes. Returns how often each page of a column was decoded. */
async function decodes(path, column, lanes) {
  const shards = await findShards(path, { columns: column === 'id' ? ['id'] : ['id', column] });
  const reading = new Reading(shards.sizes, { lanes, shuffleWindow: 16, batchSize: 64, seed: 3 });
  decoded.clear();
  const rows = [];
  for await (const batch of readBatches(shards, reading, { rank: 0 })) rows.push(...batch);
  const expected = Array.from(reading.indices(0, 0, 0, ROWS), (id) => {
    const row = rowOf(id);
    return column === 'id' ? { id: row.id } : { id: row.id, [column]: row[column] };
  });
  assert.deepEqual(rows, expected);
  return [...decoded.values()];
}

function written(t, options) {
  const path = join(folder(t), 'a.parquet');
  execFileSync(python, ['-c', SCRIPT, path, ROWS, JSON.stringify(options)]);
  return path;
}

/**
 * Columns of two kinds. Pages of the first kind tell their rows, or an index does. A column of the second kind has two
 * kinds of values, whose pages begin at different rows.
 */
const [ONE, TWO] = [
  ['number', 'text', 'kind', 'list', 'kinds'],
  ['both', 'pairs'],
];

for (const index of [false, true]) {
  const told = index ? 'with a page index' : 'without a page index';

  test(`64 lanes in one row group ${told}: each page and each dictionary is decoded once`, async (t) => {
    // Each page has the rows of five lanes, and no lane is in two pages.
    const path = written(t, { max_rows_per_page: 1000, write_page_index: index });
    for (const column of [...ONE, ...TWO]) {
      const times = await decodes(path, column, 64);
      assert(times.length > 13, `${column}: ${times.length} pages`);
      assert.deepEqual(new Set(times), new Set([1]), column);
    }
  });

  test(`pages that begin at any row, ${told}`, async (t) => {
    const path = written(t, { data_page_size: 4096, write_page_index: index });
    for (const column of [...ONE, ...TWO]) {
      // With an index, two runs of rows may need the same page of these columns.
      const most = index && TWO.includes(column) ? 2 : 1;
      for (const lanes of [1, 7, 64]) {
        const times = await decodes(path, column, lanes);
        // A lane may end in a page in which another lane began, and which that lane has left already.
        const limit = lanes === 1 ? most : 2 * most;
        assert(Math.max(...times) <= limit, `${column}, ${lanes} lanes: ${Math.max(...times)} times`);
      }
    }
  });
}
