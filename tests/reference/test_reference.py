"""Holds the golden cases of tests/vectors against the second implementation, and those files against their schema.

To run it: `python -m pip install pytest jsonschema`, then `python -m pytest tests/reference`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import samedeal_reference as reference
from jsonschema import Draft202012Validator

VECTORS = Path(__file__).resolve().parent.parent / "vectors"
SCHEMA = json.loads((VECTORS / "schema.json").read_text(encoding="utf-8"))
FILES = sorted(path for path in VECTORS.glob("*.json") if path.name != "schema.json")

# Left out unless SAMEDEAL_SLOW is set: 214,748,364 samples take plain Python a quarter of an hour and 1 GB.
SLOW_CASES = {"torch 214748364 seed 0 epoch 0, rank 0 of 1, pad strided"}

# Numbers of 64 bits are strings in the files: the results, or fields of results, that are such numbers or lists.
WIDE_RESULTS = {
    *("num-samples", "num-padding", "num-positions", "num-dropped", "num-batches", "indices", "batch", "sample-at"),
    *("num-rounds", "loads", "rows", "chunks", "held-by"),
    *("epoch", "num-steps", "num-idle-readers", "round-of"),
}
WIDE_FIELDS: dict[type, tuple[str, ...]] = {
    reference.Config: ("samples", "seed", "epoch", "consumed"),
    reference.BatchPlace: ("step",),
    reference.Place: ("position", "index", "batch"),
    reference.Round: ("start", "count", "spans"),
    reference.ShardPlace: ("offset",),
    reference.Balance: ("least", "most", "total"),
    reference.Steps: ("least", "most"),
    reference.Event: ("number", "start", "claim"),
    reference.Progress: ("positions", "committed", "claimed", "entries"),
    reference.Metrics: tuple(vars(reference.Metrics())),
    reference.Run: ("samples", "costs"),
}

# Fields and arguments that are text, not numbers.
TEXTS = {"order", "remainder", "layout", "policy", "worker-policy", "weight", "tier", "name", "role", "environment"}
TEXTS |= {"deal", "strategy", "counting", "packing", "too-long", "tail", "side", "state", "header", "entry"}


def read(name: str, value: Any) -> Any:
    """A field or an argument."""
    if name == "environment":
        return [tuple(pair) for pair in value]
    if isinstance(value, dict):
        return read_fields(value)
    if isinstance(value, list):
        return [read(name, item) for item in value]
    return int(value) if isinstance(value, str) and name not in TEXTS else value


def read_fields(values: dict[str, Any]) -> dict[str, Any]:
    return {name.replace("-", "_"): read(name, value) for name, value in values.items()}


def make(case: dict[str, Any]) -> Any:
    """What a case is about."""
    kind = next(name for name in case if name not in ("name", "slow", "fails", "calls"))
    fields = read_fields(case[kind])
    if kind == "config":
        return reference.Sampler(reference.Config(**fields))
    if kind == "sharded":
        return reference.Sampler.sharded(reference.Config(**fields["config"]), **fields["sharding"])
    if kind == "plan":
        if fields["locality"] is not None:
            fields["locality"] = reference.Locality(**fields["locality"])
        return reference.Plan(reference.PlanConfig(**fields))
    if kind == "chunk-stream":
        return reference.ChunkStream(**fields)
    if kind == "ledger":
        return reference.Ledger(**fields)
    if kind == "reading":
        return reference.Reading(reference.ReadingConfig(fields["sizes"], **fields["options"]))
    if kind == "mesh":
        return reference.Mesh(fields["world"], [reference.Axis(**axis) for axis in fields["axes"]])
    if kind == "batcher":
        return reference.Batcher(reference.BatchConfig(**fields))
    if kind == "batch-stream":
        return reference.BatchStream(reference.BatchConfig(**fields["config"]), fields["rank"])
    assert kind == "functions"
    return FUNCTIONS


FUNCTIONS = SimpleNamespace(
    verify=reference.verify,
    header=reference.header,
    detect=reference.detect,
    variables=reference.variables,
    pad=reference.pad,
    pack=reference.pack_rows,
)


def as_text(value: Any) -> Any:
    return [str(item) for item in value] if isinstance(value, list) else str(value)


def written(call: str, value: Any) -> Any:
    """A result as it is written in the files."""
    if hasattr(value, "__dataclass_fields__"):
        wide = WIDE_FIELDS.get(type(value), ())
        fields = vars(value).items()
        return {name.replace("_", "-"): as_text(item) if name in wide else item for name, item in fields}
    if isinstance(value, list) and value and hasattr(value[0], "__dataclass_fields__"):
        return [written(call, item) for item in value]
    return as_text(value) if call in WIDE_RESULTS and value is not None else value


def same(found: dict[str, Any], expected: dict[str, Any]) -> bool:
    """Whether an outcome is the expected one, but for what is for people: SPEC.md does not prescribe it."""
    if "fails" in expected:
        ours, theirs = found.get("fails"), {name: expected["fails"][name] for name in ("kind", "field", "value")}
        if ours is not None and ours["value"] is None:
            theirs["value"] = None
        return ours == theirs
    returns = expected["returns"]
    if isinstance(returns, dict) and "warnings" in returns:
        returns = returns | {"warnings": len(returns["warnings"])}
    return found == {"returns": returns}


def outcome(call: dict[str, Any], subject: Any) -> tuple[dict[str, Any], Any]:
    """What a call returns, and what the next one is about: another reading, where it gives one."""
    function = getattr(subject, call["call"].replace("-", "_"))
    try:
        value = function(**read_fields(call.get("args", {})))
    except reference.Failure as error:
        return {"fails": vars(error)}, subject
    if isinstance(value, reference.Reading):
        return {"returns": None}, value
    return {"returns": written(call["call"], value)}, subject


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
        with pytest.raises(reference.Failure) as caught:
            make(case)
        assert same({"fails": vars(caught.value)}, case), caught.value
        return
    subject = make(case)
    for i, call in enumerate(case["calls"]):
        found, subject = outcome(call, subject)
        assert same(found, call), f"call {i}: {call}, and not {found}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_schema(path: Path) -> None:
    Draft202012Validator.check_schema(SCHEMA)
    data = json.loads(path.read_text(encoding="utf-8"))
    Draft202012Validator(SCHEMA).validate(data)
    assert data["group"] == path.stem


def test_slow_cases_are_marked() -> None:
    found = [case for path in FILES for case in json.loads(path.read_text(encoding="utf-8"))["cases"]]
    assert {case["name"] for case in found if case.get("slow")} == SLOW_CASES
