"""Datasets that only accept an `int` as an index, under real loaders."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
import torch
from samedeal import Sampler, Schedule, Split
from samedeal.torch import BatchSampler, DistributedSampler, StepBatchSampler, WeightedRandomSampler, random_split
from torch.utils.data import DataLoader, Dataset, Subset

ONE: dict[str, Any] = {"rank": 0, "num_replicas": 1}


class Strict(Dataset[int]):  # type: ignore[misc]
    """Sample i is i."""

    def __len__(self) -> int:
        return 10

    def __getitem__(self, i: int) -> int:
        if type(i) is not int:
            raise TypeError(f"{type(i)} is not int")
        return i


def read(loader: Iterable[torch.Tensor]) -> list[list[int]]:
    """The batches that a loader gives."""
    return [batch.tolist() for batch in loader]


DATA = Strict()


@pytest.mark.parametrize("workers", [0, 2])
def test_batches_and_parts_are_read_by_int(workers: int) -> None:
    def loader(dataset: Any = DATA, **options: Any) -> list[list[int]]:
        return read(DataLoader(dataset, num_workers=workers, **options))

    sampler = Sampler(10, seed=3)
    for batches in (sampler.batches(4), sampler.batches(4, start=1), [sampler.batch(0, 4), sampler[2:5]]):
        assert loader(batch_sampler=batches) == [batch.tolist() for batch in batches]
    schedule = Schedule(10, 4)
    assert loader(batch_sampler=[*schedule.batches(0, 3), schedule.batch(4), schedule.indices(5, 2)])
    assert loader(sampler=sampler, batch_size=4) == [batch.tolist() for batch in sampler.batches(4)]
    split, folds = Split({"a": 1, "b": 2}, seed=1), Split.folds(3, seed=7)
    keys = [str(i) for i in range(10)]
    for part in (
        split.indices("a", 10),
        split.others("a", 10),
        split.indices_of_keys("b", keys),
        Split(sizes={"a": 4, "b": 6}).indices("a"),
        folds.indices(1, 10),
        folds.others(1, 10),
        pickle.loads(pickle.dumps(folds.others(1, 10))),
        sampler.indices(2, 8),
    ):
        assert [i for batch in loader(Subset(DATA, part), batch_size=3) for i in batch] == part.tolist()
    for made in (
        DistributedSampler(DATA, **ONE),
        WeightedRandomSampler([1] * 10, 10, **ONE),
        random_split(DATA, [0.5, 0.5])[0].indices,
    ):
        assert loader(sampler=made, batch_size=4)
    for made in (BatchSampler([1] * 10, max_tokens=4, **ONE), StepBatchSampler(DATA, 4, steps=3, **ONE)):
        assert loader(batch_sampler=made)


def test_they_are_arrays_still() -> None:
    batch = Sampler(10, seed=3).batch(0, 4)
    assert isinstance(batch, np.ndarray)
    assert batch.dtype == np.int64
    assert type(batch[0]) is type(next(iter(batch))) is type(batch[1:][0]) is int
    assert type(batch + 1) is type(batch == batch) is np.ndarray
    assert isinstance(batch.sum(), np.int64)
    assert repr(batch).startswith("array([")
    assert [row.tolist() for row in batch.reshape(2, 2)] == batch.reshape(2, 2).tolist()
    assert torch.from_numpy(batch).tolist() == torch.as_tensor(batch).tolist() == batch.tolist()
