"""Loaders that make batches out of items that are batches already."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from samedeal.torch import BatchSampler, BatchWarning, Resumable, ShardedDataset, to_tensors
from torch.utils.data import DataLoader
from torchdata.stateful_dataloader import StatefulDataLoader

LENGTHS = [3, 9, 4, 4, 7, 1, 2, 5] * 10


class Lengths(torch.utils.data.Dataset[Any]):  # type: ignore[misc]
    """A dataset that takes one index, or a list of them."""

    def __len__(self) -> int:
        return len(LENGTHS)

    def __getitem__(self, index: Any) -> Any:
        return torch.tensor(index)


def only(found: Any) -> Any:
    """Returns the batches as they are. PyTorch's collator would stack them and fail, because their lengths differ."""
    return found


@pytest.mark.parametrize("kind", [DataLoader, StatefulDataLoader])
def test_a_sampler_of_batches_under_a_batch_size(kind: Any) -> None:
    sampler = BatchSampler(LENGTHS, max_tokens=20, rank=0, world_size=2)
    nested = kind(Lengths(), batch_size=4, sampler=sampler, collate_fn=only)
    with pytest.warns(BatchWarning, match="batches of the batches that the sampler gives: pass the BatchSampler as"):
        next(iter(nested))
    with warnings.catch_warnings():
        warnings.simplefilter("error", BatchWarning)
        for right in (
            kind(Lengths(), batch_sampler=sampler, collate_fn=only),
            kind(Lengths(), batch_size=None, sampler=sampler),
            Resumable(DataLoader(Lengths(), batch_sampler=sampler, collate_fn=only)),
        ):
            assert len([*right]) == len(sampler)


@pytest.mark.parametrize("kind", [DataLoader, StatefulDataLoader])
def test_a_dataset_of_batches_under_a_batch_size(kind: Any, data: Path) -> None:
    def dataset(batch_size: int | None) -> ShardedDataset:
        return ShardedDataset(data, columns=["id"], batch_size=batch_size, transform=to_tensors, rank=0, world_size=2)

    with pytest.warns(BatchWarning, match="batches of 32 rows that the dataset gives: pass batch_size=None"):
        found = next(iter(kind(dataset(32), batch_size=4)))
    assert found["id"].shape == (4, 32)
    with warnings.catch_warnings():
        warnings.simplefilter("error", BatchWarning)
        next(iter(kind(dataset(32), batch_size=None)))
        next(iter(dataset(32)))
