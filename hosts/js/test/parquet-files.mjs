// Writes Parquet files for tests: with pyarrow, which writes every kind of file, or with hyparquet-writer, which is
// fast.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parquetWriteFile } from 'hyparquet-writer';

/** The Python that has pyarrow. */
const program = process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python';
export const python = fileURLToPath(new URL(`../../../target/venv/${program}`, import.meta.url));

/** A new folder, which is removed at the end of the test `t`. */
export function folder(t) {
  const path = mkdtempSync(join(tmpdir(), 'samedeal-'));
  t.after(() => rmSync(path, { recursive: true }));
  return path;
}

/** The option of a test that needs Linux: it asks the system for open files, or uses names that only Linux allows. */
export const linux = { skip: process.platform !== 'linux' && 'asks Linux' };

/** The files in a folder that this process has open. Empty if the system cannot tell. */
export function open(where) {
  if (linux.skip) return [];
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)].filter((path) => path.startsWith(where));
    } catch {
      return [];
    }
  });
}

/**
 * Writes files with these numbers of rows. A column `id` numbers all rows, and another one has texts. `others` are
 * further options.
 */
export function write(where, sizes, others = {}) {
  let base = 0;
  return sizes.map((size, i) => {
    const filename = join(where, `${i}.parquet`);
    const id = Int32Array.from({ length: size }, (_, row) => base + row);
    base += size;
    const columnData = [
      { name: 'id', data: id, type: 'INT32', nullable: false },
      { name: 'text', data: Array.from(id, (number) => `row ${number}`), type: 'STRING' },
    ];
    parquetWriteFile({ filename, columnData, codec: 'UNCOMPRESSED', ...others });
    return filename;
  });
}

/** Writes files of these sizes with columns of every kind. Each file has another codec, layout and version of pages. */
const SCRIPT = `
import json, sys
import numpy as np, pyarrow as pa, pyarrow.parquet as pq
folder, sizes = sys.argv[1], json.loads(sys.argv[2])
types = {"id": pa.int64(), "text": pa.string(), "maybe": pa.int32(), "list": pa.list_(pa.int64()), "both":
    pa.struct([("a", pa.int64()), ("b", pa.string())]), "real": pa.float32(), "kind": pa.dictionary(pa.int32(), pa.string()),
    "raw": pa.binary(), "none": pa.null(), "yes": pa.bool_()}
kinds = [("snappy", 400, 100), ("zstd", 400, 10000), ("gzip", 701, 4096), ("lz4", 3000, 2048), ("brotli", 10, 100), ("none", 5000, 500)]
base = 0
for i, size in enumerate(sizes):
    n = range(base, base + size)
    base += size
    values = {"id": list(n), "text": [f"row {j}" for j in n], "maybe": [j if j % 3 else None for j in n],
        "list": [[j] * (j % 4) if j % 5 else None for j in n], "both": [{"a": j, "b": None if j % 2 else str(j)} for j in n],
        "real": [float(j) for j in n], "kind": [f"kind {j % 7}" for j in n], "raw": [bytes([j % 256, 200]) for j in n],
        "none": [None for j in n], "yes": [j % 2 == 0 for j in n]}
    table = pa.table({name: pa.array(values[name], types[name]) for name in types})
    codec, group, page = kinds[i % len(kinds)]
    pq.write_table(table, f"{folder}/{i}.parquet", compression=codec, row_group_size=group, data_page_size=page,
        write_batch_size=64, write_page_index=i % 2 == 1, data_page_version="2.0" if i % 3 == 2 else "1.0")
`;

export function writeWithPyarrow(where, sizes) {
  if (!existsSync(python)) throw new Error(`${python} is missing; make it with: cargo xtask setup`);
  execFileSync(python, ['-c', SCRIPT, where, JSON.stringify(sizes)]);
}

/** The row with this number, as a reader returns it. */
export function rowOf(id) {
  return {
    id: BigInt(id),
    text: `row ${id}`,
    maybe: id % 3 ? id : null,
    list: id % 5 ? Array(id % 4).fill(BigInt(id)) : null,
    both: { a: BigInt(id), b: id % 2 ? null : String(id) },
    real: id,
    kind: `kind ${id % 7}`,
    raw: Uint8Array.of(id % 256, 200),
    none: null,
    yes: id % 2 === 0,
  };
}

/**
 * Reads a file in some rounds, each time with another wrong bit: as many rows as before, or an error that names the
 * file. Returns how many of the rounds were refused.
 */
export async function withWrongBits(path, rounds, rows, read) {
  const whole = readFileSync(path);
  let [state, refused] = [1, 0];
  const random = (below) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  for (let round = 0; round < rounds; round++) {
    const bytes = Buffer.from(whole);
    bytes[random(bytes.length)] ^= 1 << random(8);
    writeFileSync(path, bytes);
    try {
      assert.equal((await read()).length, rows);
    } catch (error) {
      assert(error.message.startsWith(`${path}: `), error.stack);
      refused += 1;
    }
  }
  return refused;
}
