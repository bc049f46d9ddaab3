"""Recipes: a written recipe is read as the same sampler, and other texts are errors."""

from __future__ import annotations

import hashlib
import json
import pickle
from typing import Any

import numpy as np
import pytest
from samedeal import (
    Batcher,
    BatchStream,
    ContradictionError,
    MissingError,
    OutOfRangeError,
    SamedealError,
    Sampler,
    UnknownMemberError,
    UnknownNameError,
    WrongTypeError,
    plain_orders,
)


@pytest.mark.parametrize("order", plain_orders())
def test_a_sampler_is_made_again_by_its_recipe(order: str) -> None:
    sampler = Sampler(101, order=order, seed=-3, world_size=3, rank=2, epoch=5, remainder="uneven", layout="contiguous")
    for recipe in (sampler.recipe, json.loads(sampler.recipe)):
        again = Sampler.from_recipe(recipe, rank=2, epoch=5)
        assert list(again) == list(sampler)
        assert (again.recipe, again.recipe_fingerprint()) == (sampler.recipe, sampler.recipe_fingerprint())


def test_what_is_not_said_has_its_default() -> None:
    sampler = Sampler.from_recipe({"order": {"samples": np.int64(10)}, "deal": {"world_size": 4}}, rank=3)
    assert repr(sampler) == repr(Sampler(10, world_size=4, rank=3))
    assert sampler.recipe == (
        '{"samedeal":1,"order":{"name":"feistel","samples":10,"seed":0},'
        '"deal":{"world_size":4,"remainder":"pad","layout":"strided"}}'
    )


def test_shards_are_named_or_hashed() -> None:
    sizes = np.arange(300) % 9
    few = Sampler.sharded(sizes[:256], lanes=4, shuffle_window=8, world_size=2)
    assert Sampler.from_recipe(few.recipe).config_fingerprint() == few.config_fingerprint()
    given = {"order": {"name": "sharded", "sizes": sizes[:256], "lanes": 4, "shuffle_window": 8}}
    assert Sampler.from_recipe({**given, "deal": {"world_size": 2}}).recipe == few.recipe
    many = Sampler.sharded(sizes, lanes=4, shuffle_window=8, world_size=2)
    assert isinstance(json.loads(many.recipe)["order"]["sizes"], str)
    with pytest.raises(MissingError, match="sizes is missing"):
        Sampler.from_recipe(many.recipe)
    assert Sampler.from_recipe(many.recipe, lists={"sizes": sizes}).config_fingerprint() == many.config_fingerprint()
    with pytest.raises(ContradictionError, match="sizes"):
        Sampler.from_recipe(many.recipe, lists={"sizes": sizes[1:]})


def test_a_list_does_not_choose_the_order() -> None:
    with pytest.raises(ContradictionError, match="sizes"):
        Sampler.from_recipe({"order": {"samples": 10}}, lists={"sizes": [5, 5]})
    assert Sampler.from_recipe({"order": {"name": "sharded"}}, lists={"sizes": [5, 5]}).order == "sharded"


WHOLE: dict[str, Any] = {"order": {"samples": 7}}
CIRCLE: dict[str, Any] = {}
CIRCLE["order"] = CIRCLE


@pytest.mark.parametrize(
    ("recipe", "error", "field"),
    [
        ("", WrongTypeError, "recipe"),
        (None, WrongTypeError, "recipe"),
        (b"{}", WrongTypeError, "recipe"),
        ([WHOLE], WrongTypeError, "recipe"),
        (CIRCLE, WrongTypeError, "recipe"),
        ({"order": {"samples": {7}}}, WrongTypeError, "recipe"),
        ({"order": {"samples": 7.5}}, WrongTypeError, "samples"),
        ({"order": {"samples": 1e6}}, WrongTypeError, "samples"),
        ({"order": {"sizes": [5, 5.5]}}, WrongTypeError, "sizes"),
        ({"order": {"samples": 7, "name": "été"}}, UnknownNameError, "name"),
        ({"order": {"samples": "7"}}, WrongTypeError, "samples"),
        ({"order": {"samples": float("nan")}}, WrongTypeError, "samples"),
        ({"order": {"samples": 7, "sed": 1}}, UnknownMemberError, "order"),
        ({**WHOLE, "deal": {"world_size": 0}}, OutOfRangeError, "world_size"),
        ({"order": {"samples": 7, "lanes": 1}}, ContradictionError, "lanes"),
        ({}, MissingError, "order"),
        (json.dumps(WHOLE) + " " * 2**24, OutOfRangeError, "recipe"),
        ('{"order":{"samples":7,"name":"\udc80"}}', WrongTypeError, "name"),
    ],
)
def test_what_is_no_recipe_is_refused(recipe: Any, error: type[SamedealError], field: str) -> None:
    with pytest.raises(error) as caught:
        Sampler.from_recipe(recipe)
    assert caught.value.field == field


def test_rank_and_epoch_are_checked() -> None:
    value: Any
    for name, value in (("rank", 1), ("rank", -1), ("epoch", -1), ("epoch", 2**64)):
        with pytest.raises(OutOfRangeError) as caught:
            Sampler.from_recipe(WHOLE, **{name: value})
        assert caught.value.field == name


LENGTHS = np.random.default_rng(3).integers(0, 300, 1_000)
BATCHES: list[dict[str, Any]] = [
    {"max_tokens": 4_000, "order": "torch", "seed": 5},
    {"max_cost": 10**9, "counting": "weighted", "quadratic": 3, "world_size": 3},
    {"strategy": "bucket", "boundaries": [3, 80], "max_batch_size": 4},
    {"strategy": "pack", "capacity": 512, "packing": "optimal", "batch_window": 100, "tail": "keep"},
    {"strategy": "pad-to-max", "too_long": "drop", "max_length": 200},
]


@pytest.mark.parametrize("options", BATCHES, ids=range(len(BATCHES)))
def test_a_batcher_is_made_again_by_its_recipe(options: dict[str, Any]) -> None:
    world_size = options.get("world_size", 1)
    for lengths in (LENGTHS, LENGTHS[:200]):
        batcher = Batcher(lengths, rank=world_size - 1, epoch=2, **options)
        assert batcher.recipe_fingerprint() == hashlib.sha256(batcher.recipe.encode()).hexdigest()
        for recipe in (batcher.recipe, json.loads(batcher.recipe)):
            again = Batcher.from_recipe(recipe, lengths, rank=world_size - 1, epoch=2)
            assert (again.recipe, again.recipe_fingerprint()) == (batcher.recipe, batcher.recipe_fingerprint())
            assert again.fingerprint() == batcher.fingerprint()
            assert (again.rank, again.world_size, again.epoch) == (world_size - 1, world_size, 2)
    assert Batcher.from_recipe(batcher.recipe).fingerprint() == Batcher(lengths, **options).fingerprint()


def test_a_recipe_of_batches_says_what_the_options_say() -> None:
    recipe = {
        "order": {"seed": np.int32(7)},
        "deal": {"world_size": 2},
        "batch": {"max_tokens": 900, "too_long": "truncate", "lengths": LENGTHS},
    }
    made, wanted = (
        Batcher.from_recipe(recipe),
        Batcher(LENGTHS, seed=7, world_size=2, max_tokens=900, too_long="truncate"),
    )
    assert made.recipe == wanted.recipe
    assert made.fingerprint() == wanted.fingerprint()
    # The lengths are a hash in the canonical recipe.
    assert made.lengths.tolist() == LENGTHS.tolist()
    assert isinstance(json.loads(made.recipe)["batch"]["lengths"], str)
    made.set_epoch(3)
    assert pickle.loads(pickle.dumps(made)).fingerprint() == made.fingerprint()
    assert Batcher.from_recipe({"batch": {"max_tokens": 9, "lengths": [4, 5]}}).lengths.tolist() == [4, 5]


def test_lists_of_batches_are_named_or_hashed() -> None:
    batcher = Batcher(LENGTHS, strategy="bucket", boundaries=range(300))
    with pytest.raises(MissingError, match="boundaries is missing"):
        Batcher.from_recipe(batcher.recipe, LENGTHS)
    with pytest.raises(MissingError, match="lengths is missing"):
        Batcher.from_recipe(batcher.recipe, lists={"boundaries": range(300)})
    again = Batcher.from_recipe(batcher.recipe, LENGTHS, lists={"boundaries": range(300)})
    assert again.fingerprint() == batcher.fingerprint()
    assert "boundaries=<300 numbers>" in repr(again)
    for lengths, boundaries in ((LENGTHS[1:], range(300)), (LENGTHS, range(1, 300))):
        with pytest.raises(ContradictionError):
            Batcher.from_recipe(batcher.recipe, lengths, lists={"boundaries": boundaries})


def test_a_stream_is_made_again_by_its_recipe() -> None:
    stream = BatchStream(max_tokens=500, seed=4, world_size=2, rank=1)
    again = BatchStream.from_recipe(stream.recipe, rank=1)
    assert (again.recipe, again.recipe_fingerprint()) == (stream.recipe, stream.recipe_fingerprint())
    found = []
    for each in (stream, again):
        each.push(range(1_000), LENGTHS)
        each.flush()
        found.append([batch.samples.tolist() for batch in each])
    assert found[0] == found[1]
    # The recipe of a stream is also a recipe for known lengths.
    assert Batcher.from_recipe(stream.recipe, LENGTHS).world_size == 2


@pytest.mark.parametrize(
    ("recipe", "error", "field"),
    [
        ("", WrongTypeError, "recipe"),
        (None, WrongTypeError, "recipe"),
        (CIRCLE, WrongTypeError, "recipe"),
        ({}, MissingError, "max_tokens"),
        ({"batch": {"max_tokens": 9.5}}, WrongTypeError, "max_tokens"),
        ({"batch": {"max_token": 9}}, UnknownMemberError, "batch"),
        ({"batch": {"max_tokens": 9}, "order": {"samples": 1_001}}, ContradictionError, "samples"),
        ({"batch": {"max_tokens": 9}, "order": {"name": "sharded"}}, MissingError, "sizes"),
        ({"batch": {"max_tokens": 9}, "deal": {"remainder": "pad"}}, ContradictionError, "remainder"),
        ({"batch": {"max_tokens": 9, "capacity": 9}}, ContradictionError, "capacity"),
    ],
)
def test_what_is_no_recipe_of_batches_is_refused(recipe: Any, error: type[SamedealError], field: str) -> None:
    with pytest.raises(error) as caught:
        Batcher.from_recipe(recipe, LENGTHS)
    assert caught.value.field == field


def test_samplers_and_batchers_take_their_own_recipes() -> None:
    with pytest.raises(ContradictionError, match="batch"):
        Sampler.from_recipe({**WHOLE, "batch": {"max_tokens": 9}})
    for name, value in (("rank", 1), ("rank", -1), ("epoch", -1), ("epoch", 2**64)):
        given: dict[str, Any] = {name: value}
        with pytest.raises(OutOfRangeError) as caught:
            Batcher.from_recipe({"batch": {"max_tokens": 900}}, LENGTHS, **given)
        assert caught.value.field == name
