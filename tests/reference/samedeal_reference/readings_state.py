"""States of readings: section 13, "States of readings"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from .base import Failure, require
from .state import SEGMENTS, Recipe, compare, read_text, write_state

MAX_SEGMENTS = 64
MAX_READERS = 2**22
MAX_WORKERS = 2**16


class Group(NamedTuple):
    world_size: int
    workers: int
    batch_size: int
    drop_last: bool

    @property
    def readers(self) -> int:
        return self.world_size * self.workers

    def check(self) -> None:
        for name in ("world_size", "workers", "batch_size"):
            require(getattr(self, name) < 2**32, name.replace("_", "-"), getattr(self, name))
        require(1 <= self.world_size <= MAX_READERS, "world-size", self.world_size)
        require(1 <= self.workers <= min(MAX_WORKERS, MAX_READERS // self.world_size), "workers", self.workers)
        require(self.batch_size > 0, "batch-size", self.batch_size)


class Segment(NamedTuple):
    group: Group
    steps: int


@dataclass(frozen=True)
class Progress:
    epoch: int
    consumed: int = 0
    history: tuple[Segment, ...] = ()


def write(recipe: Recipe, progress: Progress) -> str:
    history = [{**group._asdict(), "steps": steps} for group, steps in progress.history]
    return write_state("reading", recipe, progress.epoch, progress.consumed, history)


def check_history(history: tuple[Segment, ...]) -> None:
    """The limits that hold for all segments together."""
    require(len(history) <= MAX_SEGMENTS, "history", None)
    require(sum(group.readers for group, _ in history) <= MAX_READERS, "history", None)


def read(text: str, here: Recipe, samples: int) -> Progress:
    """What a text from anywhere says, for a reading of this recipe: points 1 to 7 of `resume`."""
    fields = read_text(text, "reading")
    there = fields["recipe"]
    for own, other in (("order", "shards"), ("shards", "order")):
        if own in here and own not in there and other in there:
            raise Failure("contradiction", "recipe", f"the section {own}")
    compare("reading", here, there)
    history = []
    for segment in fields["history"]:
        *group, steps = (segment[name] for name in SEGMENTS["reading"])
        history.append(Segment(Group(*group), steps))
        history[-1].group.check()
        require(steps > 0, "steps", steps)
    check_history(tuple(history))
    consumed = fields["consumed"]
    require(consumed in (0, samples) if "shards" in here else consumed <= samples, "consumed", consumed)
    return Progress(fields["epoch"], consumed, tuple(history))
