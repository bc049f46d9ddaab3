"""States: section 10."""

from __future__ import annotations

import json
import re
from typing import Any

from .base import MAX_SAMPLES, Failure, require
from .members import COMPOSED, STATES, Member, Table
from .recipe_text import (
    HASH,
    MAX_NUMBER,
    MAX_TEXT,
    RANGES,
    SURROGATE,
    Text,
    first_string,
    in_digits,
    read_object,
    require_format,
    shown,
    written,
)
from .recipes import Section, arranged
from .weights import number

DIGITS = re.compile("[0-9a-f]{16}")  # a number of 64 bits in a text, if it is no count
MAX_DEPTH = 24  # the largest number of objects around an object; one more than in a recipe
Recipe = dict[str, Section]
"""The sections of a canonical text."""


def write_state(kind: str, recipe: Recipe, epoch: int, **progress: Any) -> str:
    """The text of a state. Progress that is None is left out."""
    fields = {"samedeal": 1, "kind": kind, "recipe": recipe, "epoch": epoch, **progress}
    return written(arranged(STATES[kind], {name: value for name, value in fields.items() if value is not None}))


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a field twice")
    return fields


def refuse_number(text: str) -> int:
    raise ValueError(f"not whole: {text}")


def read_json(text: str) -> Any:
    """The value of a text; None if it is no JSON that a state can have."""
    try:
        value = json.loads(
            text, object_pairs_hook=once, parse_int=number, parse_float=refuse_number, parse_constant=refuse_number
        )
        return None if SURROGATE.search(written(value)) else value
    except (ValueError, RecursionError):
        return None


def is_whole(value: Any, low: int, high: int) -> bool:
    return type(value) is int and low <= value < high


def is_number(of_type: str, value: Any) -> bool:
    """Whether a value is a number of a type. Beyond 2^53 - 1 it is a string."""
    low, high = RANGES["natural" if of_type == "weight" else of_type]
    if isinstance(value, str):
        number = in_digits(value)
        return number is not None and abs(number) > MAX_NUMBER and low <= number < high
    return is_whole(value, low, high) and (of_type in ("natural", "weight") or abs(value) <= MAX_NUMBER)


def is_object(table: Table, value: Any) -> bool:
    """Whether a value is an object of members of a table, each of its type."""
    return isinstance(value, dict) and all(
        name in table and is_of_type(table[name], item) for name, item in value.items()
    )


def is_whole_object(table: Table, value: Any) -> bool:
    """Whether a value is an object with all members that a table needs."""
    return is_object(table, value) and all(name in value for name, row in table.items() if row.needed)


def is_of_type(row: Member, value: Any) -> bool:
    """Whether the value of a member is of its type."""
    if row.type == "object":
        return is_object(row.of, value)
    if row.type == "objects":
        return isinstance(value, list) and all(is_object(row.of, item) for item in value)
    if row.type in ("string", "name"):
        return isinstance(value, str)
    if row.type == "flag":
        return isinstance(value, bool)
    if row.type in ("numbers", "weights"):
        if isinstance(value, list):
            return all(is_whole(number, 0, 2**64) for number in value)
        return isinstance(value, str) and HASH.fullmatch(value) is not None
    return is_number(row.type, value)


def plain(table: Table, fields: Section) -> Section:
    """An object of a text, with numbers in place of strings of digits."""
    return {name: plain_value(table[name], value) for name, value in fields.items()}


def plain_value(row: Member, value: Any) -> Any:
    if row.type == "object":
        return plain(row.of, value)
    if row.type == "objects":
        return [plain(row.of, item) for item in value]
    return int(value) if row.type in (*RANGES, "weight") else value


def objects_around(value: Any) -> int:
    """The largest number of objects around an object in a value; -1 if the value has no object."""
    if isinstance(value, dict):
        return 1 + max(map(objects_around, value.values()), default=-1)
    return max(map(objects_around, value), default=-1) if isinstance(value, list) else -1


def is_state(kind: str, fields: Any) -> bool:
    table = STATES[kind]
    if objects_around(fields) > MAX_DEPTH:
        return False
    if not is_whole_object(table, fields) or fields["samedeal"] != 1 or fields["kind"] != kind:
        return False
    if not all(is_whole_object(table["history"].of, segment) for segment in fields.get("history", [])):
        return False
    if kind == "batcher" and fields["history"] and not fields.keys() >= {"window", "checksum"}:
        return False
    if not DIGITS.fullmatch(fields.get("checksum", "0" * 16)):
        return False
    if "positions" not in table:
        return True
    order = fields["recipe"].get("order", {})
    if set(order) & set(COMPOSED):
        return is_whole(fields.get("positions"), 0, MAX_SAMPLES + 1)
    return "positions" not in fields and (kind == "reading" or is_whole(order.get("samples"), 0, MAX_SAMPLES + 1))


def begin_reading(text: str, kind: str, table: Table, field: str) -> None:
    """The first checks of a text of a kind: its format, its kind, and its first unknown member."""
    require(len(text.encode()) <= MAX_TEXT, field, f"of {len(text.encode())} bytes")
    require_format(text)
    if first_string(text, "kind") != kind:
        raise Failure("wrong-type", field, text)
    reader = Text(text)
    reader.depth = -1  # a state is one more object around a recipe
    try:
        read_object(reader, table, field)
    except Failure as failure:
        if failure.kind == "unknown-member":
            raise


def read_text(text: str, kind: str) -> Section:
    """The members of a state of any recipe: steps 1 to 3 of `read-state`."""
    begin_reading(text, kind, STATES[kind], "state")
    found: Any = read_json(text)
    if not is_state(kind, found):
        raise Failure("wrong-type", "state", text)
    fields = plain(STATES[kind], found)
    if kind in ("sampler", "ledger"):
        require(fields["consumed"] <= positions(fields), "consumed", fields["consumed"])
    return fields


def positions(fields: Section) -> int:
    """The number of positions of the epoch of a state."""
    return int(fields["positions"] if "positions" in fields else fields["recipe"]["order"]["samples"])


def compare_all(kind: str, here: Recipe, there: Recipe) -> None:
    """Compares two recipes: steps 4 to 7 of `read-state`."""
    for section, row in STATES[kind]["recipe"].of.items():
        compare(row.of, here.get(section, {}), there.get(section, {}))


def compare(table: Table, own: Section, other: Section) -> None:
    """Compares a section of two recipes: steps 5 to 7."""
    for member, row in table.items():
        require_same(row, member, own.get(member), other.get(member))


def require_same(row: Member, member: str, here: Any, there: Any) -> None:
    """Checks that a member of this recipe equals that of the state."""
    if row.type == "object":
        if here or there:
            compare(row.of, here or {}, there or {})
        return
    value = "not there" if here is None else None if row.type == "numbers" else shown(here, row.type)
    require(here == there and type(here) is type(there), member, value, "contradiction")


def read_state(text: str, kind: str, here: Recipe) -> Section:
    fields = read_text(text, kind)
    compare_all(kind, here, fields["recipe"])
    return fields
