"""Warnings when an epoch is read again: equal for all samplers and datasets, with and without loader workers."""

from __future__ import annotations

import itertools
import warnings
from pathlib import Path
from typing import Any

import pytest
from samedeal import order
from samedeal.torch import (
    BatchSampler,
    DistributedSampler,
    EpochWarning,
    Resumable,
    ShardedDataset,
    StepBatchSampler,
    WeightedRandomSampler,
)
from torch.utils.data import DataLoader

ONE: dict[str, Any] = {"rank": 0, "num_replicas": 1}
DATA = range(48)


def loader_of(kind: str, files: Path, workers: int, shuffled: bool = True) -> Any:
    """A loader with at least twelve batches."""
    name: dict[str, Any] = {} if shuffled else {"order": "sequential"}
    if kind == "files":
        dataset = ShardedDataset(files, batch_size=64, shuffle=None if shuffled else False, **ONE)
        return DataLoader(dataset, batch_size=None, num_workers=workers)
    if kind in ("batches", "steps"):
        batches = (
            BatchSampler([1] * 48, max_tokens=4, **name, **ONE)
            if kind == "batches"
            else StepBatchSampler(DATA, 4, steps=12, **name, **ONE)
        )
        return DataLoader(DATA, batch_sampler=batches, collate_fn=list, num_workers=workers)
    makes: dict[str, Any] = {
        "samples": lambda: DistributedSampler(DATA, shuffle=shuffled, **ONE),
        "weights": lambda: WeightedRandomSampler([1] * 48, 48, **ONE),
        "order": lambda: DistributedSampler(
            DATA, order=order("feistel" if shuffled else "sequential", 48).skip([(5, 0, 1)]), **ONE
        ),
    }
    return DataLoader(DATA, 4, sampler=makes[kind](), num_workers=workers)


def told(loader: Any, batches: int | None, set_epoch: Any = None) -> list[str]:
    """The warnings of two passes, each over a number of batches."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for epoch in (0, 1):
            if set_epoch is not None:
                set_epoch(epoch)
            for _ in itertools.islice(loader, batches):
                pass
    return [str(warning.message) for warning in caught if warning.category is EpochWarning]


KINDS = ("samples", "weights", "order", "batches", "steps", "files")


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("kind", KINDS)
def test_all_warn_of_an_epoch_that_is_read_again(kind: str, workers: int, data: Path) -> None:
    for batches in (None, 8):
        loader = loader_of(kind, data, workers)
        source: Any = loader if kind == "files" and workers else Resumable(loader)
        if kind == "files" and workers:
            # The workers warn in their own processes, whose warnings are not seen here.
            board = loader.dataset._board
            assert list(itertools.islice(source, batches))
            assert board.last_read == 0
            continue
        for each in (source, loader_of(kind, data, workers)):
            (text,) = told(each, batches)
            assert "steps from 0 on are given again" in text if kind == "steps" else "epoch 0 is read again" in text


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("kind", KINDS)
def test_a_look_at_the_first_batch_is_no_pass(kind: str, workers: int, data: Path) -> None:
    loader = loader_of(kind, data, workers)
    assert told(loader, 1) == []
    if kind == "files":
        assert loader.dataset._board.last_read is None
    assert told(Resumable(loader_of(kind, data, workers)), 1) == []


@pytest.mark.parametrize("kind", KINDS)
def test_another_epoch_is_another_pass(kind: str, data: Path) -> None:
    loader = Resumable(loader_of(kind, data, 0))
    if kind == "steps":
        sampler = loader.sampler
        assert told(loader, 3, lambda epoch: setattr(sampler, "step", 3 * epoch)) == []
    else:
        assert told(loader, None, loader.set_epoch) == []
    if kind not in ("steps", "weights"):
        # Without a shuffle, as in an evaluation, epochs are equal, so there is no warning.
        assert told(Resumable(loader_of(kind, data, 0, shuffled=False)), None) == []
    # The rest of an epoch is not the same pass as its beginning, so there is no warning.
    loader = Resumable(loader_of(kind, data, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("error", EpochWarning)
        batches = iter(loader)
        next(batches), next(batches), next(batches)
        loader.load_state_dict(loader.state_dict())
        assert list(loader)
