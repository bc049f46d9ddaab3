"""The cost of reading files: rows that are decoded, and packages that are imported."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import write
from decoding import Decoded
from samedeal.files import reading
from samedeal.files.groups import Groups
from samedeal.torch import ShardedDataset

pytestmark = pytest.mark.filterwarnings("ignore::samedeal.torch.LanesWarning")
MARKS: dict[str, Any] = {"sample_column": "sample", "padding_column": "padding", "source_column": "source"}


@pytest.mark.parametrize("lanes", [8, 16])
def test_a_lane_decodes_few_rows_that_it_does_not_read(
    tmp_path: Path, lanes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a lane for each reader: at most a row group before the lane, and a small part of a lane behind it."""
    group, files = 1_000, 4
    folder = write(tmp_path / "data", (8_000,) * files, row_group=group)
    decoded = Decoded()
    monkeypatch.setattr(Groups, "decoded", decoded.counted)
    for rank in range(lanes):
        decoded.rows = 0
        dataset = ShardedDataset(folder, batch_size=16, lanes=lanes, rank=rank, world_size=lanes)
        given = sum(batch.num_rows for batch in dataset)
        assert given == 8_000 * files // lanes
        assert decoded.rows <= given + group + 256


@pytest.mark.parametrize("sparse", [0, 2**40])
def test_rows_of_a_mixture_do_not_depend_on_how_they_are_copied(
    tmp_path: Path, sparse: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = {"a": write(tmp_path / "a", (700, 300)), "b": write(tmp_path / "b", (500,))}
    options: dict[str, Any] = {"weights": {"a": 9, "b": 1}, "batch_size": 32, "lanes": 4, "shuffle_window": 16}

    def rows() -> list[dict[str, Any]]:
        dataset = ShardedDataset(sources, samples=1_200, rank=0, world_size=1, **options, **MARKS)
        return [row for batch in dataset for row in batch.to_pylist()]

    before = rows()
    monkeypatch.setattr(reading, "SPARSE", sparse)
    assert rows() == before


def test_pandas_is_not_imported(tmp_path: Path) -> None:
    """pyarrow imports it in many functions if it is installed, and that takes longer than the first batch."""
    assert importlib.util.find_spec("pandas") is not None
    folder = write(tmp_path / "data")
    script = f"""
import sys
from samedeal.torch import ShardedDataset, to_tensors
marks = {MARKS!r}
place = {{"rank": 0, "world_size": 1, "batch_size": 8}}
one = ShardedDataset({str(folder)!r}, transform=to_tensors, sample_column="sample", padding_column="padding", **place)
two = ShardedDataset({{"a": {str(folder)!r}, "b": {str(folder)!r}}}, weights={{"a": 1, "b": 2}}, **marks, **place)
for dataset in (one, two):
    next(iter(dataset))
assert "pandas" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("readers", [1, 2, 8])
def test_only_row_groups_with_the_border_of_a_lane_are_decoded_twice(
    tmp_path: Path, readers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So a row is decoded 1 + (lanes - 1) / row groups times at most, if groups are equal."""
    lanes, group, rows = 8, 100, 3 * 6_400
    folder = write(tmp_path / "data", (6_400,) * 3, row_group=group)
    decoded = Decoded()
    monkeypatch.setattr(Groups, "decoded", decoded.counted)
    for seed in range(3):
        decoded.rows = given = 0
        for rank in range(readers):
            dataset = ShardedDataset(folder, batch_size=16, lanes=lanes, rank=rank, world_size=readers, seed=seed)
            given += sum(batch.num_rows for batch in dataset)
        assert given == rows
        assert decoded.rows <= rows + (lanes - 1) * group


def test_the_first_rows_of_a_mixture_need_few_lanes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lane decodes half a row group before its first row, and keeps it in memory."""
    group, lanes = 500, 16
    sources = {name: write(tmp_path / name, (40_000,), row_group=group) for name in ("common", "rare")}
    dataset = ShardedDataset(
        sources, weights={"common": 99, "rare": 1}, batch_size=64, lanes=lanes, samples=40_000, rank=0, world_size=1
    )
    names = []
    known = Groups.open

    def opened(self: Groups, shard: int) -> Any:
        names.append(dataset.shards.paths[shard])
        return known(self, shard)

    monkeypatch.setattr(Groups, "open", opened)
    tables = reading.read_reader(dataset.shards, dataset.reading(), 0, marks=reading.Marks(sample="sample"))
    first = next(tables)
    # Each lane gives 16 rows here. Only a few of them come to a row of the second source.
    of_rare = int((first.column("sample").to_numpy() >= 40_000).sum())
    assert first.num_rows == 256
    assert 0 < of_rare < lanes // 2
    assert [Path(name).parent.name for name in names].count("rare") == of_rare
    assert [Path(name).parent.name for name in names].count("common") == lanes
    found = [first, *tables]
    # No lane begins again for the rest of its first window.
    assert Counter(Path(name).parent.name for name in names) == {"common": lanes, "rare": lanes}
    assert np.concatenate([each.column("sample") for each in found]).tolist() == dataset.reading().indices(0).tolist()


def test_a_lane_that_gives_few_rows_decodes_its_row_group_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many rounds have no row of the second source. It is not read from the beginning of its row group each time."""
    sources = {name: write(tmp_path / name, (20_000,), row_group=5_000) for name in ("common", "rare")}
    options: dict[str, Any] = {
        "weights": {"common": 1_999, "rare": 1},
        "lanes": 2,
        "shuffle_window": 8,
        "world_size": 2,
    }
    decoded = Decoded()
    monkeypatch.setattr(Groups, "decoded", decoded.counted)
    given = 0
    for rank in range(2):
        dataset = ShardedDataset(sources, batch_size=64, samples=40_000, rank=rank, **options)
        assert dataset.shard_info().reads == 1
        given += sum(batch.num_rows for batch in dataset)
    assert given == 40_000
    # The first source is read twice. A row group is decoded in vain at the beginning and at the end of each lane of it,
    # and one for each lane of the second source.
    assert decoded.rows <= 40_000 + (2 * 2 * 2 + 2) * 5_000
