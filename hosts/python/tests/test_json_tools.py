"""Texts pass through JSON tools that have only floats of 64 bits: the samples stay the same, or there is an error."""

from __future__ import annotations

import json
from typing import Any

import pytest
import samedeal
from samedeal import (
    Batcher,
    ChunkStream,
    ContradictionError,
    OutOfRangeError,
    Reading,
    Sampler,
    Schedule,
    ShardPlan,
    Split,
    WrongTypeError,
)

SEEDS = (0, -7, 2**53 - 1, 2**53 + 1, 2**63 - 1, -(2**63))


def whole(text: str) -> str:
    """A text as a tool with floats only writes it, such as `JSON.stringify`."""

    def number(digits: str) -> float | int:
        value = float(digits)
        return int(value) if value.is_integer() else value

    return json.dumps(json.loads(text, parse_int=number), separators=(",", ":"), ensure_ascii=True)


def spread(text: str) -> str:
    """A text over many lines, as `jq .` writes it."""
    return json.dumps(json.loads(whole(text)), indent=2, sort_keys=True)


TOOLS = pytest.mark.parametrize("tool", [whole, spread])


def blend(seed: int) -> samedeal.Order:
    inner = samedeal.blend({"é": (30, 1), "b": (samedeal.order("feistel", 20).exclude([3]), 1)})
    sources: dict[str, Any] = {
        "web": (400, 3),
        "own": (samedeal.order("feistel", 50, seed=seed), 1),
        "more": (inner, 1),
        "classes": (samedeal.balance([0, 1, 1, 0], [1, 2.5]), 1),
        "grown": (samedeal.grown(30, [(1, 4, 40)]), 1),
    }
    return samedeal.blend(sources, samples=300, seed=seed)


@TOOLS
@pytest.mark.parametrize("seed", SEEDS)
def test_samplers_survive(tool: Any, seed: int) -> None:
    orders: list[Any] = [samedeal.order("feistel", 100, seed=seed).skip([(3, 0, 1)]).copies(2), blend(seed)]
    for order in orders:
        sampler = Sampler(order=order, world_size=2, rank=1, epoch=1)
        again = Sampler.from_recipe(tool(sampler.recipe), rank=1, epoch=1)
        assert again.recipe_fingerprint() == sampler.recipe_fingerprint()
        assert list(again) == list(sampler)
        state = sampler.state(8)
        again.resume(tool(state))
        assert list(again) == list(sampler[8:])
        assert again.state(0) == state
        copy = samedeal.Order(json.loads(tool(order.to_json())))
        assert Sampler(order=copy).recipe == Sampler(order=order).recipe


@TOOLS
@pytest.mark.parametrize("seed", SEEDS)
def test_all_kinds_of_recipes_survive(tool: Any, seed: int) -> None:
    made: list[Any] = [
        Sampler(100, seed=seed),
        Schedule(100, 4, seed=seed, epochs=3),
        ShardPlan([40, 50, 60], world_size=2, seed=seed),
        ChunkStream(1, readers=2, chunks=9, seed=seed),
        Reading([40, 50, 60], seed=seed),
        Reading([40, 50, 60], seed=seed, deal="shards"),
        Split({"test": 1, "training": 4}, seed=seed),
        Batcher([9, 8, 7, 6, 5, 4], max_tokens=2**64 - 1, seed=seed),
    ]
    for own in made:
        beside = (own.lengths,) if isinstance(own, Batcher) else ()
        place = {"reader": 1} if isinstance(own, ChunkStream) else {}
        again = type(own).from_recipe(tool(own.recipe), *beside, **place)
        assert again.recipe == own.recipe
        if not repr(own).startswith("<"):
            assert eval(repr(own), vars(samedeal)).recipe == own.recipe
        if isinstance(own, (Schedule, Reading, Batcher)):
            assert again.resume(tool(own.state(1))) is not None or isinstance(own, Batcher)


@pytest.mark.parametrize("seed", [2**53, -(2**53), 2**63 - 1])
def test_a_number_that_may_be_rounded_is_refused(seed: int) -> None:
    recipe = f'{{"order": {{"samples": 10, "seed": {seed}}}}}'
    with pytest.raises(OutOfRangeError, match="in quotes, because JSON tools round such numbers") as caught:
        Sampler.from_recipe(recipe)
    assert caught.value.field == "seed"
    # Python's own integers are exact.
    sampler = Sampler.from_recipe(json.loads(recipe))
    assert sampler.seed == seed
    with pytest.raises(WrongTypeError, match=f"seed is {seed}; .* in quotes"):
        sampler.resume(sampler.state(0).replace(f'"{seed}"', str(seed)))
    with pytest.raises(ContradictionError):
        sampler.resume(sampler.state(0).replace(f'"{seed}"', "7"))


def test_a_fraction_is_refused() -> None:
    text = json.dumps(json.loads(Sampler(10).recipe, parse_int=float))
    with pytest.raises(WrongTypeError):
        Sampler.from_recipe(text)


def test_an_epoch_survives() -> None:
    sampler = Sampler(10, epoch=2**64 - 1)
    again = Sampler(10)
    again.resume(whole(sampler.state(3)))
    assert (again.epoch, again.consumed) == (2**64 - 1, 3)
