"""Files of other formats than Parquet: Python and Node read the same rows from them, in the same order."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather as feather
import pytest
from pages import ROOT
from samedeal import Reading
from samedeal.files import Shards, read_reader

SIZES = (250, 1, 0, 900, 20)
OPTIONS: dict[str, Any] = {"lanes": 4, "shuffle_window": 32, "seed": 7, "batch_size": 10}
READERS = [(rank, worker) for rank in range(2) for worker in range(2)]
SCRIPT = """
import { Reading } from 'samedeal';
import { findShards, readBatches } from 'samedeal/files';
const options = { lanes: 4, shuffleWindow: 32, seed: 7, batchSize: 10 };
const rowsOf = async (shards, reading, reader) => {
  const rows = [];
  for await (const batch of readBatches(shards, reading, reader)) rows.push(...batch);
  return rows;
};
for (const folder of JSON.parse(process.argv[1])) {
  const shards = await findShards(folder);
  const { columns } = shards;
  const reading = new Reading(shards.sizes, { ...options, worldSize: 2, workers: 2 }).atEpoch(3);
  const state = reading.state(20);
  const rest = new Reading(shards.sizes, { ...options, worldSize: 3, remainder: 'uneven' }).resume(state);
  const found = { columns, sizes: [...shards.sizes], bytes: [...shards.bytes], state, rows: [], rest: [] };
  for (const rank of [0, 1]) {
    for (const worker of [0, 1]) found.rows.push(await rowsOf(shards, reading, { rank, worker }));
  }
  for (const rank of [0, 1, 2]) found.rest.push(await rowsOf(shards, rest, { rank }));
  console.log(JSON.stringify(found, (_, value) => (typeof value === 'bigint' ? Number(value) : value)));
}
"""


def write_json(path: Path, rows: list[dict[str, Any]]) -> None:
    lines = [json.dumps({**row, "padding": "." * 2000}, ensure_ascii=row["id"] % 2 == 0) for row in rows]
    path.with_suffix(".jsonl").write_text("\n".join(lines), encoding="utf-8")


def arrow(codec: str | None) -> Callable[[Path, list[dict[str, Any]]], None]:
    def write(path: Path, rows: list[dict[str, Any]]) -> None:
        options = pa.ipc.IpcWriteOptions(compression=codec)
        with pa.ipc.new_file(path.with_suffix(".arrow"), SCHEMA, options=options) as writer:
            writer.write_table(pa.Table.from_pylist(rows, SCHEMA), max_chunksize=100)

    return write


def write_stream(path: Path, rows: list[dict[str, Any]]) -> None:
    with pa.ipc.new_stream(path.with_suffix(".arrow"), SCHEMA) as writer:
        writer.write_table(pa.Table.from_pylist(rows, SCHEMA), max_chunksize=100)


def write_feather(path: Path, rows: list[dict[str, Any]]) -> None:
    feather.write_feather(pa.Table.from_pylist(rows, SCHEMA), path.with_suffix(".feather"), chunksize=90)


SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("text", pa.string()),
        ("maybe", pa.float64()),
        ("list", pa.list_(pa.int64())),
        ("both", pa.struct([("a", pa.bool_()), ("b", pa.string())])),
    ]
)
WRITERS = {
    "jsonl": write_json,
    "arrow": arrow(None),
    "lz4": arrow("lz4"),
    "zstd": arrow("zstd"),
    "stream": write_stream,
    "feather": write_feather,
}


def row_of(number: int) -> dict[str, Any]:
    return {
        "id": number,
        "text": f"row {number} ü😀",
        "maybe": number / 4 if number % 3 else None,
        "list": [number] * (number % 4) if number % 5 else None,
        "both": {"a": number % 2 == 0, "b": None if number % 7 else str(number)},
    }


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("formats")
    for name, write in WRITERS.items():
        (root / name).mkdir()
        for number, size in enumerate(SIZES):
            first = sum(SIZES[:number])
            write(root / name / str(number), [row_of(each) for each in range(first, first + size)])
    return {name: root / name for name in WRITERS}


def rows(shards: Shards, reading: Reading, rank: int, worker: int = 0) -> list[dict[str, Any]]:
    found = [row for table in read_reader(shards, reading, rank, worker) for row in table.to_pylist()]
    assert len(found) == reading.num_samples(rank, worker)
    return found


def test_both_hosts_read_the_same_rows(folders: dict[str, Path]) -> None:
    words = ["node", "--input-type=module", "--eval", SCRIPT, json.dumps([str(folder) for folder in folders.values()])]
    told = subprocess.run(words, cwd=ROOT / "hosts" / "js", capture_output=True, text=True, check=False, timeout=600)
    assert told.returncode == 0, told.stderr
    for (name, folder), line in zip(folders.items(), told.stdout.splitlines(), strict=True):
        shards = Shards.find(folder)
        whole = Reading(shards.sizes, world_size=2, workers=2, **OPTIONS).at_epoch(3)
        state = whole.state(20)
        rest = Reading(shards.sizes, world_size=3, remainder="uneven", **OPTIONS).resume(state)
        expected = {
            "columns": shards.columns,
            "sizes": shards.sizes.tolist(),
            "bytes": shards.bytes.tolist(),
            "state": state,
            "rows": [rows(shards, whole, *reader) for reader in READERS],
            "rest": [rows(shards, rest, rank) for rank in range(3)],
        }
        found = json.loads(line)
        for member, value in expected.items():
            assert found[member] == value, f"{name}: {member}"
        seen = sorted(row["id"] for reader in found["rest"] for row in reader)
        assert len(set(seen)) == len(seen) == sum(SIZES) - 2 * 20 * OPTIONS["batch_size"]
