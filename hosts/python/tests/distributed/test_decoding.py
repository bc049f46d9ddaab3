"""The cost of reading files: rows that are decoded, and packages that are imported."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

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
