"""Recipes: what is written is read again as the same sampler, and what is no recipe is an error."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from samedeal import (
    ContradictionError,
    MissingError,
    OutOfRangeError,
    SamedealError,
    Sampler,
    UnknownNameError,
    WrongTypeError,
    orders,
)


@pytest.mark.parametrize("order", orders())
def test_a_sampler_is_made_again_by_its_recipe(order: str) -> None:
    sampler = Sampler(101, order=order, seed=-3, world=3, rank=2, epoch=5, remainder="uneven", layout="contiguous")
    for recipe in (sampler.recipe, json.loads(sampler.recipe)):
        again = Sampler.from_recipe(recipe, rank=2, epoch=5)
        assert again.to_dict() == sampler.to_dict()
        assert list(again) == list(sampler)
        assert (again.recipe, again.recipe_fingerprint()) == (sampler.recipe, sampler.recipe_fingerprint())


def test_what_is_not_said_has_its_default() -> None:
    sampler = Sampler.from_recipe({"order": {"samples": np.int64(10)}, "deal": {"world_size": 4}}, rank=3)
    assert repr(sampler) == repr(Sampler(10, world=4, rank=3))
    assert sampler.recipe == (
        '{"samedeal":1,"order":{"name":"feistel","samples":10,"seed":0},'
        '"deal":{"world_size":4,"remainder":"pad","layout":"strided"}}'
    )


def test_shards_are_named_or_hashed() -> None:
    sizes = np.arange(300) % 9
    few = Sampler.sharded(sizes[:256], lanes=4, window=8, world=2)
    assert Sampler.from_recipe(few.recipe).to_dict() == few.to_dict()
    given = {"order": {"name": "sharded", "sizes": sizes[:256], "lanes": 4, "shuffle_window": 8}}
    assert Sampler.from_recipe({**given, "deal": {"world_size": 2}}).recipe == few.recipe
    many = Sampler.sharded(sizes, lanes=4, window=8, world=2)
    assert isinstance(json.loads(many.recipe)["order"]["sizes"], str)
    with pytest.raises(MissingError, match="sizes is missing"):
        Sampler.from_recipe(many.recipe)
    assert Sampler.from_recipe(many.recipe, sizes=sizes).to_dict() == many.to_dict()
    with pytest.raises(ContradictionError, match="sizes"):
        Sampler.from_recipe(many.recipe, sizes=sizes[1:])


def test_a_list_does_not_choose_the_order() -> None:
    with pytest.raises(ContradictionError, match="sizes"):
        Sampler.from_recipe({"order": {"samples": 10}}, sizes=[5, 5])
    assert Sampler.from_recipe({"order": {"name": "sharded"}}, sizes=[5, 5]).order == "sharded"


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
        ({"order": {"samples": 7, "name": "été"}}, UnknownNameError, "order"),
        ({"order": {"samples": "7"}}, WrongTypeError, "samples"),
        ({"order": {"samples": float("nan")}}, WrongTypeError, "samples"),
        ({"order": {"samples": 7, "sed": 1}}, UnknownNameError, "order-member"),
        ({**WHOLE, "deal": {"world_size": 0}}, OutOfRangeError, "world-size"),
        ({"order": {"samples": 7, "lanes": 1}}, ContradictionError, "lanes"),
        ({}, MissingError, "order"),
        (json.dumps(WHOLE) + " " * 2**20, OutOfRangeError, "recipe"),
        ('{"order":{"samples":7,"name":"\udc80"}}', WrongTypeError, "order"),
    ],
)
def test_what_is_no_recipe_is_refused(recipe: Any, error: type[SamedealError], field: str) -> None:
    with pytest.raises(error) as caught:
        Sampler.from_recipe(recipe)
    assert caught.value.field == field


def test_rank_and_epoch_are_checked() -> None:
    for name, value in (("rank", 1), ("rank", -1), ("epoch", -1), ("epoch", 2**64)):
        with pytest.raises(OutOfRangeError) as caught:
            Sampler.from_recipe(WHOLE, **{name: value})
        assert caught.value.field == name
