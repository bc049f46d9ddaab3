"""Section 14: recipes."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from .base import Failure
from .sampler import Config, Sampler, hash_of

NAMES = {
    "recipe": {"samedeal": "natural", "order": "order", "deal": "deal"},
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
}
SPACE = re.compile(r"[ \t\n\r]*")
STRING = re.compile(r'"([^"\\\x00-\x1f]*)"')
NUMBER = re.compile(r"-?[0-9]+[.eE+-]?")
WHOLE = re.compile(r"-?(0|[1-9][0-9]*)")
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


def read_object(text: Text, section: str) -> dict[str, Any]:
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
    if kind in ("order", "deal"):
        if start != "{":
            raise mistyped
        return read_object(text, kind)
    if kind == "numbers" and start == "[":
        return read_numbers(text, mistyped)
    if kind in ("string", "numbers"):
        found = text.match(STRING)
        if found is None or (kind == "numbers" and not HASH.fullmatch(found[1])):
            raise mistyped
        return found[1]
    return read_number(text, mistyped, -(2**63) if kind == "integer" else 0, 2**63 if kind == "integer" else 2**64)


def read_numbers(text: Text, mistyped: Failure) -> list[int]:
    numbers: list[int] = []
    text.need("[")
    if text.next("]"):
        return numbers
    while True:
        numbers.append(read_number(text, mistyped, 0, 2**64))
        if text.next("]"):
            return numbers
        text.need(",")


def read_number(text: Text, mistyped: Failure, low: int, end: int) -> int:
    found = text.match(NUMBER)
    if found is None or not WHOLE.fullmatch(found[0]) or not low <= int(found[0]) < end:
        raise mistyped
    return int(found[0])


def field_of(name: str) -> str:
    """The name of a member in failures."""
    return "order" if name == "name" else name.replace("_", "-")


def from_recipe(text: str, lists: list[tuple[str, list[int]]]) -> Sampler:
    """The sampler of a recipe."""
    if len(text.encode()) > 2**20:
        raise Failure("out-of-range", "recipe", f"of {len(text.encode())} bytes")
    for name, _ in lists:
        if name != "sizes":
            raise Failure("unknown-name", "lists", name[:64])
    if len(lists) > 1:
        raise Failure("contradiction", "lists", "sizes twice")
    reader = Text(text)
    fields = read_object(reader, "recipe")
    reader.space()
    if reader.at != len(text):
        raise broken()
    if fields.get("samedeal", 1) != 1:
        raise Failure("out-of-range", "samedeal", str(fields["samedeal"]))
    if "order" not in fields:
        raise Failure("missing", "order", "")
    order, deal = fields["order"], fields.get("deal", {})
    sizes = sizes_of(order, [numbers for _, numbers in lists])
    name = order.get("name", "sharded" if "sizes" in order else "feistel")
    config = Config(
        samples=order.get("samples", 0),
        seed=order.get("seed", 0),
        epoch=0,
        order=name,
        rank=0,
        world=deal.get("world_size", 1),
        remainder=deal.get("remainder", "pad"),
        layout=deal.get("layout", "strided"),
        consumed=0,
    )
    if name == "sharded":
        return of_shards(config, order, sizes)
    if name not in ORDERS:
        raise Failure("unknown-name", "order", name[:64])
    for field in ("lanes", "shuffle_window", "shards", "sizes"):
        if field in order:
            raise Failure("contradiction", field_of(field), shown(order[field]))
    if sizes is not None:
        raise Failure("contradiction", "sizes", shown(sizes))
    if "samples" not in order:
        raise Failure("missing", "samples", "")
    check_deal(config)
    return made(Sampler, config)


ORDERS = ("feistel", "fisher-yates", "sequential", "torch", "torch-2.5", "python", "dotnet")


def sizes_of(order: dict[str, Any], lists: list[list[int]]) -> list[int] | None:
    there = order.get("sizes")
    if not lists:
        if isinstance(there, str):
            raise Failure("missing", "sizes", "")
        return there
    if there is not None and there != (hash_of(lists[0]) if isinstance(there, str) else lists[0]):
        raise Failure("contradiction", "sizes", f"{len(lists[0])} numbers that are others")
    return lists[0]


def of_shards(config: Config, order: dict[str, Any], sizes: list[int] | None) -> Sampler:
    if sizes is None:
        raise Failure("missing", "sizes", "")
    if sum(sizes) > 2**53 - 1:
        raise Failure("out-of-range", "sizes", None)
    for field, here in (("shards", len(sizes)), ("samples", sum(sizes))):
        if order.get(field, here) != here:
            raise Failure("contradiction", field, str(order[field]))
    lanes, window = order.get("lanes", 64), order.get("shuffle_window", 256)
    for most in ((2**32 - 1, 2**32 - 1), (2**12, 2**20)):
        if not lanes <= most[0] or (most[0] == 2**12 and lanes < 1):
            raise Failure("out-of-range", "lanes", str(lanes))
        if not window <= most[1] or (most[1] == 2**20 and window < 1):
            raise Failure("out-of-range", "shuffle-window", str(window))
    config = replace(config, samples=sum(sizes))
    check_deal(config)
    return made(Sampler.sharded, config, sizes, lanes, window)


def check_deal(config: Config) -> None:
    if config.world > 2**32 - 1:
        raise Failure("out-of-range", "world-size", str(config.world))
    for field, name, known in (
        ("remainder", config.remainder, ("pad", "drop", "uneven")),
        ("layout", config.layout, ("strided", "contiguous")),
    ):
        if name not in known:
            raise Failure("unknown-name", field, name[:64])


def made(make: Any, config: Config, *rest: Any) -> Sampler:
    try:
        return make(config, *rest)
    except Failure as failure:
        if failure.field == "world":
            raise Failure(failure.kind, "world-size", failure.value) from failure
        raise


def shown(value: Any) -> str:
    if isinstance(value, list):
        return f"{len(value)} numbers"
    return "a hash" if isinstance(value, str) else str(value)
