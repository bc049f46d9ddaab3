"""The items of batches: section 9, "Samples, windows, items"."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from .base import ceil_div, require
from .batch_config import BatchConfig


@dataclass(frozen=True, eq=False)
class Item:
    """An item: a part of a sample. The items of a sample that comes twice are different objects."""

    sample: int
    start: int
    length: int


def treat(config: BatchConfig, items: Iterable[Item]) -> tuple[list[Item], int]:
    """The items into which the given items (or samples) are cut, and the number of given ones with more than M
    tokens."""
    most, given = config.longest, list(items)
    over = [item for item in given if item.length > most]
    if over:
        require_room(config, over)
    if over and config.too_long == "split":
        parts = len(given) - len(over) + sum(ceil_div(item.length, most) for item in over)
        require(parts < 2**32 - 1, "max_length", most)
    treated: list[Item] = []
    for item in given:
        if item.length <= most or config.too_long == "single":
            treated.append(item)
        elif config.too_long == "truncate":
            treated.append(replace(item, length=most))
        elif config.too_long == "split":
            for start in range(0, item.length, most):
                treated.append(Item(item.sample, item.start + start, min(most, item.length - start)))
    return treated, len(over)


def require_room(config: BatchConfig, over: list[Item]) -> None:
    """Checks that items of more than M tokens can be treated."""
    require(config.too_long != "error", "lengths", f"{over[0].length} (sample {over[0].sample})")
    if config.too_long in ("truncate", "split"):
        require(config.max_length > 0, "max_length", 0)
        require(config.longest > 0, config.limit, config.budget)
