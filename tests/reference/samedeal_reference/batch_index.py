"""The index of an epoch of batches: section 18."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from .base import Failure, require
from .batch_results import Metrics
from .recipe_text import MAX_TEXT, written
from .state import is_number, read_json

OWN = ("fingerprint", "epoch", "windows", "first", "steps", "checksums")
MEMBERS = ("samedeal", "kind", *OWN, "metrics", "checksum")


@dataclass(frozen=True)
class Index:
    fingerprint: str
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
        checksums, metrics = (",".join(map(str, all)) for all in (self.checksums, vars(self.metrics).values()))
        body = f'{written({"samedeal": 1, "kind": "index"} | own)[:-1]},"checksums":[{checksums}],"metrics":[{metrics}]'
        return f'{body},"checksum":"{hashlib.sha256(body.encode()).hexdigest()}"}}'


def read_index(text: str) -> Index:
    require(len(text.encode()) <= MAX_TEXT, "index", f"of {len(text.encode())} bytes")
    fields = read_json(text)
    if not is_index(fields):
        raise Failure("wrong-type", "index", text)
    metrics = Metrics(**dict(zip(vars(Metrics()), map(int, fields["metrics"]), strict=False)))
    own = [fields[name] for name in OWN]
    index = Index(own[0], *map(int, own[1:4]), *(list(map(int, numbers)) for numbers in own[4:]), metrics)
    body, _, _ = text.rpartition(',"checksum"')
    whole = hashlib.sha256(body.encode()).hexdigest() == fields["checksum"]
    if (
        not whole
        or len(index.checksums) != len(index.steps)
        or index.end > index.windows
        or sum(index.steps) != metrics.steps
    ):
        raise Failure("wrong-type", "index", text)
    return index


def is_index(fields: Any) -> bool:
    def each(of_type: str) -> Callable[[Any], bool]:
        return lambda value: isinstance(value, list) and all(is_number(of_type, number) for number in value)

    def is_text(value: Any) -> bool:
        return isinstance(value, str)

    def natural(value: Any) -> bool:
        return is_number("natural", value)

    def are_words(value: Any) -> bool:
        return isinstance(value, list) and all(type(number) is int and 0 <= number < 2**64 for number in value)

    if not isinstance(fields, dict) or set(fields) != set(MEMBERS):
        return False
    checks: dict[str, Callable[[Any], bool]] = {
        "samedeal": lambda value: type(value) is int and value == 1,
        "kind": lambda value: bool(value == "index"),
        "fingerprint": is_text,
        "epoch": lambda value: is_number("long", value),
        "windows": natural,
        "first": natural,
        "steps": each("natural"),
        "checksums": are_words,
        "metrics": are_words,
        "checksum": is_text,
    }
    return all(check(fields[name]) for name, check in checks.items()) and len(fields["metrics"]) >= len(vars(Metrics()))


def require_same(part: Index, fingerprint: str, epoch: int, windows: int) -> None:
    for name, here in (("fingerprint", fingerprint), ("epoch", epoch), ("windows", windows)):
        value = getattr(part, name)
        require(value == here, name, value, "contradiction")


def join_indices(parts: list[str]) -> str:
    if not parts:
        raise Failure("missing", "index", "")
    indices = sorted(map(read_index, parts), key=lambda part: (part.first, -len(part.steps)))
    whole = replace(indices[0], metrics=replace(indices[0].metrics))
    for part in indices[1:]:
        require_same(part, whole.fingerprint, whole.epoch, whole.windows)
        if part.end <= whole.end:
            known = whole.checksums[part.first - whole.first :]
            for k, (ours, theirs) in enumerate(zip(known, part.checksums, strict=False), part.first):
                require(ours == theirs, "lengths", f"the checksum {theirs} of window {k}", "contradiction")
            continue
        require(part.first == whole.end, "first", part.first, "contradiction")
        whole.metrics.add(part.metrics)
        whole = replace(whole, steps=whole.steps + part.steps, checksums=whole.checksums + part.checksums)
    return whole.text()
