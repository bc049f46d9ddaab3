"""The table of columns: each reader returns the values on the page, from the same files."""

from __future__ import annotations

import datetime
import decimal
import html
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pages import ROOT
from samedeal import Reading
from samedeal.parquet import Shards, read_reader

PAGE = ROOT / "docs" / "reference" / "columns.md"
ROWS = range(12)
_TIMES = [datetime.datetime(2020, 1, 1, 0, 0, i) for i in ROWS]
_FINER = [time.replace(microsecond=7) for time in _TIMES]
_TEXTS = [f"t{i}" for i in ROWS]
_BYTES = [bytes([i, 255]) for i in ROWS]
_PAIRS = [[i, i + 1] for i in ROWS]
COLUMNS = {
    "bool": pa.array([i % 2 == 0 for i in ROWS]),
    "int8": pa.array(ROWS, pa.int8()),
    "int32": pa.array(ROWS, pa.int32()),
    "uint32": pa.array([2**32 - 1 - i for i in ROWS], pa.uint32()),
    "int64": pa.array([2**60 + i for i in ROWS], pa.int64()),
    "uint64": pa.array([2**64 - 1 - i for i in ROWS], pa.uint64()),
    "halffloat": pa.array([i / 2 for i in ROWS], pa.float16()),
    "float": pa.array([i / 2 for i in ROWS], pa.float32()),
    "double": pa.array([i / 2 for i in ROWS], pa.float64()),
    "decimal128(10, 2)": pa.array([decimal.Decimal(i) / 4 for i in ROWS], pa.decimal128(10, 2)),
    "string": pa.array(_TEXTS),
    "large_string": pa.array(_TEXTS, pa.large_string()),
    "string_view": pa.array(_TEXTS, pa.string_view()),
    "dictionary<values=string, indices=int32, ordered=0>": pa.array([f"t{i % 3}" for i in ROWS]).dictionary_encode(),
    "dictionary<values=int64, indices=int32, ordered=0>": pa.array([i % 3 for i in ROWS]).dictionary_encode(),
    "binary": pa.array(_BYTES),
    "large_binary": pa.array(_BYTES, pa.large_binary()),
    "fixed_size_binary[2]": pa.array(_BYTES, pa.binary(2)),
    "null": pa.nulls(len(ROWS)),
    "and what is missing of any type": pa.array([None if i % 3 == 0 else i for i in ROWS]),
    "date32[day]": pa.array([datetime.date(2020, 1, 1 + i) for i in ROWS]),
    "time32[ms]": pa.array([datetime.time(1, 2, i) for i in ROWS], pa.time32("ms")),
    "time64[us]": pa.array([datetime.time(1, 2, i, 5) for i in ROWS], pa.time64("us")),
    "timestamp[ms]": pa.array(_TIMES, pa.timestamp("ms")),
    "timestamp[us]": pa.array(_FINER, pa.timestamp("us")),
    "timestamp[ns]": pa.array(_FINER, pa.timestamp("ns")),
    "duration[us]": pa.array([datetime.timedelta(seconds=i) for i in ROWS], pa.duration("us")),
    "list<element: int64>": pa.array(_PAIRS, pa.list_(pa.field("element", pa.int64()))),
    "large_list": pa.array(_PAIRS, pa.large_list(pa.int64())),
    "fixed_size_list": pa.array(_PAIRS, pa.list_(pa.int64(), 2)),
    "struct<a: int64, b: string>": pa.array([{"a": i, "b": f"t{i}"} for i in ROWS]),
    "map<string, int64>": pa.array([[("k", i)] for i in ROWS], pa.map_(pa.string(), pa.int64())),
}
"""For each type on the page: a column of this type."""
AT = 3
"""The row whose value the page shows."""
SCRIPT = """
import { inspect } from 'node:util';
import { readShards } from 'ENTRY';
for (const folder of JSON.parse(process.argv[1])) {
  for await (const row of readShards(folder, { shuffle: false })) {
    if (row.id == AT) console.log(JSON.stringify(inspect(row.c)));
  }
}
""".replace("AT", str(AT))


def table() -> dict[str, list[str]]:
    """The values on the page for each type: of Python, of JavaScript, and of the command."""
    found = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [html.unescape(cell.strip()) for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and cells[0] != "type in Arrow":
            # Commas within brackets belong to one type.
            names = [cells[0]] if any(mark in cells[0].split(",")[0] for mark in "(<{") else cells[0].split(", ")
            for name in names if "<element" not in cells[0] else cells[0].split(", "):
                found[name] = [cell.strip("`") for cell in cells[1:]]
    return found


def written(root: Path, write: Callable[[pa.Table, Path], None]) -> dict[str, Path]:
    """For each type, a directory with two files of several row groups or record batches."""
    found = {}
    for number, (name, column) in enumerate(COLUMNS.items()):
        found[name] = root / str(number)
        found[name].mkdir()
        for file in range(2):
            ids = range(len(ROWS) * file, len(ROWS) * (file + 1))
            write(pa.table({"id": ids, "c": column}), found[name] / str(file))
    return found


def write_parquet(table: pa.Table, path: Path) -> None:
    pq.write_table(table, path.with_suffix(".parquet"), row_group_size=5)


def write_arrow(table: pa.Table, path: Path) -> None:
    # The value that is compared is in a compressed file.
    options = pa.ipc.IpcWriteOptions(compression="zstd" if path.name == "0" else None)
    with pa.ipc.new_file(path.with_suffix(".arrow"), table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=5)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return written(tmp_path_factory.mktemp("columns"), write_parquet)


def test_the_page_has_every_type() -> None:
    assert table().keys() == COLUMNS.keys()


def test_python(folders: dict[str, Path]) -> None:
    for name, folder in folders.items():
        shards = Shards.find(folder)
        reading = Reading(shards.sizes, shuffle=False)
        rows = [row for batch in read_reader(shards, reading, 0) for row in batch.to_pylist()]
        assert [row["id"] for row in rows] == list(range(2 * len(ROWS)))
        assert repr(rows[AT]["c"]) == table()[name][0], name


def test_javascript(folders: dict[str, Path]) -> None:
    check_javascript(folders, "samedeal/parquet")


def test_arrow_files_in_javascript(tmp_path: Path) -> None:
    check_javascript(written(tmp_path, write_arrow), "samedeal/files")


def check_javascript(folders: dict[str, Path], entry: str) -> None:
    script = SCRIPT.replace("ENTRY", entry)
    words = ["node", "--input-type=module", "--eval", script, json.dumps([str(folder) for folder in folders.values()])]
    told = subprocess.run(words, cwd=ROOT / "hosts" / "js", capture_output=True, text=True, check=True, timeout=600)
    found = dict(zip(folders, map(json.loads, told.stdout.splitlines()), strict=True))
    assert found == {name: cells[1] for name, cells in table().items()}


def test_the_command(folders: dict[str, Path]) -> None:
    for name, folder in folders.items():
        words = ["step", "0", str(folder), "--order", "sequential", "--batch-size", "4", "--column", "c", "--json"]
        told = subprocess.run(
            [ROOT / "target" / "debug" / "samedeal", *words], capture_output=True, text=True, check=True, timeout=600
        )
        found: Any = json.loads(told.stdout)["steps"][0]["ranks"][0]["contents"]["c"][AT]
        assert json.dumps(found, separators=(",", ":")) == table()[name][2], name
