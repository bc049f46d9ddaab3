"""Texts of recipes: section 14, "Reading a recipe"."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from .base import Failure, le, require
from .weights import DECIMAL, Decimal, decimal, normal, whole

TYPES: dict[str, dict[str, str]] = {
    "recipe": {
        "samedeal": "natural",
        "order": "order",
        "shards": "shards",
        "deal": "deal",
        "batch": "batch",
        "steps": "steps",
        "split": "split",
    },
    "order": {
        "name": "string",
        "samples": "natural",
        "chunks": "natural",
        "seed": "integer",
        "lanes": "natural",
        "shuffle_window": "natural",
        "shards": "natural",
        "sizes": "numbers",
        # Members of composed orders only.
        "exhaustion": "string",
        "max_passes": "natural",
        "run_length": "natural",
        "by_lane": "flag",
        "index_space": "string",
        "sources": "[sources]",
        "stages": "[stages]",
        "growth": "[growth]",
        "of": "order",
        "indices": "numbers",
        "ranges": "[ranges]",
        "copies": "natural",
        "length": "natural",
        "stride": "natural",
        "classes": "numbers",
        "factors": "numbers",
    },
    "sources": {"name": "string", "weight": "weight", "samples": "natural", "order": "order"},
    "stages": {"from": "natural", "weights": "weights"},
    "growth": {"epoch": "long", "consumed": "natural", "samples": "natural"},
    "ranges": {"epoch": "long", "start": "natural", "count": "natural"},
    "shards": {
        "shuffle": "flag",
        "shuffle_rows": "flag",
        "reshuffle": "flag",
        "seed": "integer",
        "policy": "string",
        "worker_policy": "string",
        "weight": "string",
        "tolerance": "natural",
        "samples": "natural",
        "shards": "natural",
        "sizes": "numbers",
        "bytes": "numbers",
        "holders": "numbers",
        "holder_offsets": "numbers",
        "rank_nodes": "numbers",
    },
    "deal": {
        "world_size": "natural",
        "workers": "natural",
        "readers": "natural",
        "unit": "natural",
        "remainder": "string",
        "layout": "string",
    },
    "batch": {
        "strategy": "string",
        "counting": "string",
        "linear": "natural",
        "quadratic": "natural",
        "max_batch_size": "natural",
        "max_length": "natural",
        "max_tokens": "long",
        "max_cost": "long",
        "batch_size_multiple": "natural",
        "capacity": "natural",
        "packing": "string",
        "bucket_width": "natural",
        "boundaries": "numbers",
        "quantiles": "natural",
        "separate_buckets": "flag",
        "pad_to_bucket": "flag",
        "batch_window": "natural",
        "mean_length": "natural",
        "too_long": "string",
        "tail": "string",
        "lengths": "numbers",
    },
    "batch of a reading": {"batch_size": "natural", "drop_last": "flag"},
    "steps": {"batch_size": "natural", "epochs": "natural", "stages": "[stages of steps]"},
    "stages of steps": {"from": "natural", "batch_size": "natural"},
    "split": {"seed": "integer", "samples": "natural", "parts": "[parts]"},
    "parts": {"name": "string", "weight": "weight", "size": "natural"},
}
"""All members of the sections of all recipes, in the order of the tables of members."""

COMPOSED = tuple(TYPES["order"])[8:]
"""Members that only composed orders have."""

STORED = ("name", "samples", "seed", "lanes", "shuffle_window", "shards", "sizes")
OF_ORDERS = {
    "order": (*STORED, *COMPOSED),
    **{name: tuple(TYPES[name]) for name in ("sources", "stages", "growth", "ranges")},
}
DEAL = ("world_size", "remainder", "layout", "unit")
OWN: dict[str, dict[str, tuple[str, ...]]] = {
    "sampler": {"recipe": ("samedeal", "order", "deal"), **OF_ORDERS, "deal": DEAL},
    "batcher": {
        "recipe": ("samedeal", "order", "deal", "batch"),
        **OF_ORDERS,
        "deal": ("world_size",),
        "batch": tuple(TYPES["batch"]),
    },
    "plan": {
        "recipe": ("samedeal", "shards", "deal"),
        "shards": tuple(TYPES["shards"]),
        "deal": ("world_size", "workers"),
    },
    "reading": {
        "recipe": ("samedeal", "order", "shards", "deal", "batch"),
        **OF_ORDERS,
        "shards": tuple(TYPES["shards"]),
        "deal": ("world_size", "workers", "remainder"),
        "batch of a reading": tuple(TYPES["batch of a reading"]),
    },
    "stream": {
        "recipe": ("samedeal", "order", "deal"),
        "order": ("name", "chunks", "seed"),
        "deal": ("readers",),
    },
    "schedule": {
        "recipe": ("samedeal", "order", "deal", "steps"),
        **OF_ORDERS,
        "deal": ("world_size", "layout", "unit"),
        **{name: tuple(TYPES[name]) for name in ("steps", "stages of steps")},
    },
    "split": {"recipe": ("samedeal", "split"), **{name: tuple(TYPES[name]) for name in ("split", "parts")}},
}
"""For each kind of recipe: its members."""

OF_SHARDS = ["sizes", "bytes", "holders", "holder_offsets", "rank_nodes"]
OF_ORDER = ["sizes", "indices", "classes", "factors"]
LISTS = {
    "sampler": OF_ORDER,
    "schedule": OF_ORDER,
    "batcher": ["boundaries", *OF_ORDER],
    "plan": OF_SHARDS,
    "reading": [*OF_SHARDS, *OF_ORDER[1:]],
    "stream": [],
    "split": [],
}
"""For each kind of recipe: the names of lists that it may have."""

Lists = list[tuple[str, list[int]]]
SPACE = re.compile(r"[ \t\n\r]*")
STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"')
SURROGATE = re.compile("[\ud800-\udfff]")
NUMBER = re.compile(r"-?[0-9]+[.eE+-]?")
WHOLE = re.compile(r"-?(0|[1-9][0-9]*)")
MAX_NUMBER = 2**53 - 1
"""The largest integer that JSON tools keep. Larger numbers are strings."""
RANGES = {"natural": (0, 2**64), "long": (0, 2**64), "integer": (-(2**63), 2**63)}
MAX_TEXT = 2**24
MAX_INLINE = 256
MAX_DEPTH = 24  # the most objects around an object
HASH = re.compile(r"[0-9a-f]{64}")


class Text:
    """A text, and the position up to which it was read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0  # number of objects around the current place

    def next(self, token: str) -> bool:
        """Whether this token comes next. If so, it is read."""
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

    def is_fraction(self) -> bool:
        """Whether a number with a fraction or an exponent comes next."""
        self.space()
        found = DECIMAL.match(self.text, self.at)
        return found is not None and bool(found[3] or found[4])

    def string(self) -> str | None:
        """A string without its escapes; None for half of a surrogate pair."""
        found = self.match(STRING)
        if found is None:
            return None
        text: str = json.loads(found[0])
        return None if SURROGATE.search(text) else text

    def need(self, token: str) -> None:
        if not self.next(token):
            raise broken()


def broken() -> Failure:
    return Failure("wrong-type", "recipe", None)


def read_object(text: Text, section: str, kind: str, own: str = "recipe") -> dict[str, Any]:
    text.need("{")
    require(text.depth < MAX_DEPTH, "recipe", "objects in objects")
    text.depth += 1
    fields = read_members(text, section, kind, own)
    text.depth -= 1
    return fields


def read_members(text: Text, section: str, kind: str, own: str) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if text.next("}"):
        return fields
    while True:
        name = text.string()
        if name is None:
            raise broken()
        text.need(":")
        if name not in TYPES[section]:
            raise Failure("unknown-member", own, name)
        if name in fields:
            raise Failure("contradiction", name, "there twice")
        if name not in OWN[kind][section]:
            raise Failure("contradiction", name, "there")
        of_type = TYPES[section][name]
        if (kind, of_type) == ("reading", "batch"):
            of_type = "batch of a reading"
        fields[name] = read_value(text, name, of_type, kind)
        if text.next("}"):
            return fields
        text.need(",")


def read_value(text: Text, field: str, of_type: str, kind: str) -> Any:
    mistyped = Failure("wrong-type", field, None)
    text.space()
    start = text.text[text.at : text.at + 1]
    if of_type in TYPES:
        if start != "{":
            raise mistyped
        return read_object(text, of_type, kind, field)
    if of_type.startswith("["):
        if start != "[":
            raise mistyped
        return read_objects(text, of_type[1:-1], kind, field)
    if of_type == "numbers" and start == "[":
        return read_numbers(text, field)
    if of_type == "weights":
        if start != "[":
            raise mistyped
        return read_weights(text, field)
    if of_type == "weight":
        return read_weight(text, field)
    if of_type in ("string", "numbers"):
        found = text.string()
        if found is None or (of_type == "numbers" and not HASH.fullmatch(found)):
            raise mistyped
        return found
    if of_type == "flag":
        for flag in (True, False):
            if text.next(str(flag).lower()):
                return flag
        raise mistyped
    return read_whole(text, field, of_type)


def read_whole(text: Text, field: str, of_type: str) -> int:
    low, end = RANGES[of_type]
    if text.text.startswith('"', text.at):
        digits = text.string()
        number = in_digits(digits)
        if number is None or abs(number) <= MAX_NUMBER:
            raise Failure("wrong-type", field, None)
        require(low <= number < end, field, digits)
        return number
    if of_type != "natural":
        low, end = max(low, -MAX_NUMBER), MAX_NUMBER + 1
    return read_number(text, field, low, end)


def in_digits(digits: str | None) -> int | None:
    """The number in a string of digits."""
    return int(digits) if digits is not None and WHOLE.fullmatch(digits) else None


def read_objects(text: Text, section: str, kind: str, field: str) -> list[dict[str, Any]]:
    objects: list[dict[str, Any]] = []
    text.need("[")
    if text.next("]"):
        return objects
    while True:
        objects.append(read_object(text, section, kind, field))
        if text.next("]"):
            return with_whole_weights(objects, section)
        text.need(",")


def with_whole_weights(objects: list[dict[str, Any]], section: str) -> list[dict[str, Any]]:
    """The objects with whole numbers for weights, if one of them is a decimal fraction."""
    if any(isinstance(each.get("weight"), Decimal) for each in objects):
        # A source without a weight has the weight 1; a part without one is refused later.
        has_default = section == "sources"
        given = [each.get("weight", int(has_default)) for each in objects]
        found = whole([own if isinstance(own, Decimal) else normal(own) for own in given], "weight")
        for each, own in zip(objects, found, strict=True):
            if "weight" in each or has_default:
                each["weight"] = own
    return objects


def read_numbers(text: Text, field: str) -> list[int]:
    numbers: list[int] = []
    text.need("[")
    if text.next("]"):
        return numbers
    while True:
        numbers.append(read_number(text, field, 0, 2**64, f" (at index {len(numbers)})"))
        if text.next("]"):
            return numbers
        text.need(",")


def read_weights(text: Text, field: str) -> list[int]:
    weights: list[int | Decimal] = []
    text.need("[")
    while not text.next("]"):
        if weights:
            text.need(",")
        place = f" (at index {len(weights)})"
        found = text.match(DECIMAL) if text.is_fraction() else None
        weights.append(decimal(found, field, place) if found else read_number(text, field, 0, 2**64, place))
    if not any(isinstance(weight, Decimal) for weight in weights):
        return [int(weight) for weight in weights]
    decimals = [weight if isinstance(weight, Decimal) else normal(weight) for weight in weights]
    return whole(decimals, field, is_list=True)


def read_weight(text: Text, field: str) -> int | Decimal:
    found = text.match(DECIMAL) if text.is_fraction() else None
    return decimal(found, field) if found else read_whole(text, field, "natural")


def read_number(text: Text, field: str, low: int, end: int, place: str = "") -> int:
    found = text.match(NUMBER)
    if found is None or not WHOLE.fullmatch(found[0]):
        raise Failure("wrong-type", field, None)
    require(low <= int(found[0]) < end, field, f"{found[0]}{place}")
    return int(found[0])


def read_recipe(text: str, lists: Lists, kind: str) -> dict[str, Any]:
    """Points 1 to 5 of reading."""
    if len(text.encode()) > MAX_TEXT:
        raise Failure("out-of-range", "recipe", f"of {len(text.encode())} bytes")
    for name, _ in lists:
        # The name of a list of a nested order begins with the path of this order.
        if (name.rpartition("/")[2] if "indices" in LISTS[kind] else name) not in LISTS[kind]:
            raise Failure("unknown-name", "lists", name)
    names = [name for name, _ in lists]
    for at, name in enumerate(names):
        if name in names[:at]:
            raise Failure("contradiction", "lists", f"{name} twice")
    reader = Text(text)
    fields = read_object(reader, "recipe", kind)
    reader.space()
    if reader.at != len(text):
        raise broken()
    require(fields.get("samedeal", 1) == 1, "samedeal", fields.get("samedeal"))
    return fields


def find(section: dict[str, Any], member: str, lists: Lists) -> list[int] | None:
    """The numbers of a member, which are in its section or come beside it."""
    return found(member, section.get(member), dict(lists).get(member))


def name_of(section: dict[str, Any], member: str, known: tuple[str, ...]) -> str:
    """The value of a member that is a name; by default, the first known name."""
    name = section.get(member, known[0])
    require(name in known, member, name, "unknown-name")
    return str(name)


def u32(section: dict[str, Any], member: str, default: Any = None) -> Any:
    number = section.get(member, default)
    require(number is None or number < 2**32, member, number)
    return number


def narrow(field: str, numbers: list[int] | None) -> None:
    """Checks that numbers have at most 32 bits."""
    for at, number in enumerate(numbers or []):
        require(number < 2**32, field, f"{number} (at index {at})")


def found(member: str, there: list[int] | str | None, beside: list[int] | None) -> list[int] | None:
    """Numbers that are in a text or come beside it."""
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
    """Numbers in the form of a canonical text."""
    return numbers if len(numbers) <= MAX_INLINE else hash_of(numbers)


def shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"{len(value)} numbers"
    if isinstance(value, dict):
        return "an object"
    return "a hash" if isinstance(value, str) and HASH.fullmatch(value) else str(value)


def written(value: Any) -> str:
    """A JSON text without white space, with members in their given order."""
    return json.dumps(quoted(value), separators=(",", ":"), ensure_ascii=False)


def quoted(value: Any) -> Any:
    """A value with strings for the numbers that JSON tools do not keep."""
    if isinstance(value, dict):
        return {name: quoted(item) for name, item in value.items()}
    if isinstance(value, list):
        return [quoted(item) for item in value]
    return str(value) if type(value) is not bool and isinstance(value, int) and abs(value) > MAX_NUMBER else value


def fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
