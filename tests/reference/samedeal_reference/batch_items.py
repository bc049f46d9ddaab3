"""What is put into batches: section 9, "Items and windows"."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .base import ceil_div, require
from .batch_config import BatchConfig


@dataclass(frozen=True)
class Item:
    sample: int
    start: int
    length: int


def items_of(config: BatchConfig, samples: Iterable[int], lengths: list[int]) -> tuple[list[Item], int]:
    """The items, and how many samples have more than M tokens."""
    most = config.longest
    over = sum(length > most for length in lengths)
    if over:
        require(config.too_long != "error", "lengths", None)
        if config.too_long in ("truncate", "split"):
            require(config.max_length > 0, "max-length", 0)
            require(most > 0, config.limit, config.budget)
        if config.too_long == "split":
            parts = sum(max(1, ceil_div(length, most)) for length in lengths)
            require(parts < 2**32 - 1, "max-length", config.max_length)
    items: list[Item] = []
    for sample, length in zip(samples, lengths, strict=True):
        if length <= most or config.too_long == "single":
            items.append(Item(sample, 0, length))
        elif config.too_long == "truncate":
            items.append(Item(sample, 0, most))
        elif config.too_long == "split":
            items += [Item(sample, start, min(most, length - start)) for start in range(0, length, most)]
    return items, over
