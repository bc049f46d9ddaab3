"""Values that cannot be meant: each raises a typed error, and the object still works."""

from __future__ import annotations

import itertools
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import samedeal
from hostile import NOT_WHOLE, TOO_WIDE, UNKNOWN, Vicious, fails
from samedeal import MissingError, OutOfRangeError, Sampler, UnknownNameError, WrongTypeError
from samedeal.engine import arguments


@pytest.mark.parametrize("field", ["samples", "seed", "epoch", "rank", "world_size", "memory_limit"])
@pytest.mark.parametrize("value", [*NOT_WHOLE, Vicious()], ids=lambda value: type(value).__name__)
def test_constructor_takes_whole_numbers_only(field: str, value: Any) -> None:
    if value is None and field in ("seed", "world_size"):
        # None stands for the default.
        return
    if value is None and field == "samples":
        # None counts as a missing value, which an Order needs.
        with fails(MissingError, field):
            Sampler(None)
        return
    with fails(WrongTypeError, field):
        Sampler(**{"samples": 10, field: value})


@pytest.mark.parametrize("field", ["samples", "epoch", "rank", "world_size", "memory_limit"])
@pytest.mark.parametrize("value", TOO_WIDE, ids=lambda value: hex(value)[:20])
def test_constructor_takes_numbers_that_cross_only(field: str, value: Any) -> None:
    with fails(OutOfRangeError, field):
        Sampler(**{"samples": 10, field: value})


@pytest.mark.parametrize("seed", [2**63, -(2**63) - 1, 10**5000], ids=lambda value: hex(value)[:20])
def test_constructor_takes_seeds_that_cross_only(seed: int) -> None:
    with fails(OutOfRangeError, "seed"):
        Sampler(10, seed=seed)


@pytest.mark.parametrize("seed", [2**63 - 1, -(2**63), -1])
def test_constructor_takes_every_seed_that_crosses(seed: int) -> None:
    sampler = Sampler(10, seed=seed, epoch=2**64 - 1)
    assert (sampler.seed, sampler.epoch) == (seed, 2**64 - 1)
    assert sorted(sampler) == list(range(10))


@pytest.mark.parametrize(
    ("field", "arguments"),
    [
        ("samples", {"samples": 2**53}),
        ("samples", {"samples": 2**64 - 1}),
        ("samples", {"samples": 2**32, "order": "torch"}),
        ("samples", {"samples": 2**53 - 1, "world_size": 2}),
        ("rank", {"samples": 10, "rank": 4, "world_size": 4}),
        ("world_size", {"samples": 10, "world_size": 0}),
        ("world_size", {"samples": 10, "world_size": 2**32}),
        ("seed", {"samples": 10, "order": "dotnet", "seed": 2**31}),
        ("memory_limit", {"samples": 10, "memory_limit": 0}),
        ("memory_limit", {"samples": 10, "memory_limit": 2**20}),
    ],
)
def test_constructor_takes_the_documented_ranges(field: str, arguments: dict[str, Any]) -> None:
    with fails(OutOfRangeError, field):
        Sampler(**arguments)


@pytest.mark.parametrize("field", ["order", "remainder", "layout"])
@pytest.mark.parametrize("value", UNKNOWN, ids=lambda value: ascii(value)[:20])
def test_names_must_be_known(field: str, value: str) -> None:
    with fails(UnknownNameError, "name" if field == "order" else field):
        Sampler(10, **{field: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("field", ["order", "remainder", "layout"])
@pytest.mark.parametrize("value", [0, True, b"pad", ["pad"], Vicious()], ids=lambda value: type(value).__name__)
def test_names_must_be_strings(field: str, value: Any) -> None:
    # A value that JSON can have is refused by the component, as the member of the recipe.
    with fails(WrongTypeError, "name" if field == "order" and isinstance(value, int) else field):
        Sampler(10, **{field: value})


def test_unknown_names_list_the_known_ones() -> None:
    with pytest.raises(UnknownNameError) as caught:
        Sampler(10, order="shuffle")
    # Composed orders, and orders of files, are no names for this argument.
    known = ", ".join(samedeal.plain_orders())
    assert caught.value.allowed == known
    assert str(caught.value) == f"order is 'shuffle'; known: {known}"
    with pytest.raises(UnknownNameError, match="remainder is 'ceil'; known: pad, drop, uneven"):
        Sampler(10, remainder="ceil")


Call = Callable[[Sampler, Any], Any]
CALLS: dict[str, tuple[str, Call]] = {
    "set_epoch": ("epoch", lambda sampler, value: sampler.set_epoch(value)),
    "set_rank": ("rank", lambda sampler, value: sampler.set_rank(value)),
    "indices from": ("start", lambda sampler, value: sampler.indices(value)),
    "indices to": ("stop", lambda sampler, value: sampler.indices(0, value)),
    "batch number": ("batch", lambda sampler, value: sampler.batch(value, 2)),
    "batch size": ("batch_size", lambda sampler, value: sampler.batch(0, value)),
    "num_batches": ("batch_size", lambda sampler, value: sampler.num_batches(value)),
    "batches": ("batch_size", lambda sampler, value: sampler.batches(value)),
    "batches from": ("start", lambda sampler, value: sampler.batches(2, start=value)),
    "sample_at": ("position", lambda sampler, value: sampler.sample_at(value)),
    "locate": ("sample", lambda sampler, value: sampler.locate(value, 2)),
    "locate size": ("batch_size", lambda sampler, value: sampler.locate(0, value)),
    "place_of": ("position", lambda sampler, value: sampler.place_of(value, 2)),
    "place_of size": ("batch_size", lambda sampler, value: sampler.place_of(0, value)),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_call_checks_and_leaves_the_sampler_working(name: str) -> None:
    field, call = CALLS[name]
    sampler = Sampler(10, order="torch", world_size=3)
    before = list(sampler)
    for value in [*NOT_WHOLE, Vicious()]:
        if value is None and name == "indices to":
            continue
        with fails(WrongTypeError, field):
            call(sampler, value)
    for value in TOO_WIDE:
        with fails(OutOfRangeError, field):
            call(sampler, value)
    assert list(sampler) == before
    assert (sampler.epoch, sampler.rank) == (0, 0)


@pytest.mark.parametrize(
    ("field", "call"),
    [
        ("rank", lambda sampler: sampler.set_rank(3)),
        ("start", lambda sampler: sampler.indices(5)),
        ("stop", lambda sampler: sampler.indices(0, 5)),
        ("stop", lambda sampler: sampler.indices(3, 2)),
        ("batch", lambda sampler: sampler.batch(2, 2)),
        ("batch", lambda sampler: sampler.batch(1, 3, drop_last=True)),
        ("batch_size", lambda sampler: sampler.batch(0, 0)),
        ("batch_size", lambda sampler: sampler.num_batches(0)),
        ("batch_size", lambda sampler: sampler.batches(0)),
        ("start", lambda sampler: sampler.batches(3, start=3)),
        ("start", lambda sampler: sampler.batches(3, True, start=2)),
        ("batch_size", lambda sampler: sampler.locate(0, 0)),
        ("batch_size", lambda sampler: sampler.locate(0, 2**32)),
        ("position", lambda sampler: sampler.sample_at(12)),
        ("position", lambda sampler: sampler.place_of(12, 1)),
        ("sample", lambda sampler: sampler.locate(10, 1)),
    ],
)
def test_every_call_has_its_range(field: str, call: Callable[[Sampler], Any]) -> None:
    sampler = Sampler(10, world_size=3)
    before = list(sampler)
    for _ in range(3):
        with fails(OutOfRangeError, field):
            call(sampler)
    assert list(sampler) == before


@pytest.mark.parametrize(
    ("call", "allowed"),
    [
        (lambda sampler, at: sampler.batch(at, 3), "0 to 1"),
        (lambda sampler, at: sampler.batch(at, 3, True), "0 to 0"),
        (lambda sampler, at: sampler.batch(at, 5, True), "none, there are none"),
        (lambda sampler, at: sampler.batches(3, start=at), "0 to 2"),
        (lambda sampler, at: sampler.indices(at), "0 to 4"),
        (lambda sampler, at: sampler.indices(1, at), "1 to 4"),
        (lambda sampler, at: sampler.sample_at(at), "0 to 11"),
        (lambda sampler, at: sampler.place_of(at, 3), "0 to 11"),
        (lambda sampler, at: sampler.locate(at, 3), "0 to 9"),
    ],
)
def test_the_range_is_the_same_for_what_cannot_cross(call: Call, allowed: str) -> None:
    # The number 100 reaches the component, which refuses it.
    for at in (-1, 100, 2**64):
        with pytest.raises(OutOfRangeError) as caught:
            call(Sampler(10, world_size=3), at)
        assert (caught.value.value, caught.value.allowed) == (str(at), allowed)


def test_the_batch_size_of_a_place_is_asked_for() -> None:
    for ask in (Sampler(10).locate, Sampler(10).place_of):
        with pytest.raises(TypeError, match="batch_size"):
            ask(0)  # type: ignore[call-arg]


class Dataset:
    def __repr__(self) -> str:
        raise AssertionError("a dataset may be long")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("4", "'4'"),
        ("x" * 100, "'" + "x" * 63),
        (1.5, "1.5"),
        (True, "True"),
        (None, "None"),
        (Dataset(), "<Dataset>"),
        (np.zeros(10), "<ndarray>"),
        ([1, 2], "<list>"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_wrong_type_is_told_by_what_it_is(value: Any, shown: str) -> None:
    if value is not None:
        with pytest.raises(WrongTypeError) as caught:
            Sampler(value)
        assert str(caught.value) == f"samples is {shown}; allowed: a whole number, such as len(dataset)"
    with pytest.raises(WrongTypeError) as caught:
        Sampler(10, rank=value)
    assert str(caught.value) == f"rank is {shown}; allowed: a whole number"


@pytest.mark.parametrize("drop_last", [False, True])
def test_batches_beyond_the_widest_window(drop_last: bool) -> None:
    sampler = Sampler(2**21 + 1)
    failures = []
    for call in (lambda size: sampler.batch(0, size, drop_last), lambda size: sampler.batches(size, drop_last)):
        for size in (2**20 + 1, 2**21):
            with fails(OutOfRangeError, "batch_size") as caught:
                call(size)
            assert caught.value.value == str(size)
            failures.append(caught.value.args)
    assert failures[:2] == failures[2:]
    assert [len(batch) for batch in sampler.batches(2**20, drop_last)] == [2**20, 2**20, 1][: 2 + (not drop_last)]
    # The memory depends on the batch, not on the batch size.
    short = Sampler(2**20)
    for size in (2**20 + 1, 2**32 - 1):
        assert [len(batch) for batch in short.batches(size, drop_last)] == [2**20] * (not drop_last)
    assert len(short.batch(0, 2**32 - 1)) == 2**20


def test_batches_that_become_too_long() -> None:
    sampler = Sampler(2**21 + 1, world_size=2, remainder="uneven", rank=1)
    batches = sampler.batches(2**21)
    assert [len(batch) for batch in batches] == [2**20]
    sampler.set_rank(0)
    with fails(OutOfRangeError, "batch_size"):
        iter(batches)


@pytest.mark.parametrize("value", [0, 1, None, "", "yes", np.int64(1), math.nan])
def test_drop_last_is_a_bool(value: Any) -> None:
    sampler = Sampler(10)
    for call in (sampler.num_batches, sampler.batches):
        with fails(WrongTypeError, "drop_last"):
            call(3, value)
    with fails(WrongTypeError, "drop_last"):
        sampler.batch(0, 3, value)
    assert sampler.num_batches(3, np.bool_(True)) == 3  # type: ignore[arg-type]


def test_numpy_integers_are_whole_numbers() -> None:
    sampler = Sampler(
        np.int64(10), seed=np.int8(-3), epoch=np.uint64(2**64 - 1), rank=np.uint8(1), world_size=np.int16(2)
    )
    same = Sampler(10, seed=-3, epoch=2**64 - 1, rank=1, world_size=2)
    assert repr(sampler) == repr(same)
    assert sampler.config_fingerprint() == same.config_fingerprint()
    assert sampler[np.int32(-1)] == same[-1]
    assert sampler.batch(np.uint64(1), np.array(2)).tolist() == same.batch(1, 2).tolist()
    sampler.set_epoch(np.int64(3))
    assert type(sampler.epoch) is int


def test_errors_are_what_python_expects_and_survive_a_pickle() -> None:
    sampler = Sampler(10)
    with pytest.raises(TypeError, match=r"batch is 1\.5; allowed: a whole number"):
        sampler.batch(1.5, 2)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="batch_size is 0; allowed: 1 to 4294967295") as caught:
        sampler.batch(0, 0)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert type(copy) is OutOfRangeError
    assert (copy.kind, copy.field, copy.value, copy.allowed) == ("out-of-range", "batch_size", "0", "1 to 4294967295")
    assert issubclass(samedeal.OutOfMemoryError, MemoryError)
    kinds = {error.kind for error in (OutOfRangeError, UnknownNameError, WrongTypeError, samedeal.OutOfMemoryError)}
    assert kinds == {"out-of-range", "unknown-name", "wrong-type", "out-of-memory"}


def test_a_length_that_lies_is_not_asked() -> None:
    class Lying(list[Any]):
        def __len__(self) -> int:
            return -1

    assert samedeal.grown(3, Lying()).to_dict()["growth"] == []
    assert Sampler.sharded(Lying([3, 4])).dataset_size == 7
    with fails(WrongTypeError, "growth"):
        samedeal.grown(3, Lying([1]))


def test_an_array_of_more_numbers_than_there_can_be_is_refused_at_once() -> None:
    far = np.lib.stride_tricks.as_strided(np.array([3]), shape=(2**50,), strides=(0,))
    for field, call in (
        ("sizes", lambda: Sampler.sharded(far)),
        ("growth", lambda: samedeal.grown(3, far)),
        ("assigned", lambda: samedeal.verify_shards(3, far)),
        ("keys", lambda: samedeal.Split({"a": 1}).part_of_keys(far)),
    ):
        with fails(samedeal.OutOfMemoryError, field):
            call()


def test_a_list_without_an_end_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    assert arguments._MOST_OF_UNKNOWN == 2**25
    monkeypatch.setattr(arguments, "_MOST_OF_UNKNOWN", 1000)
    for field, call in (
        ("lengths", lambda: samedeal.Batcher(itertools.repeat(1), max_tokens=4)),
        ("sizes", lambda: samedeal.Reading(itertools.repeat(1))),
        ("indices", lambda: samedeal.order("feistel", 4).subset(itertools.repeat(1))),
        ("keys", lambda: samedeal.Split({"a": 1}).part_of_keys(itertools.repeat("a"))),
        ("sequences", lambda: samedeal.collate.pad(itertools.repeat(np.array([1])))),
    ):
        with fails(samedeal.OutOfMemoryError, field):
            call()
    # A list has a length, so it is no endless iterator.
    assert len(samedeal.Split({"a": 1}).part_of([1] * 2000)) == 2000
    assert len(samedeal.Split({"a": 1}).part_of(iter([1] * 1000))) == 1000


def test_batches_are_of_a_sampler() -> None:
    with fails(WrongTypeError, "sampler"):
        samedeal.Batches(samedeal.Batcher([3], max_tokens=9), 1)  # type: ignore[arg-type]


def test_a_factor_is_a_number() -> None:
    with fails(WrongTypeError, "factors"):
        samedeal.balance([0], [np.array([1])])  # type: ignore[list-item]


def test_weights_where_there_are_no_sources() -> None:
    with fails(UnknownNameError, "source"):
        samedeal.blend({}, stages=[(9, {"a": 1})])


@pytest.mark.parametrize("kind", [list, tuple, np.array], ids=["list", "tuple", "array"])
def test_a_number_that_is_refused_is_shown_with_its_place(kind: Any) -> None:
    for values, told in [([5, 9, -4], "-4 (sample 2)"), ([5, 2**32, 9], "4294967296 (sample 1)")]:
        with pytest.raises(OutOfRangeError) as caught:
            samedeal.Batcher(kind(values), max_tokens=9)
        assert (caught.value.field, caught.value.value) == ("lengths", told)
    with pytest.raises(WrongTypeError) as wrong:
        samedeal.Batcher([5, 1.5], max_tokens=9)
    assert wrong.value.value == "1.5 (sample 1)"
    with pytest.raises(OutOfRangeError) as nested:
        samedeal.verify_shards(9, [[0], [1, -3]])
    assert nested.value.value == "-3 (at index 1 of list 1)"


def test_a_rank_that_cannot_be_is_told_how_many_there_are() -> None:
    sampler, reading = Sampler(10, world_size=3), samedeal.Reading([5, 5], world_size=3, workers=2)
    for make in (
        lambda rank: Sampler(10, world_size=3, rank=rank),
        lambda rank: samedeal.Batcher([1] * 9, max_tokens=2, world_size=3, rank=rank),
        lambda rank: samedeal.BatchStream(max_tokens=2, world_size=3, rank=rank),
        lambda rank: samedeal.Schedule(10, 3, world_size=3, rank=rank),
        lambda rank: samedeal.Schedule(10, 3, world_size=3).at_rank(rank),
        lambda rank: samedeal.detect_rank(rank, 3, environment={}),
        sampler.set_rank,
        reading.num_steps,
        reading.num_samples,
    ):
        for rank in (-1, -(2**70), 3, 2**32 - 1, 2**32, 2**80):
            with pytest.raises(OutOfRangeError, match="allowed: 0 to 2") as caught:
                make(rank)
            assert (caught.value.field, caught.value.max) == ("rank", 2)
            assert caught.value.value == str(rank) or "digits" in caught.value.value
    assert sampler.rank == 0
    with pytest.raises(OutOfRangeError, match="worker is -1; allowed: 0 to 1"):
        reading.num_samples(0, -1)
    with pytest.raises(OutOfRangeError, match="reader is -1; allowed: 0 to 3"):
        samedeal.ChunkStream(-1, 4)
