"""All public functions that take a list or a dictionary. A value that is no list, or has no order, is refused, and not
read as a list."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import samedeal
from samedeal import (
    Batcher,
    Order,
    Reading,
    Sampler,
    ShardPlan,
    Split,
    UnknownNameError,
    WrongTypeError,
    collate,
    ledger,
)

SPLIT = Split({"train": 8, "test": 2})
ORDER = samedeal.order("feistel", 10)
SOURCES: dict[str, Any] = {"a": (3, 1), "b": (4, 1)}
READING: dict[str, Any] = {"sizes": [3, 2], "balance_by": "bytes", "deal": "shards"}
PLAN: dict[str, Any] = {"sizes": [3, 2], "world_size": 2, "policy": "size-aware"}

# For each function and parameter: a call that takes the value there and returns an answer.
LISTS: dict[str, Callable[[Any], Any]] = {
    "Batcher lengths": lambda value: Batcher(value, max_tokens=8),
    "Batcher boundaries": lambda value: Batcher([3, 1], max_tokens=8, boundaries=value),
    "join_indices parts": samedeal.join_indices,
    "BatchStream boundaries": lambda value: samedeal.BatchStream(max_tokens=8, boundaries=value),
    "Mesh shard": lambda value: samedeal.Mesh(2, {"a": 2}, value),
    "Order skip": lambda value: ORDER.skip(value),
    "Order exclude": lambda value: ORDER.exclude(value),
    "Order subset": lambda value: ORDER.subset(value),
    "Order stage weights": lambda value: samedeal.blend(SOURCES).stage(3, value),
    "Reading sizes": Reading,
    "Reading bytes": lambda value: Reading(**READING, bytes=value),
    "Sampler sharded": Sampler.sharded,
    "ShardPlan sizes": ShardPlan,
    "ShardPlan bytes": lambda value: ShardPlan(**PLAN, balance_by="bytes", bytes=value),
    "ShardPlan holders": lambda value: ShardPlan(**PLAN, holders=value, rank_nodes=[0, 0]),
    "ShardPlan rank_nodes": lambda value: ShardPlan(**PLAN, holders=[[0], [0]], rank_nodes=value),
    "Split part_of": SPLIT.part_of,
    "Split part_of_keys": SPLIT.part_of_keys,
    "Split indices_of_keys": lambda value: SPLIT.indices_of_keys("train", value),
    "balance classes": lambda value: samedeal.balance(value, [1, 2, 3, 4]),
    "balance factors": lambda value: samedeal.balance([0, 1], value),
    "balance factors as weights": lambda value: samedeal.balance([0, 1], value, samples=9),
    "blend stages": lambda value: samedeal.blend(SOURCES, stages=value),
    "grown growth": lambda value: samedeal.grown(10, value),
    "sharded sizes": samedeal.sharded,
    "weighted weights": samedeal.weighted,
    "windows sizes": lambda value: samedeal.windows(value, 2),
    "verify_shards assigned": lambda value: samedeal.verify_shards(3, value),
    "collate.pad sequences": collate.pad,
    "collate.pack sequences": collate.pack,
    "ledger.MemoryLog entries": ledger.MemoryLog,
}
DICTIONARIES: dict[str, Callable[[Any], Any]] = {
    "Mesh axes": lambda value: samedeal.Mesh(2, value, ["a"]),
    "Mesh rank_at": lambda value: samedeal.Mesh(2, {"a": 2}, ["a"]).rank_at(value),
    "Order lists": lambda value: Order({"name": "feistel"}, value),
    "Order members": Order,
    "Order stage sources": lambda value: samedeal.blend(SOURCES).stage(3, {"a": 1, "b": 2}, sources=value),
    "Sampler from_recipe lists": lambda value: Sampler.from_recipe(Sampler(10).recipe, lists=value),
    "Split parts": Split,
    "Split sizes": lambda value: Split(sizes=value),
    "blend sources": samedeal.blend,
    "detect_rank environment": lambda value: samedeal.detect_rank(environment=value),
    "differences one": lambda value: samedeal.differences(value, "{}"),
    "differences other": lambda value: samedeal.differences("{}", value),
    "recipe_after sections": lambda value: samedeal.recipe_after(Sampler(10).state(0), value),
    "recipe_after state": samedeal.recipe_after,
}
NO_LISTS = [
    "312",
    b"\3\1\2",
    bytearray(b"\3\1\2"),
    {3, 1},
    frozenset(["b", "a"]),
    {"a": 1},
    {3: 1}.keys(),
    3,
    np.array(3),
    # Classes have the attributes of their objects.
    list,
    Sampler,
    np.ndarray,
    pa.Array,
    pa.ChunkedArray,
]
NO_DICTIONARIES = [[("a", 2)], (("a", 2),), {("a", 2)}, "a", b"a", iter([("a", 2)]), np.array([2]), 3, object(), dict]


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("value", NO_LISTS, ids=lambda value: getattr(value, "__name__", type(value).__name__))
def test_what_is_no_list_is_refused(name: str, value: Any) -> None:
    # Sets are accepted for axes, whose order does not matter, and dictionaries for weights, which may have names.
    meant = {"Mesh shard": ("set", "frozenset"), "Order stage weights": ("dict",), "Batcher lengths": ("dict",)}
    if type(value).__name__ in meant.get(name, ()):
        return
    with pytest.raises((WrongTypeError, UnknownNameError)):
        LISTS[name](value)


@pytest.mark.parametrize("name", DICTIONARIES)
@pytest.mark.parametrize("value", NO_DICTIONARIES, ids=lambda value: type(value).__name__)
def test_what_is_no_dictionary_is_refused(name: str, value: Any) -> None:
    with pytest.raises(WrongTypeError):
        DICTIONARIES[name](value)


def test_a_list_that_can_be_read_once_is_read_once() -> None:
    lists: dict[str, list[Any]] = {
        "Split part_of_keys": ["a", "b"],
        "balance factors": [1, 2],
        "grown growth": [(1, 0, 15)],
        "sharded sizes": [3, 2],
    }
    for name, given in lists.items():
        assert repr(LISTS[name](iter(given))) == repr(LISTS[name](given)), name


def test_all_lists_of_public_names_are_here() -> None:
    named = {" ".join(name.split()[:2]) for name in [*LISTS, *DICTIONARIES]}
    for public in samedeal.__all__:
        found = getattr(samedeal, public)
        if not callable(found) or (isinstance(found, type) and issubclass(found, (Exception, tuple))):
            continue
        if found.__module__.endswith("records"):
            # Users do not call the classes of answers.
            continue
        for name, parameter in inspect.signature(found).parameters.items():
            kinds = ("Iterable", "ArrayLike", "Numbers", "Lengths", "Stages", "Mapping[", "Sequence")
            # Other tests refuse wrong recipes and orders, like texts. A batch size may be a number, so it is left out
            # as well.
            others = ("order", "recipe", "batch_size", "global_batch_size")
            if not any(kind in str(parameter.annotation) for kind in kinds) or name in others:
                continue
            assert f"{public} {name}" in named, f"{public} {name}"
