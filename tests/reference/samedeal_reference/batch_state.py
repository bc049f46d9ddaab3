"""States of batches: section 10."""

from __future__ import annotations

from .base import require
from .batch_recipes import MAX_WORLD
from .state import Recipe, read_state, write_state

MAX_HISTORY = 64

History = list[dict[str, int]]


def check_history(history: History) -> None:
    require(len(history) <= MAX_HISTORY, "history", f"of {len(history)} segments")
    for past in history:
        require(0 < past["world_size"] <= MAX_WORLD, "history", f"world size {past['world_size']}")


def write(parts: Recipe, epoch: int, history: History) -> str:
    return write_state("batcher", parts, epoch, history)


def read(text: str, here: Recipe) -> tuple[int, History]:
    """The epoch and the history of a state of this recipe."""
    fields = read_state(text, "batcher", here)
    for past in fields["history"]:
        require(past["world_size"] < 2**32, "world-size", past["world_size"])
    return fields["epoch"], fields["history"]
