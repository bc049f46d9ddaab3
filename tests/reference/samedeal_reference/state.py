"""States: section 10."""

from __future__ import annotations

import json
from typing import Any

from .base import MAX_SAMPLES, Failure, require
from .recipe_text import (
    COMPOSED,
    HASH,
    MAX_NUMBER,
    MAX_TEXT,
    OWN,
    RANGES,
    SURROGATE,
    TYPES,
    in_digits,
    shown,
    written,
)

SECTIONS = {
    "sampler": ("sampler", ("order",)),
    "ledger": ("sampler", ("order",)),
    "batcher": ("batcher", ("order", "batch")),
    "reading": ("reading", ("order", "shards")),
    "schedule": ("schedule", ("order", "steps")),
}
"""For each kind of state: the kind of its recipe, and the sections that `recipe` can have."""

PROGRESS = {
    "sampler": ("consumed",),
    "ledger": ("consumed", "block", "lease"),
    "batcher": ("consumed", "history", "window", "checksum"),
    "reading": ("consumed", "history"),
    "schedule": ("consumed", "step"),
}
SEGMENTS = {
    "batcher": ("world_size", "steps"),
    "reading": ("world_size", "workers", "batch_size", "drop_last", "steps"),
}

Recipe = dict[str, dict[str, Any]]
"""The sections of a canonical text."""


def write_state(kind: str, recipe: Recipe, epoch: int, *progress: Any) -> str:
    more = dict(zip(PROGRESS[kind], progress, strict=False))
    if len(progress) > len(PROGRESS[kind]):
        more["positions"] = progress[-1]
    return written({"samedeal": 1, "kind": kind, "recipe": recipe, "epoch": epoch} | more)


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
        value = json.loads(text, object_pairs_hook=once, parse_float=refuse_number, parse_constant=refuse_number)
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


def plain(of_type: str, value: Any) -> Any:
    """A value of a type, with numbers for their digits."""
    if of_type in RANGES or of_type == "weight":
        return int(value)
    if of_type in TYPES:
        return {name: plain(TYPES[of_type][name], item) for name, item in value.items()}
    if of_type.startswith("["):
        return [plain(of_type[1:-1], item) for item in value]
    return value


def is_of_type(of_type: str, value: Any, own: dict[str, tuple[str, ...]]) -> bool:
    """Whether the value of a member is of its type."""
    if of_type in TYPES:
        return isinstance(value, dict) and all(
            name in own[of_type] and is_of_type(TYPES[of_type][name], item, own) for name, item in value.items()
        )
    if of_type.startswith("["):
        return isinstance(value, list) and all(is_of_type(of_type[1:-1], item, own) for item in value)
    if of_type == "string":
        return isinstance(value, str)
    if of_type == "flag":
        return isinstance(value, bool)
    if of_type in ("numbers", "weights"):
        if isinstance(value, list):
            return all(is_whole(number, 0, 2**64) for number in value)
        return isinstance(value, str) and HASH.fullmatch(value) is not None
    return is_number(of_type, value)


def is_segment(kind: str, segment: Any) -> bool:
    return (
        isinstance(segment, dict)
        and set(segment) - ({"batch"} if kind == "batcher" else set()) == set(SEGMENTS[kind])
        and all(is_of_type(type_in_segment(name), value, OWN["batcher"]) for name, value in segment.items())
    )


def type_in_segment(name: str) -> str:
    return {"drop_last": "flag", "batch": "batch"}.get(name, "natural")


def is_state(kind: str, fields: Any) -> bool:
    if not isinstance(fields, dict):
        return False
    of, sections = SECTIONS[kind]
    more = {"positions"} if of in ("sampler", "reading") else set()
    if set(fields) - more != {"samedeal", "kind", "recipe", "epoch", *PROGRESS[kind]}:
        return False
    recipe = fields["recipe"]
    sound = is_whole(fields["samedeal"], 1, 2) and fields["kind"] == kind and isinstance(recipe, dict)
    sound = sound and set(recipe) <= set(sections)
    sound = sound and all(is_of_type(section, recipe[section], OWN[of]) for section in recipe)
    for name in ("epoch", *PROGRESS[kind], *(more & set(fields))):
        if name == "history":
            history = fields[name]
            sound = sound and isinstance(history, list) and all(is_segment(kind, segment) for segment in history)
        else:
            sound = sound and is_number("long" if name in ("epoch", "checksum") else "natural", fields[name])
    if sound and of in ("sampler", "reading"):
        order = recipe.get("order", {})
        if set(order) & set(COMPOSED):
            return sound and is_whole(fields.get("positions"), 0, MAX_SAMPLES + 1)
        if of == "reading":
            return "positions" not in fields
        return "positions" not in fields and is_whole(order.get("samples"), 0, MAX_SAMPLES + 1)
    return sound


def read_text(text: str, kind: str) -> dict[str, Any]:
    """The members of a state of any recipe: steps 1 to 3 of `read-state`."""
    require(len(text.encode()) <= MAX_TEXT, "state", f"of {len(text.encode())} bytes")
    fields: Any = read_json(text)
    if not is_state(kind, fields):
        raise Failure("wrong-type", "state", text)
    fields["recipe"] = {section: plain(section, own) for section, own in fields["recipe"].items()}
    for name in ("epoch", *PROGRESS[kind], "positions"):
        if name in fields and name != "history":
            fields[name] = int(fields[name])
    for segment in fields.get("history", []):
        segment |= {name: plain(type_in_segment(name), value) for name, value in segment.items()}
    if SECTIONS[kind][0] == "sampler":
        positions = fields.get("positions", fields["recipe"]["order"].get("samples"))
        require(fields["consumed"] <= positions, "consumed", fields["consumed"])
    return dict(fields)


def compare(kind: str, here: Recipe, there: Recipe) -> None:
    """Compares two recipes: steps 4 to 7 of `read-state`."""
    of, sections = SECTIONS[kind]
    for section in sections:
        compare_section(of, section, here.get(section, {}), there.get(section, {}))


def compare_section(of: str, section: str, own: dict[str, Any], other: dict[str, Any]) -> None:
    """Compares a section of two recipes: steps 5 to 7."""
    for member in TYPES[section]:
        if member in OWN[of][section]:
            x, y = own.get(member), other.get(member)
            known = None if TYPES[section][member] == "numbers" and x is not None else "not there"
            value = known if x is None or known is None else shown(x)
            require(x == y and type(x) is type(y), member, value, "contradiction")


def read_state(text: str, kind: str, here: Recipe) -> dict[str, Any]:
    fields = read_text(text, kind)
    compare(kind, here, fields["recipe"])
    return fields
