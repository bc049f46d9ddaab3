"""The Python host, made for the current interface, against a component with a larger one."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path

import pytest
import samedeal
from samedeal import SamedealError, Sampler, UnknownNameError
from samedeal.engine import component as engine
from samedeal.engine.core import Core
from samedeal.generated.batches import Batcher, BatchRecipe

GROWN = Path(os.environ["SAMEDEAL_GROWN"])
VECTORS = Path(__file__).parents[1] / "vectors"


@pytest.fixture(autouse=True)
def grown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replaces the component of the package by one that was built with the feature `grown`."""
    monkeypatch.setattr(engine, "COMPONENT", str(GROWN / "samedeal.wasm"))
    monkeypatch.setattr(engine, "process", engine.Process())


def test_another_order_is_a_name() -> None:
    assert list(Sampler(5, order="backward")) == [4, 3, 2, 1, 0]
    with pytest.raises(UnknownNameError) as caught:
        Sampler(5, order="sideways")
    assert "backward" in caught.value.known


@pytest.mark.parametrize("group", ["order-feistel", "order-torch", "deal-strided"])
def test_golden_cases_are_as_they_were(group: str) -> None:
    compared = 0
    for case in json.loads((VECTORS / f"{group}.json").read_text())["cases"]:
        if case.get("slow") or "calls" not in case:
            continue
        made = case["sampler"]
        sampler = Sampler.from_recipe(made["recipe"], epoch=int(made["epoch"]), rank=made["rank"])
        for step in case["calls"]:
            if step["call"] in ("at-epoch", "at-rank", "rest", "resume"):
                break
            if step["call"] == "indices" and "returns" in step:
                start = int(step["args"]["start"])
                found = sampler.indices(start, start + step["args"]["count"])
                assert list(map(str, found)) == step["returns"], case["name"]
                compared += 1
    assert compared > 2


def recipe(**batch: object) -> BatchRecipe:
    import numpy

    text = json.dumps({"batch": batch, "order": {"name": "sequential"}})
    made = BatchRecipe(Core(2**30), text, 4, ())
    made.supply(numpy.array([1, 3, 2, 2], dtype=numpy.uint32))
    return made


def test_a_strategy_and_an_option_are_names_in_a_text() -> None:
    made = recipe(strategy="as-they-come", max_batch_size=2, latest_epoch=99)
    assert '"max_batch_size":2' in made.recipe()
    batcher = Batcher(made.core, made, 0)
    metrics = {metric.name: metric.number for metric in batcher.metrics()}
    assert (metrics["padded"], metrics["padding-tokens"]) == (10, 2)


def test_a_failure_of_another_kind_is_the_base_class() -> None:
    with pytest.raises(SamedealError) as caught:
        recipe(max_tokens=9, latest_epoch=100)
    error = caught.value
    assert type(error) is samedeal.SamedealError
    assert (error.kind, error.field, error.value, error.max) == (
        "too-late",
        "latest_epoch",
        "100",
        99,
    )
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.kind, copy.facts, str(copy)) == (
        error.kind,
        error.facts,
        "latest_epoch is 100; allowed: 0 to 99",
    )
