"""States of batches: section 10."""

from __future__ import annotations

from typing import Any

from .base import Failure, require
from .batch_recipes import MAX_WORLD, written
from .recipe_text import HASH, NAMES, shown
from .state import MAX_STATE, is_whole, read_json

MAX_HISTORY = 64

History = list[dict[str, int]]


def check_history(history: History) -> None:
    require(len(history) <= MAX_HISTORY, "history", f"of {len(history)} segments")
    for past in history:
        require(0 < past["world_size"] <= MAX_WORLD, "history", f"world size {past['world_size']}")


def write(parts: dict[str, Any], epoch: int, history: History) -> str:
    return written({"samedeal": 1, "kind": "batcher", "recipe": parts, "epoch": epoch, "history": history})


def is_of_type(kind: str, value: Any) -> bool:
    """Whether the value of a member is of the type that recipes have it of."""
    if kind in NAMES:
        known = NAMES[kind]
        return isinstance(value, dict) and all(
            name in known and is_of_type(known[name], item) for name, item in value.items()
        )
    if kind == "string":
        return isinstance(value, str)
    if kind == "numbers":
        if isinstance(value, list):
            return all(is_whole(number, 0, 2**64) for number in value)
        return isinstance(value, str) and HASH.fullmatch(value) is not None
    return is_whole(value, -(2**63), 2**63) if kind == "integer" else is_whole(value, 0, 2**64)


def is_segment(past: Any) -> bool:
    return (
        isinstance(past, dict)
        and set(past) == {"world_size", "steps"}
        and is_whole(past["world_size"], 0, 2**32)
        and is_whole(past["steps"], 0, 2**64)
    )


def is_state(fields: Any) -> bool:
    return (
        isinstance(fields, dict)
        and set(fields) == {"samedeal", "kind", "recipe", "epoch", "history"}
        and is_whole(fields["samedeal"], 1, 2)
        and fields["kind"] == "batcher"
        and isinstance(fields["recipe"], dict)
        and set(fields["recipe"]) <= {"order", "batch"}
        and all(is_of_type(section, value) for section, value in fields["recipe"].items())
        and is_whole(fields["epoch"], 0, 2**64)
        and isinstance(fields["history"], list)
        and all(map(is_segment, fields["history"]))
    )


def read(text: str, here: dict[str, Any]) -> tuple[int, History]:
    """The epoch and the history of a state of this recipe."""
    require(len(text.encode()) <= MAX_STATE, "state", f"of {len(text.encode())} bytes")
    fields: Any = read_json(text)
    if not is_state(fields):
        raise Failure("wrong-type", "state", text)
    for section in ("order", "batch"):
        there = fields["recipe"].get(section, {})
        for member in NAMES[section]:
            field = "order" if member == "name" else member.replace("_", "-")
            value, other = here[section].get(member), there.get(member)
            known = "not there" if value is None else shown(value)
            both = NAMES[section][member] == "numbers" and value is not None
            require(value == other, field, None if both else known, "contradiction")
    return fields["epoch"], fields["history"]
