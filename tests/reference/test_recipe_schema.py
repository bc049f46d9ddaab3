"""Tests docs/recipe.schema.json with the recipes of the golden cases, and with wrong recipes.

To run it: `python -m pip install pytest jsonschema-rs`, then `python -m pytest tests/reference`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs/recipe.schema.json").read_text(encoding="utf-8"))
VECTORS = sorted(path for path in (ROOT / "tests/vectors").glob("*.json") if path.name != "schema.json")

KINDS = {
    "sampler": "sampler",
    "plan": "plan",
    "reading": "reading",
    "chunk-stream": "chunk-stream",
    "batch-recipe": "batcher",
    "batcher": "batcher",
    "batch-stream": "batcher",
    "split": "split",
    "schedule": "schedule",
}
"""For each kind of golden case: the definition in the schema."""

SEEN = {"unknown-name", "wrong-type"}
"""Kinds of failures that a schema can find, except in lists beside a recipe."""


def validator(kind: str) -> Any:
    return jsonschema_rs.Draft202012Validator(SCHEMA | {"anyOf": [{"$ref": f"#/$defs/{kind}"}]})


VALID = {kind: validator(kind) for kind in set(KINDS.values())}


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a member twice")
    return dict(pairs)


def refuse(text: str) -> Any:
    raise ValueError(f"a schema takes {text} for a whole number")


def parsed(text: str) -> Any:
    """The document; None if it is no JSON, or has a value that JSON Schema cannot express."""
    try:
        document = json.loads(text, object_pairs_hook=once, parse_float=Decimal, parse_constant=refuse)
        # A string may contain half of a surrogate pair, which is no character.
        json.dumps(document, ensure_ascii=False, default=str).encode()
    except (ValueError, RecursionError, ArithmeticError):
        return None
    return None if has_fraction(document) else document


def has_fraction(value: Any, name: str = "") -> bool:
    """Whether a member that is no weight has a fraction: for JSON Schema, 1.0 is an integer."""
    if isinstance(value, dict):
        return any(has_fraction(inner, key) for key, inner in value.items())
    if isinstance(value, list):
        return any(has_fraction(inner, name) for inner in value)
    return isinstance(value, Decimal) and name not in {"weight", "weights"}


def cases() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The name, the kind and the parts of every golden case that has a recipe."""
    for path in VECTORS:
        for case in json.loads(path.read_text(encoding="utf-8"))["cases"]:
            for subject, kind in KINDS.items():
                if subject in case:
                    yield f"{path.stem}: {case['name']}", kind, case


def test_schema_is_one() -> None:
    assert jsonschema_rs.meta.is_valid(SCHEMA)


def test_recipes_that_are_read() -> None:
    """Every recipe that makes an object is valid, both as written and in its canonical form."""
    count = 0
    for name, kind, case in cases():
        if "fails" in case:
            continue
        texts = [next(case[subject] for subject in KINDS if subject in case)["recipe"]]
        texts += [call["returns"] for call in case["calls"] if call["call"] == "recipe"]
        for text in texts:
            document = parsed(text)
            assert document is not None, name
            errors = [error.message for error in VALID[kind].iter_errors(document)]
            assert not errors, (name, text, errors)
            count += 1
    assert count > 1_000


def test_recipes_that_are_refused() -> None:
    """A schema finds unknown names, wrong types, and members of another kind of recipe."""
    count = 0
    for name, kind, case in cases():
        if "fails" not in case:
            continue
        made = next(case[subject] for subject in KINDS if subject in case)
        document, failure = parsed(made["recipe"]), case["fails"]
        seen = failure["kind"] in SEEN or failure["value"] == "there"
        if document is None or failure["field"] == "lists" or not seen:
            continue
        assert not VALID[kind].is_valid(document), (name, failure)
        count += 1
    assert count > 100


WRONG = [
    ("sampler", {}),
    ("sampler", {"order": {}}),
    ("sampler", {"order": {"name": "sequential", "sizes": [4], "samples": 4}}),
    ("sampler", {"order": {"samples": 4, "lanes": 2}}),
    ("sampler", {"order": {"samples": 4}, "shards": {}}),
    ("sampler", {"order": {"samples": 4}, "deal": {"workers": 2}}),
    ("sampler", {"order": {"sizes": [4], "lanes": 65_537}}),
    ("sampler", {"order": {"name": "blend"}}),
    ("sampler", {"order": {"name": "blend", "sources": []}}),
    ("sampler", {"order": {"name": "blend", "sources": [{"name": "a/b", "samples": 4}]}}),
    ("sampler", {"order": {"name": "blend", "sources": [{"name": "a", "samples": 4, "order": {"samples": 4}}]}}),
    ("sampler", {"order": {"name": "blend", "sources": [{"name": "a", "order": {"samples": 4, "lanes": 2}}]}}),
    ("sampler", {"order": {"name": "blend", "sources": [{"name": "a", "samples": 4}], "max_passes": 2}}),
    ("sampler", {"order": {"name": "grown", "samples": 4, "growth": [{"epoch": 1, "samples": 5}]}}),
    ("sampler", {"order": {"name": "exclude", "of": {"samples": 4}, "indices": [-1]}}),
    ("sampler", {"order": {"name": "exclude", "of": {"samples": 4}, "seed": 1}}),
    ("sampler", {"order": {"name": "skip", "of": {"name": "skip"}}}),
    ("sampler", {"order": {"name": "copies", "of": {"samples": 4}}}),
    ("sampler", {"order": {"name": "windows", "sizes": [4]}}),
    ("sampler", {"order": {"samples": 4, "growth": []}}),
    ("batcher", {"batch": {}, "order": {"name": "blend"}}),
    ("batcher", {"batch": {}}),
    ("batcher", {"batch": {"max_tokens": 8, "capacity": 4}}),
    ("batcher", {"batch": {"strategy": "pack"}}),
    ("batcher", {"batch": {"strategy": "pad-to-max", "keep_order": True}}),
    ("batcher", {"batch": {"max_tokens": 8, "batch_window": 0}}),
    ("batcher", {"batch": {"max_tokens": 8, "batch_window": 8, "keep_order": True}}),
    ("batcher", {"batch": {"counting": "weighted", "max_tokens": 8}}),
    ("batcher", {"batch": {"strategy": "bucket", "quantiles": 4, "bucket_width": 8}}),
    ("batcher", {"batch": {"max_tokens": 8, "packing": "fast"}}),
    ("batcher", {"batch": {"max_tokens": 8, "batch_size": 4}}),
    ("plan", {}),
    ("plan", {"shards": {"sizes": [4], "tolerance": 50}}),
    ("plan", {"shards": {"sizes": [4], "policy": "random"}}),
    ("plan", {"shards": {"sizes": [4], "shuffle": 1}}),
    ("plan", {"shards": {"sizes": [4]}, "deal": {"remainder": "pad"}}),
    ("plan", {"shards": {"sizes": [4]}, "order": {}}),
    ("reading", {}),
    ("reading", {"order": {"sizes": [4]}, "shards": {}}),
    ("reading", {"order": {"name": "feistel", "sizes": [4]}}),
    ("reading", {"order": {"name": "sequential", "sizes": [4], "shuffle_window": 8}}),
    ("reading", {"shards": {"sizes": [4], "policy": "locality-aware"}}),
    ("reading", {"shards": {"sizes": [4], "bytes": [9]}}),
    ("reading", {"shards": {"sizes": [4]}, "deal": {"remainder": "pad"}}),
    ("reading", {"order": {"sizes": [4]}, "deal": {"layout": "strided"}}),
    ("reading", {"order": {"sizes": [4]}, "batch": {"max_tokens": 8}}),
    ("reading", {"order": {"sizes": [4]}, "batch": {"drop_last": 0}}),
    ("chunk-stream", {"order": {"name": "feistel"}}),
    ("chunk-stream", {"order": {"samples": 8}}),
    ("chunk-stream", {"order": {"chunks": 0}}),
    ("chunk-stream", {"deal": {"world_size": 2}}),
]


PARTS = [{"name": "a", "weight": 1}, {"name": "b", "weight": 0}]
SIZES = [{"name": "a", "size": 1}, {"name": "b", "size": 0}]
STAGES = [{"from": 3, "global_batch_size": 8}]
WRONG += [
    ("sampler", {"order": {"samples": 4}, "deal": {"unit": 0}}),
    ("sampler", {"order": {"samples": 4}, "deal": {"unit": 2**20 + 1}}),
    ("reading", {"order": {"sizes": [4]}, "deal": {"unit": 2}}),
    ("batcher", {"batch": {"max_tokens": 8}, "deal": {"unit": 2}}),
    ("batcher", {"batch": {"max_tokens": 8}, "order": {"name": "feistel", "sizes": [4]}}),
    ("batcher", {"batch": {"max_tokens": 8}, "order": {"name": "copies", "of": {"samples": 4}}}),
    ("schedule", {"order": {"samples": 4}}),
    ("schedule", {"order": {"samples": 4}, "steps": {}}),
    ("schedule", {"order": {"samples": 4}, "steps": {"global_batch_size": 0}}),
    ("schedule", {"order": {"samples": 4}, "steps": {"global_batch_size": 8}, "deal": {"remainder": "pad"}}),
    ("schedule", {"order": {"samples": 4}, "steps": {"global_batch_size": 8, "stages": [{"from": 3}]}}),
    (
        "schedule",
        {"order": {"samples": 4}, "steps": {"global_batch_size": 8, "stages": [{"from": 0, "global_batch_size": 8}]}},
    ),
    ("split", {}),
    ("split", {"split": {"parts": []}}),
    ("split", {"split": {"parts": [{"name": "a"}]}}),
    ("split", {"split": {"parts": [{"name": "", "weight": 1}]}}),
    ("split", {"split": {"parts": [*PARTS, *SIZES]}}),
    ("split", {"split": {"parts": [{"name": "a", "weight": 1, "size": 1}]}}),
    ("split", {"split": {"parts": PARTS, "samples": 1}}),
    ("split", {"split": {"parts": PARTS}, "order": {"samples": 4}}),
]


@pytest.mark.parametrize(("kind", "document"), WRONG, ids=lambda value: value if isinstance(value, str) else str(value))
def test_wrong(kind: str, document: dict[str, Any]) -> None:
    assert not VALID[kind].is_valid(document)


RIGHT = [
    ("sampler", {"order": {"samples": 4}}),
    ("sampler", {"samedeal": 1, "order": {"name": "sharded"}, "deal": {"world_size": 2}}),
    ("sampler", {"order": {"sizes": "0" * 64, "lanes": 4}}),
    ("sampler", {"order": {"name": "blend", "sources": [{"name": "a", "samples": 4}]}, "deal": {"layout": "rotated"}}),
    (
        "sampler",
        {
            "order": {
                "name": "blend-exact",
                "sources": [
                    {"name": "a", "order": {"name": "exclude", "of": {"sizes": [4]}, "indices": "0" * 64}, "weight": 0},
                    {"name": "b", "order": {"name": "copies", "copies": 2, "of": {"samples": 4}}},
                ],
                "stages": [{"from": 1, "weights": [1, 0]}],
            }
        },
    ),
    (
        "sampler",
        {"order": {"name": "skip", "of": {"name": "balance"}, "ranges": [{"epoch": 0, "start": 0, "count": 1}]}},
    ),
    ("batcher", {"batch": {"max_tokens": 8}}),
    ("batcher", {"batch": {"max_batch_size": 4, "max_length": 8}}),
    ("batcher", {"batch": {"strategy": "pack", "max_length": 8, "packing": "optimal"}}),
    ("batcher", {"batch": {"counting": "weighted", "quadratic": 1, "max_cost": str(2**64 - 1)}}),
    ("plan", {"shards": {}}),
    ("plan", {"shards": {"sizes": [4], "bytes": [9]}, "deal": {"world_size": 2, "workers": 3}}),
    ("plan", {"shards": {"policy": "locality-aware", "tolerance": 0, "rank_nodes": [0]}}),
    ("reading", {"order": {}}),
    ("reading", {"order": {"name": "sequential", "sizes": [4]}, "deal": {"remainder": "drop"}}),
    ("reading", {"shards": {"balance_by": "bytes", "shuffle_rows": False}, "batch": {"drop_last": True}}),
    ("chunk-stream", {}),
    ("chunk-stream", {"order": {"chunks": 8, "seed": -1}, "deal": {"readers": 2}}),
]


RIGHT += [
    ("sampler", {"order": {"samples": 4}, "deal": {"unit": 2**20}}),
    ("batcher", {"batch": {"max_tokens": 8}, "order": {"name": "sharded", "sizes": [4]}}),
    ("batcher", {"batch": {"max_tokens": 8}, "order": {"sizes": [4]}}),
    ("batcher", {"batch": {"max_tokens": 8}, "order": {"name": "copies", "copies": 2, "of": {"samples": 4}}}),
    ("schedule", {"order": {"samples": 4}, "steps": {"global_batch_size": 8, "stages": STAGES}, "deal": {"unit": 4}}),
    ("split", {"samedeal": 1, "split": {"seed": -3, "parts": PARTS}}),
    ("split", {"split": {"parts": SIZES, "samples": 1}}),
]


@pytest.mark.parametrize(("kind", "document"), RIGHT, ids=lambda value: value if isinstance(value, str) else str(value))
def test_right(kind: str, document: dict[str, Any]) -> None:
    assert VALID[kind].is_valid(document)
    assert jsonschema_rs.Draft202012Validator(SCHEMA).is_valid(document)
