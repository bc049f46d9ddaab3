"""The index of an epoch of batches: section 18."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, fields, replace
from typing import Any

from .base import Failure, require
from .batch_results import Metrics
from .members import COUNT, VERSION, Table, inside, long, numbers, string
from .recipe_text import written
from .state import MAX_NUMBER, begin_reading, is_whole_object, read_json

INDEX: Table = {
    "samedeal": replace(VERSION, needed=True),
    "kind": string(needed=True),
    "recipe_fingerprint": string(needed=True),
    "epoch": long(needed=True),
    "windows": COUNT,
    "first": COUNT,
    "steps": numbers(needed=True),
    "checksums": string(needed=True),
    "metrics": inside({field.name: long(needed=True) for field in fields(Metrics)}, needed=True),
    "checksum": string(needed=True),
}
"""The members of an index."""
OWN = ("recipe_fingerprint", "epoch", "windows", "first", "steps", "checksums")


@dataclass(frozen=True)
class Index:
    recipe_fingerprint: str
    epoch: int
    windows: int
    first: int
    steps: list[int]
    checksums: list[int]
    metrics: Metrics

    @property
    def end(self) -> int:
        return self.first + len(self.steps)

    def text(self) -> str:
        own = {name: getattr(self, name) for name in OWN[:-1]}
        checksums = "".join(f"{checksum:016x}" for checksum in self.checksums)
        members = {"samedeal": 1, "kind": "index", **own, "checksums": checksums, "metrics": vars(self.metrics)}
        body = written(members)[:-1]
        return f'{body},"checksum":"{hashlib.sha256(body.encode()).hexdigest()}"}}'


def read_index(text: str) -> Index:
    begin_reading(text, "index", INDEX, "index")
    found = read_json(text)
    if not is_index(found):
        raise Failure("wrong-type", "index", text)
    metrics = Metrics(**{name: int(number) for name, number in found["metrics"].items()})
    own = [found[name] for name in OWN]
    digits = own[5]
    checksums = [int(digits[at : at + 16], 16) for at in range(0, len(digits), 16)]
    index = Index(own[0], *map(int, own[1:4]), list(map(int, own[4])), checksums, metrics)
    body, comma, _ = text.rpartition(',"checksum"')
    whole = comma and hashlib.sha256(body.encode()).hexdigest() == found["checksum"]
    if (
        not whole
        or len(index.checksums) != len(index.steps)
        or index.end > index.windows
        or index.windows > MAX_NUMBER
        or sum(index.steps) > MAX_NUMBER
        or sum(index.steps) != metrics.steps
    ):
        raise Failure("wrong-type", "index", text)
    return index


def is_index(found: Any) -> bool:
    return (
        is_whole_object(INDEX, found)
        and is_whole_object(INDEX["metrics"].of, found["metrics"])
        and found["samedeal"] == 1
        and found["kind"] == "index"
        and isinstance(found["steps"], list)
        and re.fullmatch("([0-9a-f]{16})*", found["checksums"]) is not None
    )


def require_same(part: Index, recipe_fingerprint: str, epoch: int, windows: int) -> None:
    for name, here in (("recipe_fingerprint", recipe_fingerprint), ("epoch", epoch), ("windows", windows)):
        value = getattr(part, name)
        require(value == here, name, value, "contradiction")


def join_indices(parts: list[str]) -> str:
    if not parts:
        raise Failure("missing", "index", "")
    indices = sorted(map(read_index, parts), key=lambda part: (part.first, -len(part.steps)))
    whole = replace(indices[0], metrics=replace(indices[0].metrics))
    for part in indices[1:]:
        require_same(part, whole.recipe_fingerprint, whole.epoch, whole.windows)
        if part.end <= whole.end:
            known = whole.checksums[part.first - whole.first :]
            for k, (ours, theirs) in enumerate(zip(known, part.checksums, strict=False), part.first):
                require(ours == theirs, "lengths", f"the checksum {theirs:016x} of window {k}", "contradiction")
            continue
        require(part.first == whole.end, "first", part.first, "contradiction")
        whole.metrics.add(part.metrics)
        whole = replace(whole, steps=whole.steps + part.steps, checksums=whole.checksums + part.checksums)
    return whole.text()
