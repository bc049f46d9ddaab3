"""The paths of failures: each leads to the place in a text of the case that has the value in the failure."""

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
# Names of sections. A section is at the top of a text if the text leaves out the member around it.
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
            # The text is invalid JSON, or nested too deep for Python's reader, so its paths cannot be checked.
            yield None


def steps(path: str) -> list[str | int]:
    # A path for all objects together leads to the first one.
    return [name or int(index or 0) for name, index in PATH.findall(path)]


def inner(document: Any, path: list[str | int]) -> Any:
    """The value at a path; None if there is none."""
    for place, step in enumerate(path):
        if isinstance(step, int):
            document = document[step] if isinstance(document, list) and step < len(document) else None
        else:
            # A source may leave out its order too.
            left_out = {} if step == "order" or (place == 0 and step in SECTIONS) else None
            document = document.get(step, left_out) if isinstance(document, dict) else None
    return document


def fits(failure: dict[str, Any], document: Any) -> bool:
    """Whether the path leads to the failure's value in this text, or to the place where it is missing."""
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
    """All failures with a path, and the texts to which they can belong: those of the call, and those of the object."""
    for case in json.loads(path.read_text(encoding="utf-8"))["cases"]:
        for part in (case, *case.get("calls", ())):
            made = [*texts({name: value for name, value in case.items() if name != "calls"})]
            if "path" in part.get("fails", {}):
                args = part.get("args", {})
                own = [*texts(args)]
                if "rest" in args:
                    # All other keys are one more part of the split.
                    for document in made:
                        document["split"]["parts"].append({"name": args["rest"]})
                # States differ in a member of the object's recipe, so the path leads into this recipe and not into the
                # state.
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
