"""Warnings about numbers of lanes that are costly."""

from __future__ import annotations

import itertools
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from samedeal import ContradictionError
from samedeal.files import groups
from samedeal.torch import LanesWarning, Resumable, ShardedDataset
from torch.utils.data import DataLoader

ROWS = 9_600


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lanes")
    for number, part in enumerate(np.split(np.arange(ROWS), 4)):
        pq.write_table(pa.table({"id": part}), folder / f"{number}.parquet")
    return folder


def dataset_of(data: Path, rank: int, world_size: int, **options: Any) -> ShardedDataset:
    return ShardedDataset(data, batch_size=8, rank=rank, world_size=world_size, **options)


def test_a_row_group_of_many_lanes_is_told_once(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "MUCH_BYTES", 2_000)
    dataset = dataset_of(data, 0, 1)
    told = (
        r"0\.parquet has a row group of 2,400 rows, in which several of 64 lanes lie: each of 1 readers \(1 ranks x 1 "
        r"workers\) decodes about 0\.0 GB of it before its first batch; row groups of at most 150 rows, or lanes=4 cost"
    )
    with pytest.warns(LanesWarning, match=told):
        next(iter(dataset))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dataset.set_epoch(1)
        next(iter(dataset))
        # The advised number of lanes, and another rank, do not warn.
        next(iter(dataset_of(data, 0, 1, lanes=4)))
        next(iter(dataset_of(data, 1, 2)))


def test_readers_that_share_lanes_are_told_in_the_main_process(data: Path) -> None:
    loader = Resumable(DataLoader(dataset_of(data, 0, 3, lanes=64), batch_size=None, num_workers=2))
    with pytest.warns(LanesWarning, match=r"6 readers \(3 ranks x 2 workers\) do not divide 64 lanes.* by 3 of them"):
        iter(loader)


def test_another_epoch_may_have_other_lanes(data: Path) -> None:
    """A run begins with 4 lanes on 2 ranks. 6 ranks finish the epoch, and go on with 24 lanes."""

    def rows(dataset: ShardedDataset, count: int | None = None) -> list[int]:
        batches = itertools.islice(dataset, count)
        return [row for batch in batches for row in batch.column("id").to_pylist()]

    def of(world_size: int, **options: Any) -> list[ShardedDataset]:
        return [dataset_of(data, rank, world_size, remainder="uneven", **options) for rank in range(world_size)]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LanesWarning)
        begun = of(2, lanes=4)
        seen = [row for dataset in begun for row in rows(dataset, 40)]
        state = begun[0].state_dict(40)
        with pytest.raises(ContradictionError, match=r"lanes is 24; allowed: 4, .* begin a new epoch"):
            of(6, lanes=24)[0].load_state_dict(state)
        for dataset in of(6, lanes=4):
            dataset.load_state_dict(state)
            assert dataset.shard_info().reads == 3
            seen += rows(dataset)
    assert sorted(seen) == list(range(ROWS))
    with warnings.catch_warnings():
        warnings.simplefilter("error", LanesWarning)
        later = of(6, lanes=24, epoch=1)
        assert {dataset.shard_info().reads for dataset in later} == {1}
        seen = [row for dataset in later for row in rows(dataset, 40)]
        state = later[0].state_dict(40)
        for dataset in of(4, lanes=24):
            dataset.load_state_dict(state)
            assert dataset.epoch == 1
            seen += rows(dataset)
    assert sorted(seen) == list(range(ROWS))
