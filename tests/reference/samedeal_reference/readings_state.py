"""The texts of readings: section 13, "States of readings"."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, NamedTuple

from .base import Failure, le, require
from .state import MAX_STATE, is_whole, read_json

MAX_SEGMENTS = 64
MAX_READERS = 2**22
MAX_WORKERS = 2**16
MAX_INLINE = 256  # shards whose sizes a state lists; of more it has a hash

STATE = ("samedeal", "kind", "recipe", "epoch", "consumed", "history")
ALWAYS = ("seed", "shuffle", "deal", "samples", "shards", "sizes")
BY_SAMPLES = ("lanes", "window")
BY_SHARDS = ("shuffle_rows", "reshuffle", "policy", "worker_policy", "weight")
SEGMENT = ("world_size", "workers", "batch_size", "drop_last", "steps")

TEXTS = ("kind", "deal", "policy", "worker_policy", "weight")
FLAGS = ("shuffle", "shuffle_rows", "reshuffle", "drop_last")


class Group(NamedTuple):
    world_size: int
    workers: int
    batch_size: int
    drop_last: bool

    @property
    def readers(self) -> int:
        return self.world_size * self.workers

    def check(self) -> None:
        require(1 <= self.world_size <= MAX_READERS, "world-size", self.world_size)
        require(1 <= self.workers <= min(MAX_WORKERS, MAX_READERS // self.world_size), "workers", self.workers)
        require(1 <= self.batch_size < 2**32, "batch-size", self.batch_size)


class Segment(NamedTuple):
    group: Group
    steps: int


@dataclass(frozen=True)
class Progress:
    epoch: int
    consumed: int = 0
    history: tuple[Segment, ...] = ()


def written(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def shown(value: Any) -> str:
    """As the value of a failure."""
    return written(value) if isinstance(value, bool) else str(value)


def numbers(values: list[int]) -> list[int] | str:
    """The list, or the hash of a long one."""
    if len(values) <= MAX_INLINE:
        return values
    return hashlib.sha256(b"".join(le(value, 8) for value in values)).hexdigest()


def write(recipe: dict[str, Any], progress: Progress) -> str:
    history = [{**group._asdict(), "steps": steps} for group, steps in progress.history]
    values = (1, "reading", recipe, progress.epoch, progress.consumed, history)
    return written(dict(zip(STATE, values, strict=True)))


def check_history(history: tuple[Segment, ...]) -> None:
    """The limits that hold for all segments together."""
    require(len(history) <= MAX_SEGMENTS, "history", None)
    require(sum(group.readers for group, _ in history) <= MAX_READERS, "history", None)


def is_of_type(name: str, value: Any) -> bool:
    """Point 4 of what makes a text no state."""
    if name in TEXTS:
        return isinstance(value, str)
    if name in FLAGS:
        return isinstance(value, bool)
    if name in ("sizes", "bytes"):
        return isinstance(value, str) or (
            isinstance(value, list) and all(is_whole(number, 0, 2**64) for number in value)
        )
    if name == "recipe":
        return is_object(value, ALWAYS, (*BY_SAMPLES, *BY_SHARDS, "bytes"))
    if name == "history":
        return isinstance(value, list) and all(is_object(segment, SEGMENT) for segment in value)
    if name == "seed":
        return is_whole(value, -(2**63), 2**63)
    return is_whole(value, 0, 2**32 if name in ("world_size", "workers", "batch_size") else 2**64)


def is_object(value: Any, needed: tuple[str, ...], more: tuple[str, ...] = ()) -> bool:
    return (
        isinstance(value, dict)
        and set(needed) <= set(value) <= {*needed, *more}
        and all(is_of_type(name, item) for name, item in value.items())
    )


def compare_recipes(found: dict[str, Any], here: dict[str, Any], refused: Failure) -> None:
    """Points 3 to 8 of `resume`; `refused` is for a text that is no state of such a reading."""
    for name in ("deal", "seed", "shuffle", *BY_SAMPLES, *BY_SHARDS):
        if name in here:
            if name not in found:
                raise refused
            require(found[name] == here[name], name.replace("_", "-"), shown(here[name]), "contradiction")
    if set(found) != set(here):
        raise refused
    for name in ("shards", "sizes", "samples", "bytes"):
        if name in ("sizes", "bytes") and name in here:
            listed = isinstance(here[name], list)
            if isinstance(found[name], list) != listed or (listed and len(found[name]) != here["shards"]):
                raise refused
            require(found[name] == here[name], name, None, "contradiction")
        elif name in here:
            require(found[name] == here[name], name, here[name], "contradiction")


def read(text: str, here: dict[str, Any]) -> Progress:
    """What a text from anywhere says, for a reading of this recipe: points 1 to 12 of `resume`."""
    size = len(text.encode())
    require(size <= MAX_STATE, "state", f"of {size} bytes")
    refused = Failure("wrong-type", "state", text)
    # Outside of strings no text that is JSON has one, and within them it begins an escape.
    fields: Any = None if "\\" in text else read_json(text)
    if not is_object(fields, STATE) or (fields["samedeal"], fields["kind"]) != (1, "reading"):
        raise refused
    compare_recipes(fields["recipe"], here, refused)
    history = []
    for segment in fields["history"]:
        *group, steps = (segment[name] for name in SEGMENT)
        history.append(Segment(Group(*group), steps))
        history[-1].group.check()
        require(steps > 0, "steps", steps)
    check_history(tuple(history))
    consumed, most = fields["consumed"], here["samples"]
    require(consumed in (0, most) if here["deal"] == "shards" else consumed <= most, "consumed", consumed)
    return Progress(fields["epoch"], consumed, tuple(history))
