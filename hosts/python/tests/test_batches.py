"""`sampler.batches(...)`: an object with a length that can be iterated once for each epoch."""

from __future__ import annotations

import pickle

import pytest
import samedeal
from samedeal import Batches, Sampler


def test_every_pass_begins_anew() -> None:
    sampler = Sampler(100, seed=3, world_size=3, remainder="uneven")
    batches = sampler.batches(8)
    for epoch in range(3):
        for rank in range(3):
            sampler.set_epoch(epoch)
            sampler.set_rank(rank)
            wanted = [sampler.batch(i, 8).tolist() for i in range(sampler.num_batches(8))]
            for _ in range(2):
                assert [batch.tolist() for batch in batches] == wanted
            assert len(batches) == len(wanted)


def test_passes_are_independent() -> None:
    batches = Sampler(100).batches(8)
    one, two = iter(batches), iter(batches)
    first = next(one).tolist()
    assert next(one).tolist() != first
    assert next(two).tolist() == first


def test_the_length_is_that_of_the_rank() -> None:
    sampler = Sampler(17, world_size=2, remainder="uneven")
    batches, full = sampler.batches(8), sampler.batches(8, drop_last=True)
    assert (len(batches), len(full)) == (2, 1)
    sampler.set_rank(1)
    assert (len(batches), len(full)) == (1, 1)
    empty = Sampler(0).batches(8)
    assert (len(empty), list(empty)) == (0, [])


@pytest.mark.parametrize("drop_last", [False, True])
def test_from_a_batch_on(drop_last: bool) -> None:
    for samples in (0, 7, 8, 100):
        sampler = Sampler(samples, seed=3)
        all_of_them = [batch.tolist() for batch in sampler.batches(8, drop_last)]
        for start in range(len(all_of_them) + 1):
            rest = sampler.batches(8, drop_last, start=start)
            assert (len(rest), rest.start) == (len(all_of_them) - start, start)
            for _ in range(2):
                assert [batch.tolist() for batch in rest] == all_of_them[start:]
            assert [batch.tolist() for batch in pickle.loads(pickle.dumps(rest))] == all_of_them[start:]


def test_a_rank_that_ends_before_the_start() -> None:
    sampler = Sampler(17, world_size=2, remainder="uneven")
    rest = sampler.batches(8, start=2)
    assert (len(rest), list(rest)) == (0, [])
    sampler.set_rank(1)
    for ask in (len, iter):
        with pytest.raises(samedeal.OutOfRangeError, match="start is 2; allowed: 0 to 1"):
            ask(rest)


def test_what_they_are_made_of() -> None:
    sampler = Sampler(100, seed=3)
    for batches in (sampler.batches(8, True, start=0), Batches(sampler, 8, drop_last=True)):
        assert batches.sampler is sampler
        assert (batches.batch_size, batches.drop_last, len(batches)) == (8, True, 12)
        again = eval(repr(batches), {"Sampler": Sampler})
        for same in (again, pickle.loads(pickle.dumps(batches))):
            assert repr(same) == repr(batches)
            assert [batch.tolist() for batch in same] == [batch.tolist() for batch in batches]
            assert same.sampler is not sampler
    with pytest.raises(AttributeError):
        sampler.batches(8).batch_size = 9  # type: ignore[misc]


def test_errors_come_when_they_are_made() -> None:
    sampler = Sampler(100)
    for make in (sampler.batches, lambda size: Batches(sampler, size)):
        with pytest.raises(samedeal.OutOfRangeError, match="batch_size is 0; allowed: 1 to 4294967295"):
            make(0)
