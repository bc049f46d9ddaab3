"""Batches of sequences whose order is composed, or is that of a dataset in shards."""

from __future__ import annotations

import itertools
import json
import pickle
from collections import Counter
from typing import Any

import numpy as np
import pytest
import samedeal
from hostile import fails
from samedeal import (
    Batcher,
    ContradictionError,
    MissingError,
    Order,
    OutOfRangeError,
    SamedealError,
    Sampler,
    UnknownNameError,
    WrongTypeError,
)

WEB, CODE = 300, 100
LENGTHS = np.random.default_rng(2).integers(1, 90, WEB + CODE)
BLEND = samedeal.blend({"web": (WEB, 1), "code": (CODE, 1)}, seed=6)
OPTIONS: dict[str, Any] = {"max_tokens": 400, "tail": "keep"}
ORDERS = {
    "blend": BLEND,
    "skip": BLEND.skip([(0, 10, 50)]),
    "copies": samedeal.order("feistel", WEB + CODE, seed=3).copies(2),
    "exclude": samedeal.order("torch", WEB + CODE, seed=3).exclude(range(100, 380)),
    "subset": samedeal.order("feistel", WEB + CODE, seed=3).subset(range(0, 400, 7)),
    "sharded": samedeal.sharded([150, 50, 200], lanes=4, shuffle_window=16, seed=1),
    "balance": samedeal.balance([0] * 300 + [1] * 100, factors=[0.5, 2], seed=1),
    "weighted": samedeal.weighted([1] * 300 + [4] * 100, samples=350, seed=1),
}


def batches_of(batcher: Batcher) -> list[list[int]]:
    """The samples of all ranks, step by step."""
    return [
        batcher.batch(step, rank).samples.tolist()
        for step in range(batcher.num_steps)
        for rank in range(batcher.world_size)
    ]


@pytest.mark.parametrize("name", ORDERS)
@pytest.mark.parametrize("world_size", [1, 3])
def test_every_position_of_the_epoch_is_in_one_batch(name: str, world_size: int) -> None:
    for epoch in (0, 1):
        batcher = Batcher(LENGTHS, order=ORDERS[name], world_size=world_size, epoch=epoch, **OPTIONS)
        expected = Counter(Sampler(order=ORDERS[name], epoch=epoch).indices().tolist())
        found = batches_of(batcher)
        assert Counter(itertools.chain(*found)) == expected
        assert all(len(batch) * max(LENGTHS[batch]) <= 400 for batch in found if batch)


def test_without_sorting_batches_are_runs_of_the_order() -> None:
    order = samedeal.order("feistel", WEB + CODE, seed=3).exclude(range(0, 400, 3))
    positions = Sampler(order=order).indices().tolist()
    for batch in batches_of(Batcher(LENGTHS, order=order, keep_order=True, **OPTIONS)):
        first = positions.index(batch[0])
        assert batch == positions[first : first + len(batch)]


def test_lengths_by_source_are_joined() -> None:
    lengths = {"code": LENGTHS[WEB:], "web": LENGTHS[:WEB].tolist()}
    for order in (BLEND, BLEND.skip([(0, 10, 50)]), BLEND.to_dict()):
        batcher = Batcher(lengths, order=order, **OPTIONS)
        assert batcher.recipe == Batcher(LENGTHS, order=order, **OPTIONS).recipe
    inner = samedeal.order("feistel", 500).subset(range(0, 500, 1))
    mixed = samedeal.blend({"a": (inner, 1), "b": (samedeal.sharded([30, 20]), 2)})
    found = Batcher({"a": [3] * 500, "b": [4] * 50}, order=mixed, max_tokens=100)
    assert found.fingerprint() == Batcher([3] * 500 + [4] * 50, order=mixed, max_tokens=100).fingerprint()


ONLY_BLENDS = "a list, or a blend as the order, with the index space joined: only its sources have names"


@pytest.mark.parametrize(
    ("error", "field", "names", "lengths", "order"),
    [
        (UnknownNameError, "lengths", ["web", "code"], {"web": [1] * WEB, "books": [1] * CODE}, BLEND),
        (MissingError, "lengths", ["the lengths of each source, those of code too"], {"web": [1] * WEB}, BLEND),
        # A source without lengths is told before a wrong number of lengths, in every host.
        (MissingError, "lengths", ["the lengths of each source, those of code too"], {"web": [1]}, BLEND),
        (
            ContradictionError,
            "lengths",
            ["99 of the source code", "100, as many as the source has samples"],
            {"web": [1] * WEB, "code": [1] * 99},
            BLEND,
        ),
        (ContradictionError, "lengths", ["web"], {"web": [1] * CODE, "code": [1] * WEB}, BLEND),
        (ContradictionError, "lengths", [ONLY_BLENDS], {"web": [1]}, None),
        (ContradictionError, "lengths", [ONLY_BLENDS], {"web": [1]}, "feistel"),
        (ContradictionError, "lengths", [ONLY_BLENDS], {"web": [1]}, samedeal.order("feistel", 1)),
        (
            ContradictionError,
            "lengths",
            [ONLY_BLENDS],
            {"a": [1] * 4},
            samedeal.blend({"a": (samedeal.order("feistel", 4).subset([1, 2]), 1)}, index_space="shared"),
        ),
        (WrongTypeError, "lengths", [], {"web": "abc", "code": [1]}, BLEND),
        (OutOfRangeError, "lengths", [], {"web": [-1] * WEB, "code": [1] * CODE}, BLEND),
        (WrongTypeError, "lengths", [], {3: [1]}, BLEND),
    ],
)
def test_lengths_of_other_sources(
    error: type[SamedealError], field: str, names: list[str], lengths: Any, order: Any
) -> None:
    with fails(error, field) as caught:
        Batcher(lengths, order=order, **OPTIONS)
    assert all(name in str(caught.value) for name in names)


def test_the_order_has_its_own_seed_and_samples() -> None:
    with fails(ContradictionError, "seed"):
        Batcher(LENGTHS, order=BLEND, seed=3, **OPTIONS)
    with fails(ContradictionError, "samples"):
        Batcher(LENGTHS[1:], order=BLEND, **OPTIONS)
    for order, field in ((3, "name"), (["feistel"], "order"), (True, "name")):
        with fails(WrongTypeError, field):
            Batcher(LENGTHS, order=order, **OPTIONS)  # type: ignore[arg-type]
    with fails(UnknownNameError, "name"):
        Batcher(LENGTHS, order="sideways", **OPTIONS)


def test_a_run_goes_on_with_a_stage_on_other_ranks() -> None:
    first = Batcher(LENGTHS, order=BLEND, world_size=4, **OPTIONS)
    taken = [first.batch(step, rank).samples.tolist() for step in range(3) for rank in range(4)]
    state = first.state(3)
    # The stage begins with the next epoch, so the open epoch stays as it is.
    more = BLEND.stage(WEB + CODE, {"web": 1, "code": 3})
    second = Batcher(LENGTHS, order=more, world_size=3, **OPTIONS)
    second.resume(state)
    expected = Counter(Sampler(order=BLEND).indices().tolist())
    assert Counter(itertools.chain(*taken, *batches_of(second))) == expected
    second.set_epoch(1)
    assert Counter(itertools.chain(*batches_of(second))) == Counter(Sampler(order=more, epoch=1).indices().tolist())
    earlier = Batcher(LENGTHS, order=BLEND.stage(10, {"web": 1, "code": 3}), world_size=3, **OPTIONS)
    with fails(ContradictionError, "stages"):
        earlier.resume(state)


def test_the_recipe_says_all() -> None:
    order = samedeal.order("feistel", WEB + CODE, seed=3).subset(range(0, 400))
    for given in (order, BLEND, ORDERS["sharded"]):
        batcher = Batcher(LENGTHS, order=given, strategy="bucket", max_batch_size=4, boundaries=[30, 60], epoch=2)
        again = Batcher.from_recipe(batcher.recipe, LENGTHS, lists=given.lists, epoch=2)
        assert again.recipe_fingerprint() == batcher.recipe_fingerprint()
        assert json.loads(batcher.recipe)["order"]["name"] == given.to_dict()["name"]
        for made in (again, pickle.loads(pickle.dumps(batcher))):
            assert batches_of(made) == batches_of(batcher)
    shown = repr(Batcher(LENGTHS[:50], order=samedeal.order("feistel", 50).copies(2), max_tokens=300, rank=0))
    made = eval(shown, {"Batcher": Batcher, "Order": Order})
    assert batches_of(made) == batches_of(
        Batcher(LENGTHS[:50], order=samedeal.order("feistel", 50).copies(2), max_tokens=300)
    )
