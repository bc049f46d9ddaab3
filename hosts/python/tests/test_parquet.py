"""Arguments that the functions over Parquet files refuse, before they read anything."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hostile import fails
from samedeal import ContradictionError, OutOfRangeError, Reading, SamedealError, WrongTypeError
from samedeal.parquet import Marks, Shards, Sources, ahead, batches, read_reader, read_rows


@pytest.fixture
def shards(tmp_path: Path) -> Shards:
    for name, rows in (("a", range(5)), ("b", range(5, 12))):
        pq.write_table(pa.table({"row": list(rows), "text": [str(row) for row in rows]}), tmp_path / f"{name}.parquet")
    return Shards.find(tmp_path)


def rows_of(tables: Any) -> list[int]:
    return [row for table in tables for row in table.column("row").to_pylist()]


CALLS: list[tuple[type[SamedealError], str, Callable[[Shards], Any]]] = [
    (WrongTypeError, "shards", lambda own: read_rows(0, [1])),  # type: ignore[arg-type]
    (OutOfRangeError, "samples", lambda own: read_rows(own, [12])),
    (OutOfRangeError, "samples", lambda own: read_rows(own, [-1])),
    (WrongTypeError, "samples", lambda own: read_rows(own, [1.5])),  # type: ignore[list-item]
    (OutOfRangeError, "real", lambda own: read_rows(own, [1, 2], real=3)),
    (WrongTypeError, "marks", lambda own: read_rows(own, [1], marks=Marks(sample=3))),  # type: ignore[arg-type]
    (WrongTypeError, "cursor", lambda own: read_rows(own, [1], cursor=3)),  # type: ignore[arg-type]
    (WrongTypeError, "reading", lambda own: read_reader(own, 3, 0)),  # type: ignore[arg-type]
    (ContradictionError, "reading", lambda own: read_reader(own, Reading([5, 6]), 0)),
    (OutOfRangeError, "rank", lambda own: read_reader(own, Reading(own.sizes), 1)),
    (OutOfRangeError, "worker", lambda own: read_reader(own, Reading(own.sizes), 0, 1)),
    (OutOfRangeError, "start", lambda own: read_reader(own, Reading(own.sizes), 0, start=13)),
    (WrongTypeError, "tables", lambda own: batches(3, 4, False)),  # type: ignore[arg-type]
    (WrongTypeError, "tables", lambda own: list(batches(iter([3]), 4, False))),
    (OutOfRangeError, "size", lambda own: batches(iter([]), 0, False)),
    (WrongTypeError, "drop_last", lambda own: batches(iter([]), 1, 0)),  # type: ignore[arg-type]
    (WrongTypeError, "items", lambda own: ahead([1])),  # type: ignore[arg-type]
    (OutOfRangeError, "shard", lambda own: own.open(2, 1024)),
    (WrongTypeError, "shard", lambda own: own.open([], 1024)),  # type: ignore[arg-type]
    (OutOfRangeError, "buffer", lambda own: own.open(0, -1)),
    (OutOfRangeError, "paths", lambda own: Shards.find("\0")),
    (OutOfRangeError, "paths", lambda own: Shards.find([*own.paths, "a\0b"])),
    (WrongTypeError, "columns", lambda own: Shards.find(own.paths, 3)),  # type: ignore[arg-type]
    (WrongTypeError, "columns", lambda own: Shards.find(own.paths, np.ma.masked)),  # type: ignore[arg-type]
    (WrongTypeError, "sources", lambda own: Sources.join([own])),  # type: ignore[arg-type]
    (WrongTypeError, "sources", lambda own: Sources.join({"a": 3})),  # type: ignore[dict-item]
    (WrongTypeError, "sources", lambda own: Sources.join({3: own})),  # type: ignore[dict-item]
    (OutOfRangeError, "shard", lambda own: Sources.join({"a": own}).open(2, 1024)),
    (OutOfRangeError, "samples", lambda own: Sources.join({"a": own}).sources_of(np.array([12]))),
]


@pytest.mark.parametrize(("error", "field", "call"), CALLS)
def test_what_cannot_be_read_is_refused_by_the_call(
    error: type[SamedealError], field: str, call: Callable[[Shards], Any], shards: Shards
) -> None:
    with fails(error, field):
        call(shards)


def test_rows_come_from_lists_of_any_kind(shards: Shards) -> None:
    for samples in ([7, 0, 7], (7, 0, 7), np.array([7, 0, 7]), pa.array([7, 0, 7]), iter([7, 0, 7])):
        assert rows_of(read_rows(shards, samples)) == [7, 0, 7]  # type: ignore[arg-type]


def test_readers_take_numbers_of_numpy(shards: Shards) -> None:
    reading = Reading(shards.sizes, workers=2)
    found = rows_of(read_reader(shards, reading, np.int64(0), np.uint8(1), start=np.int32(2)))
    assert found == reading.indices(0, 1, 2).tolist()


def test_columns_come_from_iterators(shards: Shards) -> None:
    assert Shards.find(shards.paths, iter(["text"])).columns == ["text"]  # type: ignore[arg-type]


def test_sources_find_shards_as_shards_do(shards: Shards) -> None:
    found = Sources.find(shards.paths)
    assert type(found) is Shards
    file: Any = found.open(1, 1024)
    with file:
        assert file.metadata.num_rows == 7


def test_sources_open_the_shards_of_all_of_them(shards: Shards) -> None:
    both = Sources.join({"a": shards, "b": shards})
    for shard, rows in enumerate([5, 7, 5, 7]):
        file: Any = both.open(shard, 1024)
        with file:
            assert file.metadata.num_rows == rows
    assert both.sources_of(np.array([0, 11, 12])).to_pylist() == ["a", "a", "b"]


def test_lists_of_lists_of_fixed_sizes_are_not_zeros(tmp_path: Path) -> None:
    values = np.arange(1, 300 * 6 + 1, dtype=np.float32).reshape(300, 2, 3)
    column = pa.array(values.tolist(), pa.list_(pa.list_(pa.float32(), 3), 2))
    pq.write_table(pa.table({"matrix": column}), tmp_path / "a.parquet", row_group_size=100)
    shards = Shards.find(tmp_path)
    for samples in ([1], [299, 1, 250], range(5, 200, 7)):
        (table,) = read_rows(shards, samples)
        assert np.array_equal(table["matrix"].to_pylist(), values[list(samples)])
    reading = Reading(shards.sizes, lanes=4, shuffle_window=16)
    found = [row for table in read_reader(shards, reading, 0) for row in table["matrix"].to_pylist()]
    assert np.array_equal(found, values[reading.indices(0)])
