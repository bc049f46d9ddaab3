"""Row groups that contain many lanes, and files that would block or fill the memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import samedeal
from samedeal.files import groups
from samedeal.parquet import Marks, Shards, Sources, read_reader, read_rows

ROWS = 100_000


@pytest.fixture
def one_group(tmp_path: Path) -> Shards:
    """A large row group between two small files."""
    for name, rows, first in (("a", 500, 0), ("b", ROWS, 500), ("c", 700, 500 + ROWS)):
        numbers = np.arange(first, first + rows)
        table = pa.table({"number": numbers, "text": [f"row {number}" for number in numbers]})
        pq.write_table(table, tmp_path / f"{name}.parquet", row_group_size=ROWS)
    return Shards.find(tmp_path)


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of rows of each batch that was decoded."""
    known, counts = pq.ParquetFile.iter_batches, []

    def counted(self: Any, *arguments: Any, **options: Any) -> Iterator[pa.RecordBatch]:
        for batch in known(self, *arguments, **options):
            counts.append(batch.num_rows)
            yield batch

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", counted)
    return counts


def read(shards: Shards, reading: samedeal.Reading, start: int = 0) -> list[tuple[int, str, int]]:
    tables = read_reader(shards, reading, 0, start=start, marks=Marks(sample="sample"))
    return [tuple(row.values()) for table in tables for row in table.to_pylist()]


@pytest.mark.parametrize("lanes", [16, 64])
def test_a_row_group_is_decoded_once_for_all_lanes(one_group: Shards, decoded: list[int], lanes: int) -> None:
    reading = samedeal.Reading(one_group.sizes, lanes=lanes, seed=4)
    found = read(one_group, reading)
    assert [sample for *_, sample in found] == reading.indices(0).tolist()
    assert all(number == sample and text == f"row {sample}" for number, text, sample in found)
    # More rows are decoded in lanes that the large file shares with its neighbours, and at the ends of decoded batches.
    assert sum(decoded) < 1.5 * one_group.samples


def test_it_is_decoded_again_where_not_all_of_it_is_kept(
    one_group: Shards, decoded: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    reading = samedeal.Reading(one_group.sizes, lanes=64, seed=4)
    expected = read(one_group, reading)
    decoded.clear()
    width = groups.Groups(one_group, 2**20)._footer(1).widths[0]
    monkeypatch.setattr(groups, "SHARED_BYTES", ROWS * width // 4)
    assert read(one_group, reading) == expected
    assert 3 * ROWS < sum(decoded) < 8 * ROWS
    # A state in the middle, and a composed order.
    assert read(one_group, reading, 50_001) == expected[50_001:]
    order = samedeal.sharded(one_group.sizes, lanes=64, seed=4).exclude([3, 700, 70_000])
    composed = samedeal.Reading(order=order)
    assert [sample for *_, sample in read(one_group, composed)] == composed.indices(0).tolist()


def test_an_order_that_is_made_of_others_shares_it_too(one_group: Shards, decoded: list[int]) -> None:
    order = samedeal.sharded(one_group.sizes, lanes=16, seed=4).exclude([3, 700, 70_000])
    reading = samedeal.Reading(order=order)
    found = read(one_group, reading)
    assert [sample for *_, sample in found] == reading.indices(0).tolist()
    assert all(number == sample for number, _, sample in found)
    # If each lane decoded the group by itself, it would decode half of the group on average.
    assert sum(decoded) < 3 * one_group.samples


def test_two_lanes_do_not_wait_for_each_other(one_group: Shards, decoded: list[int]) -> None:
    reading = samedeal.Reading(one_group.sizes, lanes=2, seed=4)
    assert [sample for *_, sample in read(one_group, reading)] == reading.indices(0).tolist()
    assert sum(decoded) < 2 * one_group.samples


@pytest.mark.parametrize("table", [{"abcdef": [1]}, {"outer": [{"abcdef": 1}]}])
def test_a_name_that_is_no_text(tmp_path: Path, table: dict[str, Any]) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table(table), path, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"abcdef", b"ab\xffdef"))
    with pytest.raises(OSError, match=rf"{path}: a column has a name that is not UTF-8: b'ab\\xffdef'"):
        Shards.find(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs")
def test_what_is_no_regular_file_any_more_does_not_block(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": [1, 2, 3]}), path)
    shards = Shards.find(path)
    path.unlink()
    os.mkfifo(path)
    for attempt in (lambda: list(read_rows(shards, [1])), lambda: Shards.find(path), lambda: shards.open(0, 1024)):
        with pytest.raises(OSError, match="Not a regular file, but a FIFO"):
            attempt()
    path.unlink()
    path.mkdir()
    with pytest.raises(OSError, match="Not a regular file, but a directory"):
        list(read_rows(shards, [1]))


@pytest.mark.parametrize("length", [2**20, 2**16])
def test_a_small_file_of_long_texts_does_not_fill_the_memory(tmp_path: Path, length: int) -> None:
    path = tmp_path / "a.parquet"
    # All rows have the same text, which the file stores once.
    rows = 2**31 // length
    texts = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, dtype=np.int32)), pa.array(["x" * length]))
    pq.write_table(pa.table({"text": texts}), path, store_schema=False)
    assert path.stat().st_size < 200_000
    before = pa.total_allocated_bytes()
    shards = Shards.find(path)
    with pytest.raises(OSError, match=r"a\.parquet: .* rows become .* bytes, though these columns of the file have"):
        read(shards, samedeal.Reading(shards.sizes))
    assert pa.total_allocated_bytes() - before < 2**20


def test_short_texts_that_come_often_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"label": ["a label of some length, as classes have"] * 200_000}), path)
    assert path.stat().st_size < 10_000
    shards = Shards.find(path)
    assert len(read(shards, samedeal.Reading(shards.sizes))) == 200_000


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="descriptors are counted in /proc")
def test_lanes_of_a_file_share_its_descriptor(tmp_path: Path) -> None:
    """A mixture of many directories of one file each: every lane of every source is in one of the files."""
    parts = {}
    for number in range(40):
        folder = tmp_path / f"d{number:02}"
        folder.mkdir()
        pq.write_table(pa.table({"id": np.arange(300) + 300 * number}), folder / "a.parquet", row_group_size=50)
        parts[folder.name] = Shards.find(folder)
    shards = Sources.join(parts)
    sources = {name: (samedeal.sharded(part.sizes, lanes=32, shuffle_window=4), 1) for name, part in parts.items()}
    order = samedeal.blend(sources, seed=1, by_lane=True)
    before, most, found = len(os.listdir("/proc/self/fd")), 0, []
    reading = samedeal.Reading(order=order)
    for table in read_reader(shards, reading, 0):
        most = max(most, len(os.listdir("/proc/self/fd")) - before)
        found += table.column("id").to_pylist()
    assert found == reading.indices(0).tolist()
    assert most <= 40 + 3
    assert len(os.listdir("/proc/self/fd")) == before
