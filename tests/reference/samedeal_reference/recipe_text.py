"""Texts of recipes, of deals and of batches: section 14, "Reading a recipe"."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from .base import Failure, le, require

NAMES = {
    "recipe": {"samedeal": "natural", "order": "order", "deal": "deal", "batch": "batch"},
    "order": {
        "name": "string",
        "samples": "natural",
        "seed": "integer",
        "lanes": "natural",
        "shuffle_window": "natural",
        "shards": "natural",
        "sizes": "numbers",
    },
    "deal": {"world_size": "natural", "remainder": "string", "layout": "string"},
    "batch": {
        "strategy": "string",
        "counting": "string",
        "linear": "natural",
        "quadratic": "natural",
        "max_batch_size": "natural",
        "max_length": "natural",
        "max_tokens": "natural",
        "max_cost": "natural",
        "batch_size_multiple": "natural",
        "capacity": "natural",
        "packing": "string",
        "bucket_width": "natural",
        "boundaries": "numbers",
        "quantiles": "natural",
        "batch_window": "natural",
        "too_long": "string",
        "tail": "string",
        "lengths": "numbers",
    },
}
SPACE = re.compile(r"[ \t\n\r]*")
STRING = re.compile(r'"([^"\\\x00-\x1f]*)"')
NUMBER = re.compile(r"-?[0-9]+[.eE+-]?")
WHOLE = re.compile(r"-?(0|[1-9][0-9]*)")
MAX_INLINE = 256
HASH = re.compile(r"[0-9a-f]{64}")


class Text:
    """A text and how far it was read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def next(self, token: str) -> bool:
        """Whether this comes next, which is then read."""
        self.space()
        there = self.text.startswith(token, self.at)
        self.at += len(token) if there else 0
        return there

    def space(self) -> None:
        self.at += len(SPACE.match(self.text, self.at)[0])

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        self.space()
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return found

    def need(self, token: str) -> None:
        if not self.next(token):
            raise broken()


def broken() -> Failure:
    return Failure("wrong-type", "recipe", None)


def read_object(text: Text, section: str, batches: bool = False) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    text.need("{")
    if text.next("}"):
        return fields
    while True:
        name = text.match(STRING)
        if name is None:
            raise broken()
        text.need(":")
        kind = NAMES[section].get(name[1])
        if name[1] == "batch" and section == "recipe" and not batches:
            raise Failure("contradiction", "batch", "there")
        if kind is None:
            raise Failure("unknown-name", f"{section}-member", name[1][:64])
        if name[1] in fields:
            raise Failure("contradiction", field_of(name[1]), "there twice")
        fields[name[1]] = read_value(text, name[1], kind)
        if text.next("}"):
            return fields
        text.need(",")


def read_value(text: Text, name: str, kind: str) -> Any:
    mistyped = Failure("wrong-type", field_of(name), None)
    text.space()
    start = text.text[text.at : text.at + 1]
    if kind in ("order", "deal", "batch"):
        if start != "{":
            raise mistyped
        return read_object(text, kind)
    if kind == "numbers" and start == "[":
        return read_numbers(text, field_of(name))
    if kind in ("string", "numbers"):
        found = text.match(STRING)
        if found is None or (kind == "numbers" and not HASH.fullmatch(found[1])):
            raise mistyped
        return found[1]
    return read_number(
        text, field_of(name), -(2**63) if kind == "integer" else 0, 2**63 if kind == "integer" else 2**64
    )


def read_numbers(text: Text, field: str) -> list[int]:
    numbers: list[int] = []
    text.need("[")
    if text.next("]"):
        return numbers
    while True:
        numbers.append(read_number(text, field, 0, 2**64))
        if text.next("]"):
            return numbers
        text.need(",")


def read_number(text: Text, field: str, low: int, end: int) -> int:
    found = text.match(NUMBER)
    if found is None or not WHOLE.fullmatch(found[0]):
        raise Failure("wrong-type", field, None)
    require(low <= int(found[0]) < end, field, found[0])
    return int(found[0])


def field_of(name: str) -> str:
    """The name of a member in failures."""
    return "order" if name == "name" else name.replace("_", "-")


def read_recipe(text: str, lists: list[tuple[str, list[int]]], known: list[str], batches: bool) -> dict[str, Any]:
    """Points 1 to 5 of reading; `known` are the names that lists may have."""
    if len(text.encode()) > 2**20:
        raise Failure("out-of-range", "recipe", f"of {len(text.encode())} bytes")
    for name, _ in lists:
        if name not in known:
            raise Failure("unknown-name", "lists", name[:64])
    names = [name for name, _ in lists]
    for at, name in enumerate(names):
        if name in names[:at]:
            raise Failure("contradiction", "lists", f"{name} twice")
    reader = Text(text)
    fields = read_object(reader, "recipe", batches)
    reader.space()
    if reader.at != len(text):
        raise broken()
    if fields.get("samedeal", 1) != 1:
        raise Failure("out-of-range", "samedeal", str(fields["samedeal"]))
    return fields


def found(member: str, there: list[int] | str | None, beside: list[int] | None) -> list[int] | None:
    """Numbers that may stand in a text, or come beside it."""
    if beside is None:
        if isinstance(there, str):
            raise Failure("missing", member, "")
        return there
    if there is not None and there != (hash_of(beside) if isinstance(there, str) else beside):
        raise Failure("contradiction", member, f"{len(beside)} numbers that are others")
    return beside


def hash_of(numbers: list[int]) -> str:
    """SHA-256( LE8 of each number )."""
    return hashlib.sha256(b"".join(le(number, 8) for number in numbers)).hexdigest()


def inline(numbers: list[int]) -> list[int] | str:
    """As they stand in a canonical text."""
    return numbers if len(numbers) <= MAX_INLINE else hash_of(numbers)


def shown(value: Any) -> str:
    if isinstance(value, list):
        return f"{len(value)} numbers"
    return "a hash" if isinstance(value, str) and HASH.fullmatch(value) else str(value)[:64]
