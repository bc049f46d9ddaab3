"""Short epochs, several of which are read in one call, ahead of the passes over them."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest
import samedeal
from calls import count
from samedeal import OutOfRangeError, Sampler
from samedeal.deal.binding import Deal


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The calls of the component that were made."""
    return count(monkeypatch)


@pytest.mark.parametrize("order", samedeal.plain_orders())
@pytest.mark.parametrize("remainder", ["pad", "drop", "uneven"])
def test_any_way_through_the_epochs(order: str, remainder: str) -> None:
    deal: dict[str, Any] = {"world_size": 3, "remainder": remainder, "seed": 4, "order": order}
    sampler = Sampler(100, **deal)
    for epoch, rank in ((1, 0), (2, 0), (3, 2), (4, 2), (4, 1), (70, 1), (71, 1), (2, 1), (3, 1), (0, 0), (1, 0)):
        sampler.set_rank(rank)
        sampler.set_epoch(epoch)
        own = Sampler(100, epoch=epoch, rank=rank, **deal)
        assert len(sampler) == own.num_samples == sampler.num_samples
        assert list(sampler) == own.indices().tolist()
        assert sampler.state(2) == own.state(2)
        assert (sampler.epoch, sampler.rank, sampler.consumed) == (epoch, rank, 0)


def test_lengths_of_whole_epochs_are_not_those_of_a_rest() -> None:
    sampler = Sampler(10)
    sampler.set_epoch(1)
    sampler.resume(sampler.state(4))
    assert len(sampler) == len(list(sampler)) == 6
    sampler.set_epoch(2)
    assert len(sampler) == 10


@pytest.mark.parametrize("samples", [0, 1, 1_000, 5_000])
def test_setting_epochs_takes_few_calls(samples: int, calls: list[int]) -> None:
    sampler = Sampler(samples, world_size=2)
    sampler.set_epoch(1)
    calls.clear()
    for epoch in range(2, 34):
        sampler.set_epoch(epoch)
        assert len(sampler) == -(-samples // 2)
    # A longer epoch needs two calls: one for its samples, and one to find its end.
    assert len(calls) <= (64 if samples == 5_000 else 16)


def test_an_epoch_that_is_refused_changes_nothing() -> None:
    # Ten positions in an epoch, and at most 2**53 - 1 positions in all epochs.
    sampler = Sampler(order=samedeal.order("sequential", samples=5).copies(2))
    last = (2**53 - 1) // 10 - 1
    for epoch in (last - 2, last - 1, last):
        sampler.set_epoch(epoch)
        assert list(sampler) == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    with pytest.raises(OutOfRangeError, match="epoch"):
        sampler.set_epoch(last + 1)
    assert sampler.epoch == last
    assert len(sampler) == 10


def test_what_was_read_ahead_is_not_pickled() -> None:
    sampler = Sampler(1_000)
    before = len(pickle.dumps(sampler))
    for epoch in range(1, 4):
        sampler.set_epoch(epoch)
    assert len(pickle.dumps(sampler)) <= before + 8
    assert list(pickle.loads(pickle.dumps(sampler))) == list(sampler)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda sampler: sampler.set_rank(1), (5, 1)),
        (lambda sampler: sampler.set_epoch(9), (5, 0)),
        (lambda sampler: sampler.resume(Sampler(10, epoch=3).state(4)), (5, 0)),
    ],
)
def test_what_a_signal_handler_changes_meanwhile_stays(
    change: Callable[[Sampler], None], place: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    sampler = Sampler(10, world_size=2)
    read, armed = Deal.short_epochs_from, [True]

    def interrupted(*arguments: Any) -> Any:
        found = read(*arguments)
        if armed:
            armed.clear()
            change(sampler)
        return found

    monkeypatch.setattr(Deal, "short_epochs_from", interrupted)
    sampler.set_epoch(5)
    assert (sampler.epoch, sampler.rank) == place
    assert list(sampler) == Sampler(10, world_size=2, epoch=place[0], rank=place[1]).indices().tolist()


def test_the_call_itself() -> None:
    sampler = Sampler(5, world_size=2, seed=3, epoch=7, rank=1)
    found = sampler.short_epochs(1, 3, 10)
    assert found.num_samples.tolist() == [3, 3]
    assert found.indices.tolist() == [
        i for epoch in (1, 2) for i in Sampler(5, world_size=2, seed=3, epoch=epoch, rank=1)
    ]
    assert sampler.epoch == 7
    with pytest.raises(OutOfRangeError, match="most"):
        sampler.short_epochs(0, 1, 2**32)
