"""Samplers over shards: answers and refusals."""

from __future__ import annotations

import array
from typing import Any

import numpy as np
import pytest
from hostile import NOT_WHOLE, TOO_WIDE, UNKNOWN, Vicious, fails
from numpy.typing import NDArray
from samedeal import (
    ContradictionError,
    MissingError,
    OutOfRangeError,
    Round,
    SamedealError,
    Sampler,
    ShardPlace,
    Spans,
    UnknownNameError,
    WrongTypeError,
)

SIZES = [13, 0, 7, 100, 1, 0, 60]


def make(**changes: Any) -> Sampler:
    return Sampler.sharded(**{"sizes": SIZES, "lanes": 4, "shuffle_window": 8, **changes})


def where(samples: NDArray[np.int64]) -> list[tuple[int, int]]:
    """The shard and the row of each sample, by counting."""
    ends = np.cumsum(SIZES)
    shards = np.searchsorted(ends, samples, side="right")
    return list(zip(shards.tolist(), (samples - (ends - SIZES)[shards]).tolist(), strict=True))


@pytest.mark.parametrize("world_size", [1, 2, 3, 4])
@pytest.mark.parametrize("remainder", ["pad", "drop", "uneven"])
@pytest.mark.parametrize("layout", ["strided", "contiguous"])
def test_rounds_are_what_a_rank_reads(world_size: int, remainder: str, layout: str) -> None:
    seen = []
    for rank in range(world_size):
        sampler = make(rank=rank, world_size=world_size, remainder=remainder, layout=layout)
        rounds = [sampler.round(number) for number in range(sampler.num_rounds)]
        assert [number for start, count, _ in rounds for number in range(start, start + count)] == [
            *range(len(sampler))
        ]
        for start, count, spans in rounds:
            stored = {
                (int(shard), int(row))
                for _, shard, first, size in zip(*spans, strict=True)
                for row in range(first, first + size)
            }
            wanted = where(sampler.indices(start, start + count))
            assert stored >= set(wanted)
            if layout == "strided" and 4 % world_size == 0 and sampler.num_padding == 0 and sampler.num_dropped == 0:
                assert sorted(stored) == sorted(wanted)
        seen += [*sampler]
    assert set(seen) <= set(range(sum(SIZES)))
    if remainder != "drop":
        assert set(seen) == set(range(sum(SIZES)))


def test_the_order_does_not_depend_on_the_world() -> None:
    whole = make(seed=7, epoch=2).indices()
    for world_size in (2, 4):
        parts = [
            make(seed=7, epoch=2, rank=rank, world_size=world_size, remainder="uneven").indices()
            for rank in range(world_size)
        ]
        dealt = np.empty_like(whole)
        for rank, part in enumerate(parts):
            dealt[rank::world_size] = part
        assert dealt.tolist() == whole.tolist()


def test_a_round_is_three_things() -> None:
    found = make().round(0)
    assert type(found) is Round
    start, count, spans = found
    assert (found.start, found.count) == (start, count) == (0, 32)
    assert found.spans is spans
    assert type(spans) is Spans
    assert len(spans.lane) == len(spans.shard) == len(spans.first_row)
    assert int(spans.num_rows.sum()) == 32
    assert make(sizes=[]).num_rounds == 0


def test_where_samples_are_stored() -> None:
    sampler = make()
    assert [sampler.shard_of(sample) for sample in (0, 12, 13, np.int64(119), 120, 180)] == [
        (0, 0),
        (0, 12),
        (2, 0),
        (3, 99),
        (4, 0),
        (6, 59),
    ]
    assert type(sampler.shard_of(0)) is ShardPlace


def test_properties_and_the_call_that_makes_an_equal_sampler() -> None:
    sampler = make(seed=-3, rank=1, world_size=2, remainder="uneven", layout="contiguous")
    sampler.set_epoch(9)
    assert sampler.sizes is not None
    assert sampler.sizes.tolist() == SIZES
    assert sampler.sizes.dtype == np.int64
    assert (sampler.lanes, sampler.shuffle_window, sampler.order, sampler.dataset_size) == (4, 8, "sharded", 181)
    assert (sampler.seed, sampler.epoch, sampler.rank, sampler.world_size) == (-3, 9, 1, 2)
    assert (sampler.remainder, sampler.layout, sampler.consumed) == ("uneven", "contiguous", 0)
    assert repr(sampler) == (
        "Sampler.sharded([13, 0, 7, 100, 1, 0, 60], seed=-3, lanes=4, shuffle_window=8, world_size=2, "
        "remainder='uneven', layout='contiguous', epoch=9, rank=1)"
    )
    other = eval(repr(sampler))
    assert other.fingerprint() == sampler.fingerprint()
    assert other.config_fingerprint() == sampler.config_fingerprint()
    assert repr(Sampler.sharded(range(1000), lanes=3)) == "Sampler.sharded(<1000 numbers>, lanes=3, epoch=0, rank=0)"


def test_the_sizes_are_those_that_were_given() -> None:
    sizes = np.array(SIZES)
    sampler = make(sizes=sizes)
    before = sampler.fingerprint()
    sizes[:] = 1
    own = sampler.sizes
    assert own is not None
    own[0] = 1
    assert sampler.sizes is not None
    assert sampler.sizes.tolist() == SIZES
    sampler.set_epoch(1)
    sampler.set_epoch(0)
    assert sampler.fingerprint() == before


class WithArray:
    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        return np.array(SIZES, dtype=dtype)


@pytest.mark.parametrize(
    "sizes",
    [
        tuple(SIZES),
        iter(SIZES),
        np.array(SIZES),
        np.array(SIZES, dtype=np.uint8),
        np.array(SIZES, dtype=np.uint64),
        np.array(SIZES, dtype=">i4"),
        np.repeat(SIZES, 2)[::2],
        [np.int16(size) for size in SIZES],
        array.array("q", SIZES),
        memoryview(array.array("H", SIZES)),
        WithArray(),
    ],
    ids=lambda sizes: type(sizes).__name__,
)
def test_sizes_may_come_as_any_list(sizes: Any) -> None:
    assert make(sizes=sizes).fingerprint() == make().fingerprint()


class NoArray:
    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        raise TypeError("on another device")


@pytest.mark.parametrize(
    "sizes",
    [
        3,
        1.5,
        "13",
        b"13",
        {1: 2},
        {1, 2},
        Vicious(),
        NoArray(),
        np.array([1.0]),
        np.array([]),
        np.array([True]),
        np.array([[1]]),
        np.array(3),
        np.array(["1"]),
        np.array([1], dtype=object),
        np.array([1], dtype="m8[s]"),
        *([1, value] for value in NOT_WHOLE),
        [Vicious()],
    ],
    ids=lambda value: type(value).__name__,
)
def test_sizes_are_whole_numbers(sizes: Any) -> None:
    with fails(WrongTypeError, "sizes"):
        make(sizes=sizes)


def test_arrays_of_another_type_are_told_by_it() -> None:
    with pytest.raises(WrongTypeError, match=r"sizes is <float64 array of shape \(2, 3\)>; allowed: a list of whole"):
        make(sizes=np.zeros((2, 3)))


@pytest.mark.parametrize("value", TOO_WIDE, ids=lambda value: hex(value)[:20])
def test_sizes_must_cross(value: int) -> None:
    with fails(OutOfRangeError, "sizes"):
        make(sizes=[1, value])


@pytest.mark.parametrize(
    ("sizes", "index"), [(np.array([1, -1]), 1), (np.array([-1, 1], dtype=np.int8), 0)], ids=["int64", "int8"]
)
def test_sizes_of_arrays_must_cross(sizes: Any, index: int) -> None:
    with fails(OutOfRangeError, "sizes") as caught:
        make(sizes=sizes)
    assert caught.value.value == f"-1 (at index {index})"


@pytest.mark.parametrize("sizes", [[2**53], [2**53 - 1, 1], [2**64 - 1] * 3, np.full(3, 2**64 - 1, dtype=np.uint64)])
def test_too_many_samples_together(sizes: Any) -> None:
    with fails(OutOfRangeError, "sizes"):
        make(sizes=sizes)


@pytest.mark.parametrize("field", ["lanes", "shuffle_window", "seed", "epoch", "rank", "world_size", "memory_limit"])
def test_numbers_are_checked(field: str) -> None:
    for value in [*NOT_WHOLE, Vicious()]:
        if value is None and field in ("lanes", "shuffle_window", "seed", "world_size"):
            continue
        with fails(WrongTypeError, field):
            make(**{field: value})
    for wide in (2**64, -(2**64), 10**5000):
        with fails(OutOfRangeError, field):
            make(**{field: wide})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("lanes", 0),
        ("lanes", 65_537),
        ("shuffle_window", 0),
        ("shuffle_window", 2**20 + 1),
        ("rank", 1),
        ("world_size", 0),
    ],
)
def test_numbers_have_their_range(field: str, value: int) -> None:
    with fails(OutOfRangeError, field):
        make(**{field: value})


@pytest.mark.parametrize("field", ["remainder", "layout"])
def test_names_must_be_known(field: str) -> None:
    for value in UNKNOWN:
        with fails(UnknownNameError, field):
            make(**{field: value})


@pytest.mark.parametrize(
    ("field", "call"),
    [
        ("number", lambda sampler, value: sampler.round(value)),
        ("sample", lambda sampler, value: sampler.shard_of(value)),
    ],
)
def test_calls_check_and_leave_the_sampler_working(field: str, call: Any) -> None:
    sampler = make()
    before = sampler.indices().tolist()
    for value in [*NOT_WHOLE, Vicious()]:
        with fails(WrongTypeError, field):
            call(sampler, value)
    for value in [*TOO_WIDE, 181, 6]:
        if (field, value) != ("sample", 6):
            with fails(OutOfRangeError, field):
                call(sampler, value)
    assert sampler.indices().tolist() == before


def test_the_range_is_the_same_for_what_cannot_cross() -> None:
    for at in (-1, 1000, 2**64):
        for call, allowed in ((make().round, "0 to 5"), (make().shard_of, "0 to 180")):
            with pytest.raises(OutOfRangeError) as caught:
                call(at)
            assert (caught.value.value, caught.value.allowed) == (str(at), allowed)


def test_other_orders_have_no_shards() -> None:
    sampler = Sampler(10)
    for call in (lambda: sampler.num_rounds, lambda: sampler.round(0), lambda: sampler.shard_of(0)):
        with fails(ContradictionError, "name"):
            call()
    assert (sampler.sizes, sampler.lanes, sampler.shuffle_window) == (None, None, None)
    with fails(MissingError, "sizes"):
        Sampler(10, order="sharded")
    assert sorted(sampler) == list(range(10))


class Named(Sampler):
    pass


def test_subclasses_make_themselves() -> None:
    assert type(Named.sharded([1, 2])) is Named


def test_every_failure_is_of_the_package() -> None:
    # The base class of the package's errors catches all of these.
    for sizes in (None, [1.5], [-1], [2**64], [2**53]):
        with pytest.raises(SamedealError):
            Sampler.sharded(sizes)  # type: ignore[arg-type]
