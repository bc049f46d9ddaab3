"""The kind of a text, the continuation of a state, and the differences between two texts."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import samedeal
from samedeal import (
    Batcher,
    ContradictionError,
    OutOfRangeError,
    Reading,
    Sampler,
    Schedule,
    UnknownNameError,
    WrongTypeError,
)

LENGTHS = [10, 30, 20, 7, 12, 9]


def test_every_object_says_what_its_texts_are() -> None:
    made: dict[str, Any] = {
        "sampler": Sampler(100),
        "batcher": Batcher(LENGTHS, max_tokens=64),
        "reading": Reading([40, 10], batch_size=4),
        "schedule": Schedule(100, 10),
    }
    for of, one in made.items():
        assert samedeal.inspect(one.recipe) == ("recipe", of)
        assert samedeal.inspect(one.state(1)) == ("state", of)
    assert samedeal.inspect('{"samedeal": 1, "kind": "index"}') == ("index", "batcher")
    split = samedeal.Split({"test": 1, "training": 9})
    assert samedeal.inspect(split.recipe) == ("recipe", "split")


def test_what_goes_on_is_what_the_state_leaves() -> None:
    state = Sampler(100, seed=3, world_size=4).state(5)
    recipe = samedeal.recipe_after(state, {"deal": {"world_size": 3, "remainder": "uneven"}})
    rest = []
    for rank in range(3):
        sampler = Sampler.from_recipe(recipe, rank=rank)
        sampler.resume({"samedeal": state})
        rest += sampler.indices().tolist()
    assert sorted(rest + Sampler(100, seed=3).indices(0, 20).tolist()) == list(range(100))
    assert Sampler.from_recipe(samedeal.recipe_after(state)).seed == 3

    batcher = Batcher(LENGTHS, max_tokens=40, seed=1)
    again = Batcher.from_recipe(samedeal.recipe_after(batcher.state(1), '{"deal": {"world_size": 2}}'), LENGTHS)
    again.resume(batcher.state(1))
    assert again.world_size == 2
    assert json.loads(again.state(0))["history"] == [{"world_size": 1, "steps": 1}]


def test_what_differs_is_told_with_both_values() -> None:
    one, other = Sampler(100, seed=3), Sampler(100, seed=2**60, world_size=4)
    assert samedeal.differences(one.recipe, '{"order": {"samples": 100, "seed": 3}}') == ()
    assert samedeal.differences(one.recipe, other.recipe) == (
        ("order.seed", "3", f'"{2**60}"', "order"),
        ("deal.world_size", "1", "4", "deal"),
    )
    # Dictionaries are accepted, too: here with all members of a state.
    state = json.loads(Batcher(LENGTHS, max_tokens=64).state(1))
    found = {it.path: (it.one, it.other, it.decides) for it in samedeal.differences(state, {})}
    assert found["recipe.batch.max_tokens"] == ("64", None, "batch")
    assert found["history[0].steps"] == ("1", None, "progress")

    for wrong in ("[]", "", 7, b"{}", {"a": object()}):
        with pytest.raises(WrongTypeError, match="other"):
            samedeal.differences("{}", wrong)  # type: ignore[arg-type]
    with pytest.raises(ContradictionError, match="one is a; allowed: each member once"):
        samedeal.differences('{"a": 1, "a": 1}', "{}")


def test_what_is_none_of_them_is_refused() -> None:
    for text in ("", "[]", "{}", '{"order": 7}'):
        with pytest.raises(WrongTypeError, match="text"):
            samedeal.inspect(text)
    with pytest.raises(WrongTypeError, match="text"):
        samedeal.inspect(b"{}")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="kind"):
        samedeal.inspect('{"samedeal": 1, "kind": "future"}')
    with pytest.raises(OutOfRangeError, match="samedeal"):
        samedeal.inspect('{"samedeal": 2, "order": {}}')
    with pytest.raises(OutOfRangeError, match="16777216"):
        samedeal.inspect(" " * (2**24 + 1))
    with pytest.raises(WrongTypeError, match="state"):
        samedeal.recipe_after(json.dumps({"order": {"samples": 3}}))
    with pytest.raises(WrongTypeError, match="sections"):
        samedeal.recipe_after(Sampler(9).state(0), [])  # type: ignore[arg-type]
    with pytest.raises(WrongTypeError, match="sections"):
        samedeal.recipe_after(Sampler(9).state(0), {"deal": object()})


def test_floats_become_whole_numbers_in_their_proportions() -> None:
    assert samedeal.whole_weights(np.array([0.7, 0.3], ">f4").astype(">f8").round(6)).tolist() == [7, 3]
    assert samedeal.whole_weights(iter([1, 0.5])).tolist() == [2, 1]
    for wrong, error in [
        ([0.5, -1], OutOfRangeError),
        ([float("nan")], OutOfRangeError),
        ([1.0, 1e-20], OutOfRangeError),
        ([[0.5]], WrongTypeError),
        (["a"], WrongTypeError),
        (0.5, WrongTypeError),
        (np.ma.masked_array([0.5, 0.1], [False, True]), WrongTypeError),
    ]:
        with pytest.raises(error) as caught:
            samedeal.whole_weights(wrong)
        assert caught.value.field == "weights"


@pytest.mark.parametrize("floats", [[0.7, 0.3], np.array([0.5]), (1, 2.0)])
def test_advice_for_weights_that_are_floats_helps(floats: Any) -> None:
    with pytest.raises(WrongTypeError, match=r"samedeal\.whole_weights makes them of floats"):
        samedeal.weighted(floats)
    samedeal.weighted(samedeal.whole_weights(floats), samples=10)
