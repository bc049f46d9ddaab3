"""States of batches: section 10."""

from __future__ import annotations

from itertools import groupby
from typing import Any, NamedTuple

from .base import require
from .batch_config import Options
from .batch_recipes import BatchRecipe, read_options
from .composed_base import Plain
from .composed_states import goes_on
from .members import BATCH, ORDER, SEGMENT_OF_BATCHES
from .recipes import checked
from .state import compare, read_text, write_state

MAX_HISTORY = 2**8


class Segment(NamedTuple):
    world_size: int
    steps: int
    options: Options


History = tuple[Segment, ...]


def joined(history: list[Segment]) -> History:
    """The history, with adjacent segments of equal world size and options joined."""
    groups = groupby(history, key=lambda segment: (segment.world_size, segment.options))
    return tuple(
        Segment(world_size, sum(segment.steps for segment in own), options) for (world_size, options), own in groups
    )


def write(recipe: BatchRecipe, epoch: int, consumed: int, history: History, window: int, checksum: int) -> str:
    """A state. `window` and `checksum` are written if there is a history."""
    segments = []
    for world_size, steps, options in history:
        batch = {} if options == recipe.options else {"batch": options}
        segments.append({"world_size": world_size, "steps": steps, **batch})
    progress: dict[str, Any] = {"consumed": consumed, "history": segments}
    if history:
        progress |= {"window": window, "checksum": f"{checksum:016x}"}
    return write_state("batcher", recipe.parts, epoch, **progress)


def read(text: str, recipe: BatchRecipe, replans: bool) -> tuple[int, int, History, int, int]:
    """The epoch, `consumed`, the history, the window and the checksum of a state."""
    fields = read_text(text, "batcher")
    epoch, consumed, history = fields["epoch"], fields["consumed"], fields["history"]
    here, there = (recipe.parts, {section: fields["recipe"].get(section, {}) for section in recipe.parts})
    order = recipe.order
    if order is None or isinstance(order, Plain):
        compare(ORDER, here["order"], there["order"])
    else:
        # If steps of an epoch were taken, this epoch must not change.
        begun = consumed > 0 or len(history) > 0
        goes_on(order, here["order"], there["order"], min(epoch + begun, 2**64 - 1), 0)
    ours, theirs = here["batch"], there["batch"]
    if replans:
        ours, theirs = ({"lengths": own.get("lengths")} for own in (ours, theirs))
    compare(BATCH, ours, theirs)
    require(len(history) <= MAX_HISTORY, "history", f"of {len(history)} segments")
    options = read_options(there["batch"]) if replans else recipe.options
    segments = []
    for segment in history:
        checked(SEGMENT_OF_BATCHES, segment)
        own = read_options(segment["batch"]) if "batch" in segment else options
        segments.append(Segment(segment["world_size"], segment["steps"], own))
    for name in ("window", "checksum"):
        require(bool(segments) or name not in fields, name, fields.get(name), "contradiction")
    window, checksum = fields.get("window", 0), int(fields.get("checksum", "0"), 16)
    require(not segments or window > 0, "window", window)
    return epoch, consumed, joined(segments), window, checksum
