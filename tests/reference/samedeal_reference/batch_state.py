"""States of batches: section 10."""

from __future__ import annotations

from .base import require
from .composed_base import Composed, Plain
from .composed_states import goes_on
from .members import SEGMENT_OF_BATCHES, checked
from .state import Recipe, compare_section, read_text, write_state

MAX_HISTORY = 2**12
MAX_WORLD = 2**20

History = list[dict[str, int]]


def check_history(history: History) -> None:
    require(len(history) <= MAX_HISTORY, "history", f"of {len(history)} segments")
    for past in history:
        require(0 < past["world_size"] <= MAX_WORLD, "history", f"world size {past['world_size']}")


def write(parts: Recipe, epoch: int, history: History) -> str:
    return write_state("batcher", parts, epoch, history)


def read(text: str, here: Recipe, order: Composed | None) -> tuple[int, History]:
    """The epoch and the history of a state of this recipe."""
    fields = read_text(text, "batcher")
    epoch, history = fields["epoch"], fields["history"]
    there = {section: fields["recipe"].get(section, {}) for section in here}
    if order is None or isinstance(order, Plain):
        compare_section("batches", "order", here["order"], there["order"])
    else:
        # An epoch of which steps were taken stays as it is.
        begun = any(past["steps"] for past in history)
        goes_on(order, here["order"], there["order"], min(epoch + begun, 2**64 - 1), 0)
    compare_section("batches", "batch", here["batch"], there["batch"])
    for past in history:
        checked(SEGMENT_OF_BATCHES, past)
    return epoch, history
