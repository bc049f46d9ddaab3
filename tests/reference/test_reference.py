"""Holds the golden cases of tests/vectors against the second implementation, and those files against their schema.

To run it: `python -m pip install pytest jsonschema`, then `python -m pytest tests/reference`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from samedeal_reference import Config, Failure, Place, Sampler

VECTORS = Path(__file__).resolve().parent.parent / "vectors"
SCHEMA = json.loads((VECTORS / "schema.json").read_text(encoding="utf-8"))
FILES = sorted(path for path in VECTORS.glob("*.json") if path.name != "schema.json")

# Left out unless SAMEDEAL_SLOW is set: 214,748,364 samples take plain Python a quarter of an hour and 1 GB.
SLOW_CASES = {"torch 214748364 seed 0 epoch 0, rank 0 of 1, pad strided"}

# Calls that return numbers of 64 bits, which are strings in the files.
WIDE = {"num-samples", "num-padding", "num-positions", "num-dropped", "num-batches", "indices", "batch", "sample-at"}


def number(value: Any) -> Any:
    """An argument of 64 bits is a string; numbers of 32 bits and booleans are themselves."""
    return int(value) if isinstance(value, str) else value


def read_config(config: dict[str, Any]) -> Config:
    text = ("order", "remainder", "layout")
    return Config(**{name: value if name in text else number(value) for name, value in config.items()})


def written(call: str, value: Any) -> Any:
    """A result as it is written in the files."""
    if isinstance(value, Config):
        return vars(value) | {name: str(getattr(value, name)) for name in ("samples", "seed", "epoch")}
    if isinstance(value, Place):
        return vars(value) | {name: str(getattr(value, name)) for name in ("position", "index", "batch")}
    if call in WIDE:
        return [str(item) for item in value] if isinstance(value, list) else str(value)
    return value


def failure(fails: dict[str, str]) -> dict[str, str]:
    """SPEC.md does not prescribe the wording of `allowed`."""
    return {name: fails[name] for name in ("kind", "field", "value")}


def outcome(call: dict[str, Any], sampler: Sampler) -> dict[str, Any]:
    args = {name.replace("-", "_"): number(value) for name, value in call.get("args", {}).items()}
    try:
        return {"returns": written(call["call"], getattr(sampler, call["call"].replace("-", "_"))(**args))}
    except Failure as error:
        return {"fails": vars(error)}


def cases() -> list[Any]:
    found = []
    for path in FILES:
        for case in json.loads(path.read_text(encoding="utf-8"))["cases"]:
            left_out = case["name"] in SLOW_CASES and "SAMEDEAL_SLOW" not in os.environ
            marks = [pytest.mark.skip(reason="slow: set SAMEDEAL_SLOW")] if left_out else []
            found.append(pytest.param(case, id=f"{path.stem}: {case['name']}", marks=marks))
    return found


@pytest.mark.parametrize("case", cases())
def test_case(case: dict[str, Any]) -> None:
    if "fails" in case:
        with pytest.raises(Failure) as caught:
            Sampler(read_config(case["config"]))
        assert vars(caught.value) == failure(case["fails"])
        return
    sampler = Sampler(read_config(case["config"]))
    for i, call in enumerate(case["calls"]):
        expected = {"fails": failure(call["fails"])} if "fails" in call else {"returns": call["returns"]}
        assert outcome(call, sampler) == expected, f"call {i}: {call['call']} {call.get('args', '')}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_schema(path: Path) -> None:
    Draft202012Validator.check_schema(SCHEMA)
    data = json.loads(path.read_text(encoding="utf-8"))
    Draft202012Validator(SCHEMA).validate(data)
    assert data["group"] == path.stem


def test_slow_cases_are_marked() -> None:
    found = [case for path in FILES for case in json.loads(path.read_text(encoding="utf-8"))["cases"]]
    assert {case["name"] for case in found if case.get("slow")} == SLOW_CASES
