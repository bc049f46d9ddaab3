"""`samedeal.torch.DistributedSampler` against PyTorch's own, index for index and attribute for attribute."""

from __future__ import annotations

import copy
import inspect
import itertools
import pickle
from typing import Any

import pytest
import samedeal
from samedeal import ContradictionError, OutOfRangeError, SamedealError, WrongTypeError

torch = pytest.importorskip("torch")
ours = pytest.importorskip("samedeal.torch")
Original = torch.utils.data.DistributedSampler
ATTRIBUTES = ("num_replicas", "rank", "epoch", "drop_last", "num_samples", "total_size", "shuffle", "seed", "dataset")


def attributes(sampler: Any) -> dict[str, Any]:
    return {name: getattr(sampler, name) for name in ATTRIBUTES} | {"len": len(sampler)}


@pytest.mark.parametrize("samples", [0, 1, 2, 3, 5, 11, 12, 1_001, 40_000])
@pytest.mark.parametrize("world_size", [1, 2, 3, 7, 16])
@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("shuffle", [False, True])
def test_the_same_indices(samples: int, world_size: int, drop_last: bool, shuffle: bool) -> None:
    for rank in {0, world_size // 2, world_size - 1}:
        arguments: Any = (range(samples), world_size, rank, shuffle, 5, drop_last)
        mine, theirs = ours.DistributedSampler(*arguments), Original(*arguments)
        assert attributes(mine) == attributes(theirs)
        # A second pass of an epoch gives the same indices.
        for epoch in (0, 0, 1, 1_000):
            mine.set_epoch(epoch)
            theirs.set_epoch(epoch)
            assert list(mine) == list(theirs)
            assert attributes(mine) == attributes(theirs)
        assert all(type(index) is int for index in mine)


def test_it_is_an_instance_of_the_original_and_called_like_it() -> None:
    sampler = ours.DistributedSampler([1, 2, 3], num_replicas=2, rank=1)
    assert isinstance(sampler, Original)
    assert isinstance(sampler, torch.utils.data.Sampler)
    theirs = list(inspect.signature(Original).parameters.values())
    mine = list(inspect.signature(ours.DistributedSampler).parameters.values())
    assert [p.name for p in mine[: len(theirs)]] == [p.name for p in theirs]
    assert [p.default for p in mine[: len(theirs)]] == [p.default for p in theirs]
    assert all(p.kind is p.KEYWORD_ONLY for p in mine[len(theirs) :])
    # Loaders of PyTorch read these attributes, so they must equal those of PyTorch's sampler.
    assert sampler.order == ("torch" if torch.__version__ >= (2, 6) else "torch-2.5")
    sampler.epoch = 3
    assert (sampler.epoch, list(sampler)) == (3, list(Epoch(3)))


def Epoch(epoch: int) -> Any:  # noqa: N802
    sampler = Original([1, 2, 3], 2, 1)
    sampler.set_epoch(epoch)
    return sampler


def test_two_passes_at_once_and_one_that_is_broken_off() -> None:
    mine, theirs = (kind(range(50_000), 3, 1, seed=2) for kind in (ours.DistributedSampler, Original))
    expected = list(theirs)
    one, other = iter(mine), iter(mine)
    begun = list(itertools.islice(one, 20_000 - 1))
    assert list(other) == expected[:]
    # An open pass stays in its epoch, whatever happens to the sampler.
    mine.set_epoch(7)
    theirs.set_epoch(7)
    assert list(mine) == list(theirs)
    assert begun + list(one) == expected == list(itertools.chain(begun, expected[len(begun) :]))
    assert next(iter(mine)) == next(iter(theirs)) == next(iter(mine))


def test_a_dataset_that_grows() -> None:
    data = list(range(10))
    mine = ours.DistributedSampler(data, 4, 1)
    assert len(mine) == 3
    data += range(10, 33)
    assert attributes(mine) == attributes(Original(data, 4, 1))
    assert list(mine) == list(Original(data, 4, 1))
    mine.seed, mine.drop_last = 9, True
    assert list(mine) == list(Original(data, 4, 1, seed=9, drop_last=True))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda sampler: pickle.loads(pickle.dumps(sampler))])
def test_copies(copied: Any) -> None:
    mine = ours.DistributedSampler(list(range(100)), 3, 2, seed=4)
    mine.set_epoch(6)
    next(iter(mine))
    twin = copied(mine)
    assert attributes(twin) == attributes(mine)
    assert list(twin) == list(mine)
    twin.set_epoch(1)
    assert mine.epoch == 6


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.parametrize("persistent", [False, True])
def test_under_a_loader(method: str, persistent: bool) -> None:
    data = list(range(1_003))
    workers: dict[str, Any] = {"num_workers": 2, "multiprocessing_context": method, "persistent_workers": persistent}
    # PyTorch's sampler is read by a loader without workers, which gives the same batches: each spawned worker would
    # import PyTorch.
    loaders = [
        torch.utils.data.DataLoader(data, 32, sampler=kind(data, 4, 3, seed=1), **options)
        for kind, options in ((ours.DistributedSampler, workers), (Original, {}))
    ]
    assert len(loaders[0]) == len(loaders[1])
    for epoch in range(2):
        for loader in loaders:
            loader.sampler.set_epoch(epoch)
        mine, theirs = ([batch.tolist() for batch in loader] for loader in loaders)
        assert mine == theirs


def test_orders() -> None:
    for order in samedeal.plain_orders():
        mine = ours.DistributedSampler(range(101), 4, 1, seed=3, order=order)
        mine.set_epoch(2)
        assert (
            list(mine) == samedeal.Sampler(101, seed=3, epoch=2, rank=1, world_size=4, order=order).indices().tolist()
        )
        assert mine.order == order
    assert next(iter(ours.DistributedSampler(range(2**52), 4, 1, order="feistel"))) < 2**52


def test_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "5")
    monkeypatch.setenv("WORLD_SIZE", "8")
    data = range(100)
    for arguments, place in (
        ({}, (5, 8)),
        ({"mesh": samedeal.Mesh(8, {"dp": 2, "tp": 4}, shard=["dp"])}, (1, 2)),
        ({"rank": 1}, (1, 8)),
        ({"num_replicas": 6}, (5, 6)),
        ({"rank": 1, "num_replicas": 2}, (1, 2)),
    ):
        sampler = ours.DistributedSampler(data, **arguments)
        assert (sampler.rank, sampler.num_replicas) == place


@pytest.mark.parametrize(
    ("error", "field", "options"),
    [
        (WrongTypeError, "dataset", {"dataset": iter([1])}),
        (OutOfRangeError, "rank", {"rank": 2}),
        (OutOfRangeError, "rank", {"rank": -1}),
        (WrongTypeError, "seed", {"seed": 0.5}),
        (WrongTypeError, "shuffle", {"shuffle": "no"}),
        (ContradictionError, "order", {"order": "feistel", "shuffle": False}),
        (SamedealError, "name", {"order": "tensorflow"}),
    ],
)
def test_samplers_that_cannot_be(error: type[SamedealError], field: str, options: dict[str, Any]) -> None:
    with pytest.raises(error) as caught:
        ours.DistributedSampler(**{"dataset": [1, 2, 3], "num_replicas": 2, "rank": 0, **options})
    assert caught.value.field == field
