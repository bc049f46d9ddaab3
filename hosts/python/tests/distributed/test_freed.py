"""Datasets are freed with their last reference, without the collector: no sampler, pass or loader keeps them alive."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from samedeal import Sampler
from samedeal.ledger import Ledger, MemoryLog
from samedeal.torch import (
    BatchSampler,
    Claimed,
    ClaimSampler,
    DistributedSampler,
    PackedDataset,
    Resumable,
    ShardedDataset,
    StepBatchSampler,
    WeightedRandomSampler,
    interleave,
)
from torch.utils.data import DataLoader
from torchdata.stateful_dataloader import StatefulDataLoader


class Data(list[Any]):
    """A dataset that can have weak references."""


@pytest.fixture(autouse=True)
def _no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def samples() -> Data:
    return Data(range(20))


MAKES: dict[str, Callable[[Any, type], Any]] = {
    "samples": lambda data, loader: loader(data, 4, sampler=DistributedSampler(data, 1, 0)),
    "batches": lambda data, loader: loader(
        data, batch_sampler=BatchSampler([3] * 20, max_tokens=12, rank=0, world_size=1)
    ),
    "steps": lambda data, loader: loader(data, batch_sampler=StepBatchSampler(data, 4, steps=9, rank=0, world_size=1)),
    "weighted": lambda data, loader: loader(
        data, 4, sampler=WeightedRandomSampler([1.0] * 20, 20, rank=0, num_replicas=1)
    ),
}


@pytest.mark.parametrize("kind", MAKES)
@pytest.mark.parametrize("loader", [DataLoader, StatefulDataLoader, Resumable])
@pytest.mark.parametrize("moment", ["before", "first", "end"])
def test_samples(kind: str, loader: Any, moment: str) -> None:
    data = samples()
    made = Resumable(MAKES[kind](data, DataLoader)) if loader is Resumable else MAKES[kind](data, loader)
    watched: list[Any] = [weakref.ref(data), weakref.ref(made)]
    batches: Any = iter(made) if moment != "before" else None
    if moment == "first":
        next(batches)
    elif moment == "end":
        for _ in batches:
            pass
    if hasattr(made, "state_dict"):
        made.state_dict()
    del batches, made, data
    assert [one() for one in watched] == [None, None]


def test_a_sampler_alone() -> None:
    """A sampler and its dataset are freed after one sample, as with PyTorch's own sampler."""
    data = samples()
    sampler = DistributedSampler(data, 1, 0)
    watched: list[Any] = [weakref.ref(data), weakref.ref(sampler)]
    indices = iter(sampler)
    next(indices)
    del data, sampler
    # A pass continues after its sampler is deleted.
    assert len([*indices]) == 19
    assert [one() for one in watched] == [None, None]


@pytest.mark.parametrize("workers", [0, 2])
def test_files(tmp_path: Path, workers: int) -> None:
    pq.write_table(pa.table({"id": range(20)}), tmp_path / "0.parquet")
    data = ShardedDataset(tmp_path, batch_size=2, rank=0, world_size=1)
    loader = Resumable(DataLoader(data, batch_size=None, num_workers=workers))
    watched: list[Any] = [weakref.ref(data), weakref.ref(loader)]
    for _ in loader:
        break
    loader.state_dict()
    del data, loader
    assert [one() for one in watched] == [None, None]


@pytest.mark.parametrize("moment", ["first", "end"])
def test_datasets_that_are_interleaved(moment: str) -> None:
    parts = [samples(), Data([list(range(n)) for n in (3, 5, 2, 7)])]
    rows = PackedDataset(parts[1], capacity=8, lengths=[3, 5, 2, 7])
    dataset, order = interleave({"a": parts[0], "b": rows}, [1, 1])
    sampler = DistributedSampler(dataset, 1, 0, order=order)
    loader = Resumable(DataLoader(dataset, 2, sampler=sampler, collate_fn=list))
    watched: list[Any] = [weakref.ref(one) for one in (*parts, rows, dataset, sampler, loader)]
    batches = iter(loader)
    for _ in batches:
        if moment == "first":
            break
    loader.state_dict()
    del batches, loader, sampler, order, dataset, rows, parts
    assert [one() for one in watched] == [None] * len(watched)


@pytest.mark.parametrize("moment", ["first", "end"])
def test_claimed_samples(moment: str) -> None:
    data, log = samples(), MemoryLog()
    ledger = Ledger(Sampler(20), log, reader=1, block_size=4)
    sampler = ClaimSampler(ledger, batch_size=2)
    loader = Claimed(DataLoader(data, batch_sampler=sampler))
    watched: list[Any] = [weakref.ref(one) for one in (data, log, ledger, sampler, loader)]
    batches = iter(loader)
    for _ in batches:
        if moment == "first":
            break
    del batches, loader, sampler, ledger, log, data
    assert [one() for one in watched] == [None] * len(watched)


def test_packed_rows() -> None:
    data = Data([list(range(n)) for n in (3, 5, 2, 7)])
    rows = PackedDataset(data, capacity=8, lengths=[3, 5, 2, 7])
    watched: list[Any] = [weakref.ref(data), weakref.ref(rows)]
    assert rows[0]
    del data, rows
    assert [one() for one in watched] == [None, None]
