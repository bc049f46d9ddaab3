"""States of readings: section 13, "States of readings"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from .base import Failure, require
from .members import SEGMENT_OF_READERS
from .recipes import checked
from .state import Recipe, compare_all, read_text, write_state

if TYPE_CHECKING:
    from .readings_composed import ComposedPositions

MAX_SEGMENTS = 2**12
MAX_READERS = 2**22
MAX_READERS_OF_ALL = 2**24


class Group(NamedTuple):
    world_size: int
    workers: int
    batch_size: int
    drop_last: bool

    @property
    def readers(self) -> int:
        return self.world_size * self.workers

    def check(self) -> None:
        require(self.workers <= MAX_READERS // self.world_size, "workers", self.workers)


class Segment(NamedTuple):
    group: Group
    steps: int


@dataclass(frozen=True)
class Progress:
    epoch: int
    consumed: int = 0
    history: tuple[Segment, ...] = ()


def write(recipe: Recipe, progress: Progress, positions: int | None) -> str:
    history = [{**group._asdict(), "steps": steps} for group, steps in progress.history]
    counted = {"consumed": progress.consumed, "positions": positions, "history": history}
    return write_state("reading", recipe, progress.epoch, **counted)


def check_history(history: tuple[Segment, ...], here: Group) -> None:
    """Checks the limits for all segments together, and for the group that continues."""
    before = history[:-1] if history and history[-1].group == here else history
    require(len(before) < MAX_SEGMENTS, "history", None)
    require(sum(group.readers for group, _ in before) + here.readers <= MAX_READERS_OF_ALL, "history", None)


def read(text: str, here: Recipe, group: Group, composed: ComposedPositions | None) -> Progress:
    """The progress in a text, for a reading of this recipe: points 1 to 6 of `resume`."""
    fields = read_text(text, "reading")
    there = fields["recipe"]
    for own, other in (("order", "shards"), ("shards", "order")):
        if own in here and own not in there and other in there:
            raise Failure("contradiction", "recipe", f"the section {own}")
    if composed is None:
        compare_all("reading", here, there)
    history = []
    for segment in fields["history"]:
        checked(SEGMENT_OF_READERS, segment)
        *members, steps = (segment[name] for name in SEGMENT_OF_READERS)
        history.append(Segment(Group(*members), steps))
        history[-1].group.check()
    check_history(tuple(history), group)
    progress = Progress(fields["epoch"], fields["consumed"], tuple(history))
    if composed is not None:
        composed.check_goes_on(there.get("order", {}), progress, fields.get("positions"))
        compare_all("reading", {}, {name: section for name, section in there.items() if name == "shards"})
    return progress
