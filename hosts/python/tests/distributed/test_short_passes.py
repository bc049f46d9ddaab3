"""Passes over few samples: the cost besides the samples."""

from __future__ import annotations

import gc
import pickle
import weakref
from typing import Any

import pytest
import torch.utils.data
from calls import count
from samedeal.torch import DistributedSampler

ONE: dict[str, Any] = {"num_replicas": 1, "rank": 0}


@pytest.mark.parametrize("samples", [1, 100, 1_000, 3_000])
@pytest.mark.parametrize("world_size", [1, 3])
def test_consecutive_epochs_are_those_of_pytorch(samples: int, world_size: int) -> None:
    data = range(samples)
    theirs = torch.utils.data.DistributedSampler(data, world_size, world_size - 1, seed=5)
    ours = DistributedSampler(data, world_size, world_size - 1, seed=5)
    for epoch in (0, 1, 2, 3, 4, 4, 9, 10, 2, 3):
        theirs.set_epoch(epoch)
        ours.set_epoch(epoch)
        assert list(ours) == list(theirs)
        assert len(ours) == len(theirs)


@pytest.mark.parametrize("order", ["torch", "feistel"])
def test_a_short_pass_of_a_loader_makes_no_call(order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sampler = DistributedSampler(range(100), **ONE, order=order)
    loader = torch.utils.data.DataLoader(range(100), 32, sampler=sampler)
    sampler.set_epoch(1)
    sampler.set_epoch(2)
    list(loader)
    made = count(monkeypatch)
    for epoch in range(3, 20):
        sampler.set_epoch(epoch)
        assert sum(map(len, loader)) == 100
    assert not made


def test_a_pass_is_freed_without_the_collector() -> None:
    sampler = DistributedSampler(range(100), **ONE)
    gc.disable()
    try:
        samples = iter(sampler)
        one: Any = samples._cursor  # type: ignore[attr-defined]
        dead = weakref.ref(one)
        list(samples)
        del samples, one
        sampler.set_epoch(1)
        assert dead() is None
    finally:
        gc.enable()


def test_samples_read_ahead_follow_the_dataset_and_the_rank() -> None:
    data = list(range(50))
    sampler = DistributedSampler(data, 2, 0)
    for epoch in (1, 2):
        sampler.set_epoch(epoch)
        list(sampler)
    data.extend(range(50, 80))
    sampler.rank = 1
    sampler.set_epoch(3)
    theirs = torch.utils.data.DistributedSampler(data, 2, 1)
    theirs.set_epoch(3)
    assert list(sampler) == list(theirs)
    again = pickle.loads(pickle.dumps(sampler))
    again.set_epoch(4)
    theirs.set_epoch(4)
    assert list(again) == list(theirs)


def test_states_in_the_middle_of_a_pass_that_was_read_ahead() -> None:
    sampler = DistributedSampler(range(100), **ONE)
    for epoch in (1, 2, 3):
        sampler.set_epoch(epoch)
        samples = iter(sampler)
        given = [next(samples) for _ in range(7)]
        state = sampler.state_dict()
        rest = DistributedSampler(range(100), **ONE)
        rest.load_state_dict(state)
        assert rest.epoch == epoch
        assert [*given, *rest] == [*given, *samples]


def test_another_kind_of_number_is_an_epoch_too() -> None:
    sampler = DistributedSampler(range(10), **ONE)
    for epoch in (1, torch.tensor(2), 3):
        sampler.set_epoch(epoch)
        assert sampler.epoch == int(epoch)
    with pytest.raises(TypeError):
        sampler.set_epoch(torch.tensor([1, 2]))
    with pytest.raises(ValueError, match="epoch"):
        sampler.set_epoch(-1)
