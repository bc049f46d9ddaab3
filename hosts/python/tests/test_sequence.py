"""The sampler as a sequence, compared with lists and ranges."""

from __future__ import annotations

import hashlib
import inspect
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import samedeal
from hypothesis import given
from hypothesis import strategies as st
from samedeal import OutOfRangeError, Sampler, WrongTypeError
from samedeal.deal import binding, windows

BOUNDS = st.none() | st.integers(-30, 30) | st.integers(-(2**70), 2**70)


@given(st.integers(0, 25), BOUNDS, BOUNDS, BOUNDS.filter(lambda step: step != 0))
def test_slices_are_those_of_a_list(samples: int, start: int | None, stop: int | None, step: int | None) -> None:
    sampler = Sampler(samples, seed=7)
    model = sampler.indices().tolist()
    part = sampler[start:stop:step]
    assert part.tolist() == model[start:stop:step]
    assert part.dtype == np.int64
    assert part.flags.c_contiguous
    assert part.flags.writeable


@given(st.integers(0, 25), st.integers(-30, 30))
def test_items_are_those_of_a_list(samples: int, at: int) -> None:
    sampler = Sampler(samples, seed=7)
    model = sampler.indices().tolist()
    try:
        wanted = model[at]
    except IndexError:
        with pytest.raises(IndexError) as caught:
            sampler[at]
        assert isinstance(caught.value, samedeal.OutOfRangeError)
    else:
        assert sampler[at] == wanted
        assert type(sampler[at]) is int


@pytest.mark.parametrize("step", [2, 3, 255, 256, 257, 1000, 70_000, 10**6, -1, -2, -257, -(10**6)])
def test_slices_across_windows(step: int) -> None:
    sampler = Sampler(10**6 + 3, order="sequential")
    model = range(10**6 + 3)
    for start, stop in ((None, None), (65_535, 65_537), (12, 900_001), (900_001, 12)):
        assert np.array_equal(sampler[start:stop:step], model[start:stop:step])


def test_indices_across_windows() -> None:
    sampler = Sampler(10**6 + 3, order="sequential")
    assert np.array_equal(sampler.indices(), np.arange(10**6 + 3))
    assert np.array_equal(sampler.indices(65_535, 131_073), np.arange(65_535, 131_073))
    assert np.array_equal(sampler.indices(stop=5), np.arange(5))
    assert np.array_equal(sampler.indices(10**6), np.arange(10**6, 10**6 + 3))
    assert sampler.indices(10**6 + 3).tolist() == sampler.indices(4, 4).tolist() == []


def test_windows_fit_the_component() -> None:
    assert max(windows.WINDOW, windows.ITERATION_WINDOW) <= binding.max_count()


@pytest.mark.parametrize("key", [1.5, "1", None, (1, 2), True, np.array([1, 2])])
def test_keys_are_whole_numbers_or_slices(key: Any) -> None:
    with pytest.raises(WrongTypeError):
        Sampler(10)[key]


@pytest.mark.parametrize("part", [1.5, "1", True, ()])
def test_slices_are_of_whole_numbers(part: Any) -> None:
    sampler = Sampler(10)
    for field, key in (("start", slice(part, 2)), ("stop", slice(0, part)), ("step", slice(0, 2, part))):
        with pytest.raises(WrongTypeError) as caught:
            sampler[key]
        assert caught.value.field == field
    with pytest.raises(OutOfRangeError, match="step is 0"):
        sampler[::0]


def test_iteration() -> None:
    sampler = Sampler(40_000, seed=3, world_size=2, rank=1)
    model = sampler.indices().tolist()
    assert list(sampler) == model
    assert all(type(index) is int for index in itertools.islice(sampler, 10))
    one, two = iter(sampler), iter(sampler)
    assert [next(one) for _ in range(9_000)] == model[:9_000]
    assert [next(two) for _ in range(10)] == model[:10]
    assert list(one) == model[9_000:]
    assert list(two) == model[10:]
    assert list(reversed(Sampler(5, order="sequential"))) == [4, 3, 2, 1, 0]
    assert model[5] in sampler
    assert -1 not in Sampler(5)


@pytest.mark.parametrize("begin", [iter, lambda sampler: iter(sampler.batches(7))], ids=["samples", "batches"])
def test_iteration_does_not_mix_epochs_or_ranks(begin: Callable[[Sampler], Iterator[Any]]) -> None:
    sampler = Sampler(1000, world_size=3, remainder="uneven")
    for move, value in ((sampler.set_epoch, 1), (sampler.set_rank, 1)):
        fresh, begun = begin(sampler), begin(sampler)
        next(begun)
        sampler.set_epoch(sampler.epoch)
        sampler.set_rank(sampler.rank)
        next(begun)
        move(value)
        # The error comes at once, even if samples were read ahead.
        for iterator in (fresh, begun):
            with pytest.raises(RuntimeError, match=r"another epoch or rank .*call iter\(\) again"):
                next(iterator)
        assert sum(np.size(item) for item in begin(sampler)) == len(sampler)


@pytest.mark.parametrize("samples", [0, 1, 9, 10, 11, 70_000])
@pytest.mark.parametrize("size", [1, 3, 10, 65_536, 65_537, 10**6])
@pytest.mark.parametrize("drop_last", [False, True])
def test_batches_are_the_indices_cut(samples: int, size: int, drop_last: bool) -> None:
    sampler = Sampler(samples, seed=1)
    model = sampler.indices().tolist()
    wanted = [model[at : at + size] for at in range(0, samples, size)]
    if drop_last:
        wanted = [batch for batch in wanted if len(batch) == size]
    got = list(sampler.batches(size, drop_last))
    assert [batch.tolist() for batch in got] == wanted
    assert sampler.num_batches(size, drop_last) == len(wanted)
    for i in {0, len(wanted) // 2, len(wanted) - 1} & set(range(len(wanted))):
        assert sampler.batch(i, size, drop_last).tolist() == wanted[i]


@given(
    st.integers(0, 200),
    st.integers(1, 20),
    st.sampled_from(["drop", "pad", "uneven"]),
    st.sampled_from(["strided", "contiguous"]),
    st.sampled_from(samedeal.plain_orders()),
)
def test_all_ranks_together_are_the_epoch(
    samples: int, world_size: int, remainder: str, layout: str, order: str
) -> None:
    sampler = Sampler(samples, seed=5, world_size=world_size, remainder=remainder, layout=layout, order=order)
    dealt: list[int] = []
    for rank in range(world_size):
        sampler.set_rank(rank)
        mine = sampler.indices().tolist()
        assert len(sampler) == sampler.num_samples == len(mine)
        dealt += mine[: len(mine) - sampler.num_padding]
    assert len(set(dealt)) == len(dealt) == samples - sampler.num_dropped
    for sample in range(samples):
        place = sampler.locate(sample, batch_size=3)
        assert (place is not None) == (sample in dealt)
        if place is not None:
            sampler.set_rank(place.rank)
            assert sampler.batch(place.batch, 3)[place.index_in_batch] == sampler[place.index_in_rank] == sample
            assert sampler.sample_at(place.position) == sample
            assert sampler.place_of(place.position, 3) == place


def test_immense_samplers_cost_what_is_asked_for() -> None:
    sampler = Sampler(2**53 - 1)
    assert len(sampler) == 2**53 - 1
    last = sampler[-1]
    assert sampler[2**53 - 2] == last
    assert sampler[-3:].tolist()[-1] == last
    assert len(sampler[:: 2**50]) == 8
    place = sampler.locate(last, 32)
    assert place is not None
    assert place.position == 2**53 - 2
    with pytest.raises(samedeal.OutOfMemoryError):
        sampler.indices()
    with pytest.raises(samedeal.OutOfMemoryError):
        sampler[::-1]
    assert sampler[-1] == last


def test_repr_is_the_call() -> None:
    sampler = Sampler(10, seed=-3, epoch=4, order="torch", rank=1, world_size=3, remainder="drop", layout="contiguous")
    sampler.set_rank(2)
    sampler.set_epoch(5)
    again: Sampler = eval(repr(sampler))
    assert repr(again) == repr(sampler)
    assert again.config_fingerprint() == sampler.config_fingerprint()
    names = [name for name in inspect.signature(Sampler).parameters if name != "memory_limit"]
    found = [getattr(sampler, "dataset_size" if name == "samples" else name) for name in names]
    assert found == [10, -3, 5, "torch", 2, 3, "drop", "contiguous", 1, 0]


def test_fingerprints() -> None:
    sampler = Sampler(1000, seed=1, world_size=3)
    assert sampler.fingerprint() == hashlib.sha256(sampler.indices().astype("<u8").tobytes()).hexdigest()
    ranks = [Sampler(1000, seed=1, world_size=3, rank=rank).config_fingerprint() for rank in range(3)]
    assert len({*ranks, sampler.config_fingerprint()}) == 1
    assert Sampler(1000, seed=2, world_size=3).config_fingerprint() != sampler.config_fingerprint()


def test_orders() -> None:
    assert samedeal.plain_orders()[0] == "feistel"
    for order in samedeal.plain_orders():
        assert sorted(Sampler(100, order=order)) == list(range(100))
