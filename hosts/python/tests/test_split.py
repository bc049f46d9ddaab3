"""Training, validation and test: the part of each sample, and values that are refused."""

from __future__ import annotations

import copy
import json
import math
import pickle
import tracemalloc
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import samedeal
from hostile import Vicious, fails
from samedeal import (
    ContradictionError,
    MissingError,
    OutOfMemoryError,
    OutOfRangeError,
    SamedealError,
    Split,
    UnknownMemberError,
    UnknownNameError,
    WrongTypeError,
)

SAMPLES = 10_000
WEIGHTS = {"test": 1, "validation": 2, "training": 7}


def parts_of(split: Split, samples: int = SAMPLES) -> dict[str, set[int]]:
    return {part: set(split.indices(part, samples).tolist()) for part in split.parts}


def test_parts_have_about_their_shares_and_every_sample_is_in_one() -> None:
    split = Split(WEIGHTS, seed=3)
    found = parts_of(split)
    assert sum(map(len, found.values())) == SAMPLES
    assert set.union(*found.values()) == set(range(SAMPLES))
    for part, weight in WEIGHTS.items():
        # The limit is six standard deviations of independent draws. A permutation deviates less than that.
        assert abs(len(found[part]) - SAMPLES * weight / 10) < 6 * (SAMPLES * weight / 10) ** 0.5


def test_added_samples_change_nothing() -> None:
    split = Split(WEIGHTS, seed=3)
    before, after = parts_of(split), parts_of(split, 2 * SAMPLES)
    assert all(before[part] == {sample for sample in after[part] if sample < SAMPLES} for part in WEIGHTS)


def test_a_larger_part_takes_from_the_next_one_alone() -> None:
    before = parts_of(Split(WEIGHTS, seed=3))
    after = parts_of(Split({"test": 1, "validation": 3, "training": 6}, seed=3))
    assert before["test"] == after["test"]
    assert before["validation"] < after["validation"]
    assert after["training"] < before["training"]


def test_sizes_are_exact() -> None:
    split = Split(sizes={"a": 0, "b": 333, "c": 667}, seed=-5)
    found = parts_of(split, 1000)
    assert [len(found[part]) for part in "abc"] == [0, 333, 667]
    assert set.union(*found.values()) == set(range(1000))
    assert split.indices("b").tolist() == sorted(found["b"])
    assert split.indices("b", 10).tolist() == [sample for sample in sorted(found["b"]) if sample < 10]
    assert sorted(found["b"]) != list(range(333))


def test_folds_and_what_they_are_trained_on() -> None:
    folds = Split.folds(5, seed=1)
    assert folds.parts == ("0", "1", "2", "3", "4")
    for number, name in enumerate(folds.parts):
        own, others = folds.indices(name, SAMPLES), folds.others(number, SAMPLES)
        assert own.dtype == others.dtype == np.int64
        assert own.tolist() == folds.indices(number, SAMPLES).tolist()
        assert sorted([*own, *others]) == list(range(SAMPLES))
        assert others.tolist() == sorted(others.tolist())


def test_windows_are_joined() -> None:
    split = Split(WEIGHTS, seed=9)
    samples = 2**20 + 1000
    found = split.indices("validation", samples)
    numbers = split.part_of(np.arange(samples))
    assert numbers.dtype == np.uint32
    assert found.tolist() == np.flatnonzero(numbers == 1).tolist()
    assert split.others("validation", samples).tolist() == np.flatnonzero(numbers != 1).tolist()


def test_groups_stay_together() -> None:
    split = Split(WEIGHTS, seed=9)
    patients = np.random.default_rng(0).integers(0, 40, 1000)
    found = split.part_of(patients)
    assert all(len(set(found[patients == patient].tolist())) == 1 for patient in range(40))
    keys = [f"patient {patient}" for patient in patients]
    by_key = split.part_of_keys(keys)
    assert Counter(zip(keys, by_key.tolist(), strict=True)).keys() == set(zip(keys, by_key.tolist(), strict=True))
    assert len({(key, part) for key, part in zip(keys, by_key.tolist(), strict=True)}) == len(set(keys))
    assert split.name_of(keys[0]) == split.parts[by_key[0]]
    assert split.name_of(int(patients[0])) == split.parts[found[0]]
    assert split.part_of_keys(np.array(keys[:3])).tolist() == by_key[:3].tolist()
    many = split.part_of_keys(map(str, range(40_000)))
    assert many[[0, 20_000, 39_999]].tolist() == split.part_of_keys(["0", "20000", "39999"]).tolist()
    for number, name in enumerate(split.parts):
        own = np.flatnonzero(by_key == number).tolist()
        assert split.indices_of_keys(name, keys).tolist() == split.indices_of_keys(number, iter(keys)).tolist() == own
    with fails(UnknownNameError, "part"):
        split.indices_of_keys("none", keys)
    with fails(OutOfRangeError, "part"):
        split.indices_of_keys(len(split.parts), keys)
    assert split.part_of([]).tolist() == split.part_of_keys([]).tolist() == []


def test_keys_take_the_memory_of_a_window() -> None:
    """Neither all texts of an array nor the bytes of all keys are in memory together."""
    split = Split({"test": 1, "training": 3}, seed=5)
    listed = [f"key {number % 90_000}" for number in range(200_000)]
    for keys in (listed, np.array(listed)):
        split.part_of_keys(["first"])
        tracemalloc.start()
        found = split.part_of_keys(keys)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        # The list of a caller is copied, 8 bytes for each text.
        assert peak < found.nbytes + 8 * len(listed) + 8_000_000
        assert found[:90_000].tolist() == found[90_000:180_000].tolist()
        assert found[[7, 60_000]].tolist() == split.part_of_keys(["key 7", "key 60000"]).tolist()


def test_sizes_are_exact_among_keys_in_any_order() -> None:
    names = [f"{number % 3000}.jpg" for number in range(5000)]
    sizes = Split(sizes={"test": 500, "none": 0, "validation": 250}, seed=7)
    split = sizes.among(names, "training")
    assert [len({names[at] for at in split.indices_of_keys(part, names)}) for part in split.parts] == [
        500,
        0,
        250,
        2250,
    ]
    for keys in (set(names), reversed(names), iter(names[:3000]), np.array(names), np.array(names, dtype=object)):
        assert sizes.among(keys, rest="training").recipe == split.recipe
    assert Split(sizes={"test": 500, "none": 0, "validation": 250}, seed=8).among(names, "training") != split
    # A larger part keeps its keys; with more keys, they move to later parts only.
    parts = split.part_of_keys(names)
    larger = Split(sizes={"test": 600, "none": 0, "validation": 250}, seed=7).among(names, "training")
    assert (larger.part_of_keys(names)[parts == 0] == 0).all()
    more = sizes.among([*names, *map(str, range(3000))], "training")
    moved = more.part_of_keys(names).astype(int) - parts
    assert (moved.min(), moved.max()) == (0, 3)
    # The new split has a part for every key, with about the share of its size.
    new = np.bincount(split.part_of_keys([f"new {number}" for number in range(30_000)]))
    assert abs(new[0] / 30_000 - 1 / 6) < 0.05


def test_sizes_are_exact_among_ids() -> None:
    sizes = Split(sizes={"test": 1000}, seed=3)
    split = sizes.among(np.arange(200_000), "training")
    assert len(split.indices("test", 200_000)) == 1000
    for ids in (range(200_000), np.arange(200_000)[::-1].astype(np.uint32), iter([*range(200_000), 5])):
        assert sizes.among(ids, "training").recipe == split.recipe
    larger = Split(sizes={"test": 3000}, seed=3).among(np.arange(200_000), "training")
    assert {*split.indices("test", 200_000).tolist()} < {*larger.indices("test", 200_000).tolist()}
    # All keys: nothing is left for the rest.
    every = Split(sizes={"a": 4, "b": 6}).among(range(10))
    assert np.bincount(every.part_of(range(1000)), minlength=3)[2] == 0
    assert json.loads(every.recipe)["split"]["parts"][2] == {"name": "rest", "weight": 0}


def test_keys_of_exact_sizes_are_read_in_pieces() -> None:
    sizes = Split(sizes={"test": 100}, seed=5)
    keys = (f"key {number}" for number in range(300_000))
    sizes.among(["first"] * 5 + [*map(str, range(100))])
    tracemalloc.start()
    split = sizes.among(keys)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10_000_000
    assert len(split.indices_of_keys("test", map("key {}".format, range(300_000)))) == 100


def test_exact_sizes_that_are_refused() -> None:
    sizes = Split(sizes={"a": 2, "b": 1})
    with fails(OutOfRangeError, "size") as caught:
        sizes.among(["x", "y", "x"])
    assert (caught.value.value, caught.value.max) == ("3", 2)
    with fails(OutOfRangeError, "size"):
        sizes.among([])
    with fails(ContradictionError, "weights"):
        Split(WEIGHTS).among(["x"])
    with fails(ContradictionError, "name"):
        sizes.among(range(3), rest="b")
    with fails(OutOfRangeError, "name"):
        sizes.among(range(3), rest="")
    with fails(WrongTypeError, "rest"):
        sizes.among(range(3), rest=3)  # type: ignore[arg-type]
    with fails(OutOfRangeError, "ids"):
        sizes.among([1, 2, 2**53 - 1])
    with fails(OutOfRangeError, "keys"):
        sizes.among([1, 2, -1])
    with fails(OutOfRangeError, "keys"):
        sizes.among(["a", "\ud800"])
    for keys in ("abc", {"a": 1}, 3, None, [1.5, 2], ["a", 1], [1, "a"], [b"a"], [[1]], np.array([1.5])):
        with fails(WrongTypeError, "keys"):
            sizes.among(keys)  # type: ignore[arg-type]
    # Two texts with the same id cannot be in two parts.
    with fails(ContradictionError, "size"):
        Split(sizes={"a": 1}).among(["k4560557", "k125374070"])
    with pytest.raises(OutOfMemoryError):
        Split(sizes={"a": 2**40}, memory_limit=2**25).among(np.arange(2**23))


def test_an_order_of_one_part() -> None:
    split = Split(WEIGHTS, seed=9)
    order = samedeal.order("feistel", 500, seed=1).subset(split.indices("test", 500))
    assert sorted(samedeal.Sampler(order=order)) == split.indices("test", 500).tolist()


def test_the_recipe_says_all() -> None:
    split = Split(WEIGHTS, seed=9)
    again = Split.from_recipe(split.recipe)
    assert json.loads(split.recipe)["split"]["seed"] == 9
    assert (again.recipe, again.recipe_fingerprint()) == (split.recipe, split.recipe_fingerprint())
    for made in (again, pickle.loads(pickle.dumps(split)), copy.copy(split), eval(repr(split))):
        assert made.indices("test", 100).tolist() == split.indices("test", 100).tolist()
    exact = Split(sizes={"a": 3, "b": 4})
    assert eval(repr(exact)).recipe == exact.recipe
    assert "300 parts" in repr(Split.folds(300))


@pytest.mark.parametrize(
    ("error", "field", "given"),
    [
        (MissingError, "parts", {}),
        (MissingError, "parts", {"parts": {}}),
        (ContradictionError, "sizes", {"parts": {"a": 1}, "sizes": {"a": 1}}),
        (WrongTypeError, "parts", {"parts": [1, 2]}),
        (WrongTypeError, "sizes", {"sizes": 3}),
        (WrongTypeError, "weight", {"parts": {"a": "0.8", "b": 0.2}}),
        (WrongTypeError, "size", {"sizes": {"a": "3"}}),
        (WrongTypeError, "weight", {"parts": {"a": Vicious()}}),
        (WrongTypeError, "part", {"parts": {3: 1}}),
        (OutOfRangeError, "name", {"parts": {"": 1}}),
        (OutOfRangeError, "name", {"parts": {"a" * 257: 1}}),
        (OutOfRangeError, "weight", {"parts": {"a": 0}}),
        (OutOfRangeError, "weight", {"parts": {"a": 2**53 - 1, "b": 1}}),
        (OutOfRangeError, "size", {"sizes": {"a": 0, "b": 0}}),
        (WrongTypeError, "seed", {"parts": {"a": 1}, "seed": 0.5}),
    ],
)
def test_what_is_no_split(error: type[SamedealError], field: str, given: dict[str, Any]) -> None:
    with fails(error, field):
        Split(**given)


def test_weights_may_be_decimal_fractions() -> None:
    whole = Split({"training": 8, "test": 2}, seed=1)
    for parts in ({"training": 0.8, "test": 0.2}, {"training": Fraction(4, 5), "test": np.float32(0.2)}):
        assert Split(parts, seed=1).part_of(range(100)).tolist() == whole.part_of(range(100)).tolist()
    assert Split({"training": 0.8, "test": 0.2}).recipe == Split({"training": 4, "test": 1.0}).recipe
    for value, error in (("8", WrongTypeError), (math.nan, OutOfRangeError), (True, WrongTypeError)):
        with fails(error, "weight") as caught:
            Split({"training": 8, "test": value})  # type: ignore[dict-item]
        assert "the part 'test'" in str(caught.value)
    with fails(WrongTypeError, "size"):
        Split(sizes={"training": 8, "test": 0.2})  # type: ignore[dict-item]


def test_what_cannot_be_asked() -> None:
    split, exact = Split(WEIGHTS), Split(sizes={"a": 3, "b": 4})
    for samples in (-1, 2**53, 2**64):
        with fails(OutOfRangeError, "samples"):
            split.indices("test", samples)
    with fails(OutOfRangeError, "samples"):
        exact.indices("a", 8)
    with fails(MissingError, "samples"):
        split.indices("test")
    with fails(MissingError, "samples"):
        split.others("test")
    with fails(UnknownNameError, "part") as caught:
        split.indices("train", 10)
    assert caught.value.known == ("test", "validation", "training")
    for part in (3, -1, 2**32):
        with fails(OutOfRangeError, "part"):
            split.indices(part, 0)
    with fails(WrongTypeError, "part"):
        split.indices(1.0, 10)  # type: ignore[arg-type]
    with fails(OutOfRangeError, "ids"):
        exact.part_of([3, 7])
    with fails(OutOfRangeError, "ids"):
        split.part_of([2**53 - 1])
    with fails(WrongTypeError, "ids"):
        split.part_of(["a"])
    with fails(ContradictionError, "sizes"):
        exact.part_of_keys(["a"])
    with fails(ContradictionError, "sizes"):
        exact.part_of_keys([])
    for text in ("\ud800", "a\udfffb", "x" * 10 + "\udce9"):
        with fails(OutOfRangeError, "keys"):
            split.part_of_keys(["a", text])
    for keys in ("abc", [1], [b"a"], [None], 3, {"a": 1}):
        with fails(WrongTypeError, "keys"):
            split.part_of_keys(keys)  # type: ignore[arg-type]
    for folds in (0, 2**16 + 1, -1):
        with fails(OutOfRangeError, "folds"):
            Split.folds(folds)
    with fails(UnknownMemberError, "split"):
        Split.from_recipe({"split": {"parts": [{"name": "a", "weight": 1}], "share": 3}})
    with fails(MissingError, "split"):
        Split.from_recipe({})
