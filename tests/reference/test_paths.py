"""The paths of failures: a place in a text that the case has, where the value stands that the failure tells."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FILES = sorted((Path(__file__).parents[1] / "vectors").glob("*.json"))
FILES = [path for path in FILES if path.name != "schema.json"]
PATH = re.compile(r"([a-z_]+)|\[([0-9]*)\]")
# Sections that stand for themselves where they are left out.
SECTIONS = ("order", "deal", "batch", "steps", "split", "shards")


def texts(value: Any) -> Iterator[Any]:
    """The objects of all texts of a case that are JSON."""
    if isinstance(value, dict):
        for of in value.values():
            yield from texts(of)
    elif isinstance(value, list):
        for of in value:
            yield from texts(of)
    elif isinstance(value, str) and value.startswith("{"):
        try:
            yield json.loads(value)
        except (ValueError, RecursionError):
            # Refused for that, or too deep for this reader alone.
            yield None


def steps(path: str) -> list[str | int]:
    # All objects together are told by the first one.
    return [name or int(index or 0) for name, index in PATH.findall(path)]


def inner(document: Any, path: list[str | int]) -> Any:
    """What stands at a path; `None`, if nothing does."""
    for place, step in enumerate(path):
        if isinstance(step, int):
            document = document[step] if isinstance(document, list) and step < len(document) else None
        else:
            document = (
                document.get(step, {} if place == 0 and step in SECTIONS else None)
                if isinstance(document, dict)
                else None
            )
    return document


def fits(failure: dict[str, Any], document: Any) -> bool:
    """Whether the path leads to the value of the failure in this text, or to where it is missing."""
    path, value = steps(failure["path"]), failure["value"]
    if document is None:
        return True
    if failure["kind"] == "unknown-member":
        found = inner(document, path)
        return isinstance(found, dict) and value in found
    if path[-1] != failure["field"]:
        return False
    if "[]" in failure["path"]:
        return isinstance(inner(document, path[:-1]), dict)
    if not isinstance(inner(document, path[:-1]), dict):
        return False
    found = inner(document, path)
    if value in ("there", "there twice"):
        return found is not None
    if isinstance(found, (bool, int, float)) and re.fullmatch("-?[0-9]+|true|false", value):
        return value == json.dumps(found)[:64]
    return not (isinstance(found, str) and failure["kind"] == "unknown-name") or value == found[:64]


def paths(path: Path) -> Iterator[tuple[str, dict[str, Any], list[Any]]]:
    """All failures that have a path, with the texts that they can be of: those of the call, and of what was asked."""
    for case in json.loads(path.read_text(encoding="utf-8"))["cases"]:
        made = [*texts({name: value for name, value in case.items() if name != "calls"})]
        for part in (case, *case.get("calls", ())):
            if "path" in part.get("fails", {}):
                own = [*texts(part.get("args", {}))]
                # A state that differs is told by the recipe that is here.
                yield case["name"], part["fails"], [*own, *made, *(of["recipe"] for of in own if "recipe" in of)]


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_paths_lead_to_the_value(file: Path) -> None:
    for name, failure, documents in paths(file):
        assert any(fits(failure, document) for document in documents), (name, failure)


def test_paths_are_found() -> None:
    found = [failure["path"] for file in FILES for _, failure, _ in paths(file)]
    assert len(found) > 1_500
    assert any(path.count("order") > 2 for path in found)


def test_a_wrong_path_is_noticed() -> None:
    document = {"order": {"sources": [{"name": "a"}, {"name": "b", "weight": 3}]}}
    failure = {"kind": "out-of-range", "field": "weight", "path": "order.sources[1].weight", "value": "3"}
    assert fits(failure, document)
    for path in (
        "order.sources[0].weight",
        "order.weight",
        "sources[1].weight",
        "order.sources[1].samples",
        "order.of.weight",
    ):
        wrong = failure | {"path": path}
        assert not fits(wrong | {"kind": "unknown-member"}, document)
        assert path == "order.weight" or path == "order.sources[0].weight" or not fits(wrong, document), path
