"""The index of an epoch of batches: section 18."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from .base import Failure, require
from .batch_results import Metrics
from .recipe_text import MAX_TEXT, written
from .state import MAX_NUMBER, is_number, is_whole, read_json

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
        checksums = "".join(f"{checksum:016x}" for checksum in self.checksums)
        members = {"samedeal": 1, "kind": "index", **own, "checksums": checksums, "metrics": vars(self.metrics)}
        body = written(members)[:-1]
        return f'{body},"checksum":"{hashlib.sha256(body.encode()).hexdigest()}"}}'


def read_index(text: str) -> Index:
    require(len(text.encode()) <= MAX_TEXT, "index", f"of {len(text.encode())} bytes")
    fields = read_json(text)
    if not is_index(fields):
        raise Failure("wrong-type", "index", text)
    metrics = Metrics(**{name: int(number) for name, number in fields["metrics"].items()})
    own = [fields[name] for name in OWN]
    digits = own[5]
    checksums = [int(digits[at : at + 16], 16) for at in range(0, len(digits), 16)]
    index = Index(own[0], *map(int, own[1:4]), list(map(int, own[4])), checksums, metrics)
    body, found, _ = text.rpartition(',"checksum"')
    whole = found and hashlib.sha256(body.encode()).hexdigest() == fields["checksum"]
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


def is_index(fields: Any) -> bool:
    def are_steps(value: Any) -> bool:
        return isinstance(value, list) and all(is_whole(number, 0, 2**64) for number in value)

    def is_text(value: Any) -> bool:
        return isinstance(value, str)

    def natural(value: Any) -> bool:
        return is_number("natural", value)

    def are_digits(value: Any) -> bool:
        return is_text(value) and re.fullmatch("([0-9a-f]{16})*", value) is not None

    def are_metrics(value: Any) -> bool:
        is_whole = isinstance(value, dict) and set(value) == set(vars(Metrics()))
        return is_whole and all(is_number("long", number) for number in value.values())

    if not isinstance(fields, dict) or set(fields) != set(MEMBERS):
        return False
    checks: dict[str, Callable[[Any], bool]] = {
        "samedeal": lambda value: type(value) is int and value == 1,
        "kind": lambda value: bool(value == "index"),
        "fingerprint": is_text,
        "epoch": lambda value: is_number("long", value),
        "windows": natural,
        "first": natural,
        "steps": are_steps,
        "checksums": are_digits,
        "metrics": are_metrics,
        "checksum": is_text,
    }
    return all(check(fields[name]) for name, check in checks.items())


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
                require(ours == theirs, "lengths", f"the checksum {theirs:016x} of window {k}", "contradiction")
            continue
        require(part.first == whole.end, "first", part.first, "contradiction")
        whole.metrics.add(part.metrics)
        whole = replace(whole, steps=whole.steps + part.steps, checksums=whole.checksums + part.checksums)
    return whole.text()
