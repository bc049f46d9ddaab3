"""Subclasses of PyTorch's sampler from installed libraries, with the sampler of this package as their base."""

from __future__ import annotations

import contextlib
import copy
import itertools
import math
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import samedeal
import torch
from lightning.fabric.utilities import distributed as fabric
from lightning.pytorch.overrides import distributed as lightning
from samedeal import ContradictionError, OutOfRangeError, SamedealError, WrongTypeError
from samedeal.torch import DistributedSampler, Resumable
from torch.distributed.elastic.utils.data.elastic_distributed_sampler import ElasticDistributedSampler
from torch.utils.data import DataLoader
from torch.utils.data import DistributedSampler as Theirs
from torchdata.stateful_dataloader import StatefulDataLoader
from torchdata.stateful_dataloader.sampler import StatefulDistributedSampler
from transformers import trainer_pt_utils as transformers

LENGTHS = [3, 9, 4, 4, 7, 1, 2, 5] * 13
COUNTS = ("rank", "num_replicas", "num_samples", "total_size", "epoch")
Make = Callable[[int, int], Any]

MAKES: dict[type, list[Make]] = {
    ElasticDistributedSampler: [
        lambda rank, world_size: ElasticDistributedSampler(range(103), world_size, rank),
        lambda rank, world_size: ElasticDistributedSampler(range(103), world_size, rank, start_index=40),
    ],
    StatefulDistributedSampler: [
        lambda rank, world_size: StatefulDistributedSampler(range(103), world_size, rank, seed=3),
        lambda rank, world_size: StatefulDistributedSampler(
            range(103), world_size, rank, shuffle=False, drop_last=True
        ),
    ],
    lightning.UnrepeatedDistributedSampler: [
        lambda rank, world_size: lightning.UnrepeatedDistributedSampler(range(103), world_size, rank),
        lambda rank, world_size: lightning.UnrepeatedDistributedSampler(range(103), world_size, rank, shuffle=False),
        lambda rank, world_size: lightning.UnrepeatedDistributedSamplerWrapper(
            [*range(50, 0, -1)], num_replicas=world_size, rank=rank
        ),
    ],
    fabric.DistributedSamplerWrapper: [
        lambda rank, world_size: fabric.DistributedSamplerWrapper(
            [*range(50, 0, -1)], num_replicas=world_size, rank=rank
        ),
    ],
    transformers.DistributedSamplerWithLoop: [
        lambda rank, world_size: transformers.DistributedSamplerWithLoop(
            range(103), batch_size=8, num_replicas=world_size, rank=rank
        ),
    ],
    transformers.DistributedLengthGroupedSampler: [
        lambda rank, world_size: transformers.DistributedLengthGroupedSampler(
            4, None, world_size, rank, 5, lengths=LENGTHS
        ),
        lambda rank, world_size: transformers.DistributedLengthGroupedSampler(
            4, None, world_size, rank, 5, True, LENGTHS
        ),
    ],
}


@contextlib.contextmanager
def on_ours(subclass: Any) -> Iterator[None]:
    """Replaces the base of a class by the sampler of this package."""
    assert subclass.__bases__ == (Theirs,)
    subclass.__bases__ = (DistributedSampler,)
    try:
        yield
    finally:
        subclass.__bases__ = (Theirs,)


def read(sampler: Any) -> list[Any]:
    """The samples of a subclass, and its attributes."""
    found: list[Any] = []
    for epoch in (0, 2):
        sampler.set_epoch(epoch)
        found.append({name: getattr(sampler, name) for name in COUNTS} | {"len": len(sampler)})
        found += [list(sampler), list(sampler)]
    return found


@pytest.mark.parametrize("subclass", MAKES, ids=lambda subclass: str(subclass.__name__))
@pytest.mark.parametrize("world_size", [1, 4])
def test_subclasses_of_libraries(subclass: Any, world_size: int) -> None:
    expected = [[read(make(rank, world_size)) for rank in range(world_size)] for make in MAKES[subclass]]
    with on_ours(subclass):
        samplers = [[make(rank, world_size) for rank in range(world_size)] for make in MAKES[subclass]]
        assert isinstance(samplers[0][0], DistributedSampler)
        assert [[read(sampler) for sampler in ranks] for ranks in samplers] == expected
        for sampler in itertools.chain.from_iterable(samplers):
            for twin in (copy.copy(sampler), copy.deepcopy(sampler), pickle.loads(pickle.dumps(sampler))):
                assert list(twin) == list(sampler)
            assert repr(sampler)


def test_a_stateful_subclass_resumes_its_own_way() -> None:
    data = torch.arange(100)

    def loader() -> Any:
        sampler = StatefulDistributedSampler(data, 2, 1, seed=42)
        return StatefulDataLoader(data, batch_size=10, sampler=sampler)

    with on_ours(StatefulDistributedSampler):
        whole = [batch.tolist() for batch in loader()]
        first = loader()
        begun = [batch.tolist() for batch in itertools.islice(first, 2)]
        rest = loader()
        rest.load_state_dict(first.state_dict())
        assert begun + [batch.tolist() for batch in rest] == whole


class Half(DistributedSampler[str]):
    """A sampler of the names of samples, for the first half of the dataset."""

    def __init__(self, dataset: Any, **place: Any) -> None:
        super().__init__(dataset, **place)
        self.num_samples = len(range(self.rank, len(dataset) // 2, self.num_replicas))
        self.total_size = len(dataset) // 2

    def __iter__(self) -> Iterator[str]:
        return (str(number) for number in range(self.rank, self.total_size, self.num_replicas))


def test_a_subclass_that_deals_another_number_has_no_states() -> None:
    sampler = Half(range(21), num_replicas=2, rank=1)
    assert (len(sampler), sampler.total_size, [*sampler]) == (5, 10, ["1", "3", "5", "7", "9"])
    state = DistributedSampler(range(21), 2, 1).state_dict()
    with pytest.raises(ContradictionError, match="num_samples is 5; allowed: 11"):
        sampler.state_dict()
    with pytest.raises(ContradictionError, match="num_samples is 5; allowed: 11"):
        sampler.load_state_dict(state)
    with pytest.raises(ContradictionError, match="num_samples is 5; allowed: 11"):
        next(iter(Resumable(DataLoader(range(21), 2, sampler=sampler))))


def test_ranks_are_set_for_the_next_pass() -> None:
    data = range(103)
    sampler = DistributedSampler(data, 4, 3, seed=2)
    begun = iter(sampler)
    first = next(begun)
    # Rank and number of replicas are set one after the other. In between they may be invalid together.
    sampler.num_replicas = 2
    assert (sampler.rank, sampler.num_replicas) == (3, 2)
    for call in (lambda: len(sampler), lambda: iter(sampler), lambda: sampler.num_samples):
        with pytest.raises(OutOfRangeError, match="rank is 3"):
            call()
    sampler.rank = 1
    assert [*sampler] == [*Theirs(data, 2, 1, seed=2)]
    assert (sampler.num_samples, sampler.total_size, len(sampler)) == (52, 104, 52)
    # A pass that is open keeps the rank with which it began.
    assert [first, *begun] == [*Theirs(data, 4, 3, seed=2)]
    mesh = samedeal.Mesh(4, {"dp": 2, "tp": 2}, shard=["dp"])
    sampler = DistributedSampler(data, 4, 3, mesh=mesh)
    assert (sampler.rank, sampler.num_replicas) == (1, 2)
    sampler.rank = 0
    assert [*sampler] == [*Theirs(data, 2, 0)]


def test_ranks_that_are_set_within_a_rest() -> None:
    sampler = DistributedSampler(range(40), 2, 0, seed=3)
    begun = [*itertools.islice(sampler, 5), *itertools.islice(DistributedSampler(range(40), 2, 1, seed=3), 5)]
    sampler.load_state_dict(sampler.state_dict(5))
    rest: list[int] = []
    for rank in range(3):
        twin = copy.copy(sampler)
        twin.num_replicas, twin.rank = 3, rank
        assert len(twin) == 10
        rest += twin
    assert sorted(begun + rest) == list(range(40))


def test_numbers_that_are_set_are_checked_when_a_pass_begins() -> None:
    data = [*range(103)]
    sampler = DistributedSampler(data, 4, 1)
    expected = [*Theirs(data, 4, 1)]
    sampler.num_samples = math.ceil(len(data) / 4)
    sampler.total_size = sampler.num_samples * 4
    assert [*sampler] == expected
    # Correct values of both attributes follow the dataset, as before.
    data += range(103, 201)
    assert (len(sampler), sampler.total_size) == (51, 204)
    assert [*sampler] == [*Theirs(data, 4, 1)]
    for name, wrong, right in (("num_samples", 50, 51), ("total_size", 201, 204)):
        setattr(sampler, name, wrong)
        assert getattr(sampler, name) == wrong
        with pytest.raises(ContradictionError, match=f"{name} is {wrong}; allowed: {right}"):
            iter(sampler)
        setattr(sampler, name, right)
        assert len([*sampler]) == 51


@pytest.mark.parametrize(
    ("error", "name", "value"),
    [
        (WrongTypeError, "rank", "0"),
        (WrongTypeError, "rank", True),
        (WrongTypeError, "rank", None),
        (OutOfRangeError, "rank", -1),
        (WrongTypeError, "num_replicas", 2.0),
        (OutOfRangeError, "num_replicas", 0),
        (OutOfRangeError, "num_replicas", 2**32),
        (WrongTypeError, "num_samples", 5.0),
        (OutOfRangeError, "num_samples", -1),
        (WrongTypeError, "total_size", None),
        (OutOfRangeError, "total_size", -1),
    ],
)
def test_values_that_cannot_be_set(error: type[SamedealError], name: str, value: Any) -> None:
    sampler = DistributedSampler(range(10), 2, 1)
    with pytest.raises(error) as caught:
        setattr(sampler, name, value)
    assert caught.value.field == name
    assert [*sampler] == [*Theirs(range(10), 2, 1)]


class Bare(DistributedSampler[int]):
    """A sampler that does not call `__init__`, and does not deal by itself."""

    def __init__(self) -> None:
        self.num_replicas, self.rank, self.epoch = 8, 7, 5


def test_a_subclass_without_init() -> None:
    sampler = Bare()
    assert (sampler.num_replicas, sampler.rank, sampler.epoch) == (8, 7, 5)
    sampler.set_epoch(6)
    assert sampler.epoch == 6
    for call in (lambda: iter(sampler), lambda: len(sampler), sampler.state_dict):
        with pytest.raises(WrongTypeError, match="dataset is None"):
            call()
    assert "dataset is None" in repr(sampler)


def test_the_class_takes_a_type() -> None:
    sampler = DistributedSampler[int](range(10), 2, 1)
    assert [*sampler] == [*Theirs(range(10), 2, 1)]
    assert isinstance(sampler, Theirs)
