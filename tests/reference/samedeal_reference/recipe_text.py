"""Texts of recipes: section 14, "Reading a recipe"."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from typing import Any

from .base import Failure, le, require
from .members import RECIPES, Member, Table, is_known
from .weights import DECIMAL, Decimal, decimal, normal, whole
from .weights import number as whole_number

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
MAX_DEPTH = 24  # the largest number of objects around an object
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


VALUE = re.compile(r"true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
"""A value of JSON that is no string, list or object."""
MOST_DEPTH = 64  # the largest number of objects and lists in one another in a value that is skipped


def skip(text: Text, depth: int = MOST_DEPTH) -> bool:
    """Skips a value of any type; whether it is one."""
    text.space()
    start = text.text[text.at : text.at + 1]
    if start not in ("{", "["):
        return text.string() is not None if start == '"' else text.match(VALUE) is not None
    end = "}" if start == "{" else "]"
    text.next(start)
    if depth == 0:
        return False
    if text.next(end):
        return True
    while True:
        if start == "{" and (text.string() is None or not text.next(":")):
            return False
        if not skip(text, depth - 1):
            return False
        if text.next(end):
            return True
        if not text.next(","):
            return False


def first_member(text: str, name: str) -> Text | None:
    """A text at the value of its first member of this name."""
    reader = Text(text)
    token = "{"
    while reader.next(token):
        found = reader.string()
        if found is None or not reader.next(":"):
            return None
        if found == name:
            return reader
        if not skip(reader):
            return None
        token = ","
    return None


def first_string(text: str, name: str) -> str | None:
    """The first member of this name, if it is a string."""
    reader = first_member(text, name)
    return reader.string() if reader else None


def require_format(text: str) -> None:
    """Checks that a text is not of another format."""
    reader = first_member(text, "samedeal")
    found = reader.match(NUMBER) if reader else None
    version = in_digits(found[0]) if found else None
    if version is not None and 0 <= version < 2**64:
        require(version == 1, "samedeal", version)


def broken() -> Failure:
    return Failure("wrong-type", "recipe", None)


def read_object(text: Text, table: Table, own: str = "recipe") -> dict[str, Any]:
    text.need("{")
    require(text.depth < MAX_DEPTH, "recipe", "objects in objects")
    text.depth += 1
    fields = read_members(text, table, own)
    text.depth -= 1
    return fields


def read_members(text: Text, table: Table, own: str) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if text.next("}"):
        return fields
    while True:
        name = text.string()
        if name is None:
            raise broken()
        text.need(":")
        if not is_known(name, table):
            raise Failure("unknown-member", own, name)
        if name in fields:
            raise Failure("contradiction", name, "there twice")
        if name not in table:
            raise Failure("contradiction", name, "there")
        fields[name] = read_value(text, name, table[name])
        if text.next("}"):
            return fields
        text.need(",")


def read_value(text: Text, field: str, row: Member) -> Any:
    mistyped = Failure("wrong-type", field, None)
    text.space()
    start = text.text[text.at : text.at + 1]
    if row.type in ("object", "objects", "weights") and start != ("{" if row.type == "object" else "["):
        raise mistyped
    if row.type == "object":
        return read_object(text, row.of, field)
    if row.type == "objects":
        return read_objects(text, row.of, field)
    if row.type == "weights":
        return read_weights(text, field)
    if row.type == "weight":
        return read_weight(text, field)
    if row.type == "numbers" and start == "[":
        return read_numbers(text, field)
    if row.type in ("string", "name", "numbers"):
        found = text.string()
        if found is None or (row.type == "numbers" and not HASH.fullmatch(found)):
            raise mistyped
        return found
    if row.type == "flag":
        for flag in (True, False):
            if text.next(str(flag).lower()):
                return flag
        raise mistyped
    return read_whole(text, field, row.type)


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
    return whole_number(digits) if digits is not None and WHOLE.fullmatch(digits) else None


def read_list(text: Text, read: Callable[[int], Any]) -> list[Any]:
    """The elements of an array. `read` gets their numbers."""
    found: list[Any] = []
    text.need("[")
    while not text.next("]"):
        if found:
            text.need(",")
        found.append(read(len(found)))
    return found


def read_objects(text: Text, table: Table, field: str) -> list[dict[str, Any]]:
    objects = read_list(text, lambda _at: read_object(text, table, field))
    if any(isinstance(each.get("weight"), Decimal) for each in objects):
        # A source without a weight has the weight 1. A part without a weight is refused later, so its 0 has no effect.
        default = table["weight"].default
        weights = [each.get("weight", default or 0) for each in objects]
        for each, weight in zip(objects, whole_numbers_of_decimals(weights, "weight"), strict=True):
            if "weight" in each or default is not None:
                each["weight"] = weight
    return objects


def read_numbers(text: Text, field: str) -> list[int]:
    return read_list(text, lambda at: read_number(text, field, 0, 2**64, f" (at index {at})"))


def read_weights(text: Text, field: str) -> list[int]:
    def read(at: int) -> int | Decimal:
        place = f" (at index {at})"
        found = text.match(DECIMAL) if text.is_fraction() else None
        return decimal(found, field, place) if found else read_number(text, field, 0, 2**64, place)

    return whole_numbers_of_decimals(read_list(text, read), field, is_list=True)


def whole_numbers_of_decimals(weights: list[int | Decimal], field: str, *, is_list: bool = False) -> list[int]:
    """Weights as whole numbers. They are changed only if one of them is a decimal."""
    whole_ones = [weight for weight in weights if not isinstance(weight, Decimal)]
    if len(whole_ones) == len(weights):
        return whole_ones
    return whole([own if isinstance(own, Decimal) else normal(own) for own in weights], field, is_list=is_list)


def read_weight(text: Text, field: str) -> int | Decimal:
    found = text.match(DECIMAL) if text.is_fraction() else None
    return decimal(found, field) if found else read_whole(text, field, "natural")


def read_number(text: Text, field: str, low: int, end: int, place: str = "") -> int:
    """Reads a number; `place` says which number of an array it is."""
    text.space()
    if place and text.text.startswith('"', text.at):
        digits = text.string()
        number = in_digits(digits)
        # Only a number beyond the numbers of an array needs quotes, and is out of range. Any other string is of a wrong
        # type.
        require(number is None or abs(number) <= MAX_NUMBER, field, f"{digits}{place}")
        raise Failure("wrong-type", field, None)
    found = text.match(NUMBER)
    if found is None or not WHOLE.fullmatch(found[0]):
        raise Failure("wrong-type", field, None)
    read = whole_number(found[0])
    require(low <= read < end, field, f"{found[0]}{place}")
    return read


def read_text(text: str, lists: Lists, kind: str) -> dict[str, Any]:
    """The sections in the text of a recipe: points 1 to 4 of reading."""
    if len(text.encode()) > MAX_TEXT:
        raise Failure("out-of-range", "recipe", f"of {len(text.encode())} bytes")
    require_format(text)
    tables = [row.of for row in RECIPES[kind].values()]
    allowed = {name for table in tables for name, row in table.items() if row.type == "numbers" and not row.apart}
    nested = any("of" in table for table in tables)
    for name, _ in lists:
        # The name of a list of a nested order begins with the path of this order.
        if (name.rpartition("/")[2] if nested else name) not in allowed:
            raise Failure("unknown-name", "lists", name)
    names = [name for name, _ in lists]
    for at, name in enumerate(names):
        if name in names[:at]:
            raise Failure("contradiction", "lists", f"{name} twice")
    reader = Text(text)
    fields = read_object(reader, RECIPES[kind])
    reader.space()
    if reader.at != len(text):
        raise broken()
    return fields


def narrow(field: str, numbers: list[int] | None) -> None:
    """Checks that numbers have at most 32 bits."""
    for at, number in enumerate(numbers or []):
        require(number < 2**32, field, f"{number} (at index {at})")


def hash_of(numbers: list[int]) -> str:
    """SHA-256( LE8 of each number )."""
    return hashlib.sha256(b"".join(le(number, 8) for number in numbers)).hexdigest()


def inline(numbers: list[int]) -> list[int] | str:
    """Numbers in the form of a canonical text."""
    return numbers if len(numbers) <= MAX_INLINE else hash_of(numbers)


def shown(value: Any, of_type: str = "numbers") -> str:
    """A value of a member of this type, as a failure shows it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"{len(value)} {'objects' if of_type == 'objects' else 'numbers'}"
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
