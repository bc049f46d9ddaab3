"""Runs the golden cases of tests/vectors on the second implementation, and checks these files against their schema.

To run it: `python -m pip install pytest jsonschema-rs`, then `python -m pytest tests/reference`.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema_rs
import pytest
import samedeal_reference as reference

VECTORS = Path(__file__).resolve().parent.parent / "vectors"
CASES = Path(os.environ.get("SAMEDEAL_CASES") or VECTORS)
"""The golden cases, or other cases in their form, such as random ones."""
SCHEMA = json.loads((VECTORS / "schema.json").read_text(encoding="utf-8"))
GROUPS = {"deal-unit", "splits", "steps", "batches-composed"}
"""Groups that must not be missing, because no other group tests their part of this implementation."""
FILES = sorted(path for path in CASES.glob("*.json") if path.name != "schema.json")

# Cases that never run here: 214,748,364 samples take plain Python a quarter of an hour and 1 GB.
TOO_SLOW = {"torch 214748364 seed 0 epoch 0, rank 0 of 1, pad strided"}

# Cases that take plain Python ten seconds to a minute each. They are left out unless SAMEDEAL_SLOW is set.
SLOW = {
    *(f"{order} 1000003 seed 5 epoch 3, rank 0 of 1, pad strided" for order in ("fisher-yates", "feistel", "dotnet")),
    "feistel 1000000000000 seed 0 epoch 0, rank 0 of 1000000, pad strided",
    *(
        f"pack a large capacity, {ranks}, padded, window 8192, error above 4294967295, keep, multiple 1, optimal, "
        "seed 0 epoch 0"
        for ranks in ("1 ranks of 1", "3 ranks of 2")
    ),
    "more sizes than rows",
    "pack optimal, number 4: 667 of 593 sizes into 3330",
    "pack optimal, number 6: 761 of 575 sizes into 1408",
    "as many workers as there may be",
}

# Results, or fields of results, with numbers of 64 bits. The files write these numbers as strings.
WIDE_RESULTS = {
    *(
        "num-samples",
        "max-num-samples",
        "num-padding",
        "num-positions",
        "num-dropped",
        "num-batches",
        "indices",
        "batch",
        "sample-at",
    ),
    *("num-rounds", "whole-weights", "loads", "rows", "chunks"),
    *("consumed", "dataset-size", "seed", "sizes", "bytes"),
    "lease-ms",
    *("epoch-length", "source-bounds"),
    *("epoch", "num-windows", "num-steps", "num-idle-readers", "round-of", "imbalance", "ratio"),
    *("members", "samples-consumed", "step", "step-of-consumed", "step-of", "step-of-state"),
}
WIDE_FIELDS: dict[type, tuple[str, ...]] = {
    reference.BatchPlace: ("step",),
    reference.BatchShape: ("batches",),
    reference.Place: ("position", "index_in_rank", "batch"),
    reference.RankBatches: ("samples",),
    reference.Fate: ("before",),
    reference.ShortEpochs: ("num_samples", "indices"),
    reference.Round: ("start", "count"),
    reference.Spans: ("first_row", "num_rows"),
    reference.ShardPlace: ("row",),
    reference.SourceCounts: ("first", "count", "from_pass", "from_position", "to_pass", "to_position"),
    reference.SourceOf: ("index",),
    reference.LoadSummary: ("min", "max", "total"),
    reference.StepBounds: ("min", "max"),
    reference.CommittedRun: ("number", "start", "claim"),
    reference.Event: ("number", "start", "claim", "taken_from"),
    reference.Instruction: ("number", "milliseconds"),
    reference.ClaimedRun: ("claim", "start"),
    reference.Progress: ("positions", "committed", "claimed", "entries"),
    reference.Metrics: tuple(vars(reference.Metrics())),
    reference.Run: ("samples", "costs"),
    reference.ReadBatch: ("number", "step", "start"),
    reference.RoundRows: ("rows",),
    reference.EpochPosition: ("epoch", "position"),
    reference.StepPlace: ("samples_consumed", "epoch", "position", "step"),
}

# Classes whose results replace the object of the case.
NEXT = (reference.Sampler, reference.Plan, reference.Reading, reference.Batcher, reference.Schedule)

# Fields and arguments that are texts, even if they only have digits.
TEXTS = {"balance-by", "tier", "name", "role", "environment", "recipe", "side", "state", "header", "entry"}
TEXTS |= {"entries", "checkpoint", "keys", "text", "sections", "parts", "one", "other", "rest"}


def read(name: str, value: Any) -> Any:
    """The value of a field or of an argument."""
    if name == "environment":
        return [tuple(pair) for pair in value]
    if is_repeated(value):
        return read(name, in_full(value))
    if isinstance(value, dict):
        return read_fields(value)
    if isinstance(value, list):
        return [read(name, item) for item in value]
    return int(value) if isinstance(value, str) and name not in TEXTS else value


def read_fields(values: dict[str, Any]) -> dict[str, Any]:
    return {name.replace("-", "_"): read(name, value) for name, value in values.items()}


def lists_of(fields: dict[str, Any]) -> list[tuple[str, list[int]]]:
    lists = fields.get("lists", {})
    return [(name, [int(number) for number in lists[name]]) for name in sorted(lists)]


MOST_REPEATED = SCHEMA["$defs"]["repeated-count"]["maximum"]
"""The most items of a list that is written as a repetition."""


def is_repeated(value: Any) -> bool:
    """Whether a long list is written as a short one that is repeated, and a count."""
    return isinstance(value, dict) and value.keys() == {"repeat", "count"}


def in_full(value: Any) -> Any:
    """A list with all its items; any other value as it is."""
    if not is_repeated(value):
        return value
    repeat, count = value["repeat"], value["count"]
    assert count <= MOST_REPEATED, f"a list of {count} items; allowed: at most {MOST_REPEATED}"
    return [repeat[i % len(repeat)] for i in range(count)]


WITH_LISTS: dict[str, Any] = {
    "sampler": reference.Sampler,
    "plan": reference.Plan,
    "reading": reference.Reading,
    "schedule": reference.Schedule,
}


def make(case: dict[str, Any]) -> Any:
    """The object of a case."""
    kind = next(name for name in case if name not in ("name", "slow", "fails", "calls"))
    fields = read_fields(case[kind])
    if kind in WITH_LISTS:
        return WITH_LISTS[kind](**fields | {"lists": lists_of(case[kind])})
    if kind == "split":
        return reference.Split(**fields)
    if kind == "chunk-stream":
        return reference.ChunkStream(**fields)
    if kind == "ledger":
        return reference.Ledger(**fields)
    if kind == "ledger-client":
        return reference.Client(**fields)
    if kind == "mesh":
        return reference.Mesh(fields["world_size"], [reference.Axis(**axis) for axis in fields["axes"]])
    if kind in ("batch-recipe", "batcher", "batch-stream"):
        recipe = reference.BatchRecipe(case[kind]["recipe"], in_full(case[kind].get("lengths")), lists_of(case[kind]))
        if kind == "batcher":
            return reference.Batcher(recipe, fields["epoch"])
        return reference.BatchStream(recipe, fields["epoch"], fields["rank"]) if kind == "batch-stream" else recipe
    assert kind == "functions"
    return FUNCTIONS


FUNCTIONS = SimpleNamespace(
    verify=reference.verify,
    header=reference.header,
    detect=reference.detect,
    variables=reference.variables,
    pad=reference.pad,
    pack=reference.pack_rows,
    inspect=reference.inspect,
    join_indices=reference.join_indices,
    recipe_after=reference.recipe_after,
    differences=reference.differences,
    whole_weights=reference.whole_weights,
)


def as_text(value: Any) -> Any:
    if isinstance(value, list):
        return [as_text(item) for item in value]
    return value if value is None else str(value)


def written(call: str, value: Any) -> Any:
    """A result in the notation of the files."""
    if hasattr(value, "__dataclass_fields__"):
        wide = WIDE_FIELDS.get(type(value), ())
        fields = vars(value).items()
        return {name.replace("_", "-"): as_text(item) if name in wide else written("", item) for name, item in fields}
    if isinstance(value, dict) and call == "loads":
        return {name: as_text(numbers) for name, numbers in value.items()}
    if isinstance(value, list) and any(hasattr(item, "__dataclass_fields__") for item in value):
        return [item and written(call, item) for item in value]
    return as_text(value) if call in WIDE_RESULTS and value is not None else value


def same(found: dict[str, Any], expected: dict[str, Any]) -> bool:
    """Whether an outcome is the expected one, apart from the texts for people, which SPEC.md does not prescribe."""
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
    """The result of a call, and the object of the next call: another one if the call returned it."""
    function = getattr(subject, call["call"].replace("-", "_"))
    try:
        args = call.get("args", {})
        value = function(**args if call["call"] == "use-index" else read_fields(args))
    except reference.Failure as error:
        return {"fails": vars(error)}, subject
    if isinstance(value, NEXT):
        return {"returns": None}, value
    return {"returns": written(call["call"], value)}, subject


def cases() -> list[Any]:
    found = []
    for path in FILES:
        for case in json.loads(path.read_text(encoding="utf-8"))["cases"]:
            slow = case["name"] in SLOW or case.get("slow")
            if case["name"] not in TOO_SLOW and ("SAMEDEAL_SLOW" in os.environ or not slow):
                found.append(pytest.param(case, id=f"{path.stem}: {case['name']}"))
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


def failures(case: dict[str, Any]) -> list[dict[str, Any]]:
    return [part["fails"] for part in (case, *case.get("calls", ())) if "fails" in part]


def agree(failure: dict[str, Any]) -> bool:
    """Whether the facts of a failure agree with its value: section 6."""
    facts: dict[str, list[str]] = {}
    for name, value in failure.get("facts", ()):
        facts.setdefault(name, []).append(value)
    single = all(len(facts.get(name, [])) <= 1 for name in ("min", "max", "needs"))
    if not single or not set(facts) <= {"min", "max", "known", "needs"}:
        return False
    value = failure["value"]
    if value in facts.get("known", []) or value in facts.get("needs", []):
        return False
    # If the value is a list or a text, the facts are about a value within it, so the value is not compared with them.
    number = int(value) if re.fullmatch("-?[0-9]+", value) and failure["kind"] == "out-of-range" else None
    least, most = (int(facts[name][0]) if name in facts else None for name in ("min", "max"))
    if least is not None and most is not None and least > most + 1:
        return False
    if number is None or (least is None and most is None):
        return True
    return (least is not None and number < least) or (most is not None and number > most)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_facts(path: Path) -> None:
    for case in json.loads(path.read_text(encoding="utf-8"))["cases"]:
        for failure in failures(case):
            assert agree(failure), (case["name"], failure)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_schema(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    jsonschema_rs.Draft202012Validator(SCHEMA).validate(json.loads(text))
    assert json.loads(text)["group"] == path.stem


def test_schema_is_one() -> None:
    assert jsonschema_rs.meta.is_valid(SCHEMA)
    wrong = {"version": 1, "group": "mesh", "cases": [{"name": "a case of nothing"}]}
    assert not jsonschema_rs.Draft202012Validator(SCHEMA).is_valid(wrong)


def test_groups_are_there() -> None:
    assert {path.stem for path in FILES} >= GROUPS


def test_slow_cases_are_there() -> None:
    names = {case["name"]: case for path in FILES for case in json.loads(path.read_text(encoding="utf-8"))["cases"]}
    assert set(names) >= SLOW | TOO_SLOW
    assert all(names[name].get("slow") for name in TOO_SLOW)
