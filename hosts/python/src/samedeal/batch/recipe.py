"""The recipes of batches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .. import recipe as recipes
from ..bindings.batches import Segment
from ..engine import arguments as check
from ..engine.errors import WrongTypeError
from ..recipe import Recipe

_WORLD_SIZE = check.Width(0, check.U32_MAX, f"1 to {2**20}")
_ORDER, _DEAL = ("order", "seed"), ("world_size",)
_BESIDE = {"self", "lengths", "rank", "epoch", "history", "memory_limit", "boundaries"}
"""Parameters that do not decide every epoch of all ranks, and lists."""


def written(given: Mapping[str, Any]) -> Recipe:
    """The recipe of the options that were given, from all parameters by name."""
    sections: dict[str, dict[str, Any]] = {"order": {}, "deal": {}, "batch": {}}
    for name in given.keys() - _BESIDE:
        section = "order" if name in _ORDER else "deal" if name in _DEAL else "batch"
        sections[section][name] = given[name]
    return recipes.made(sections, boundaries=given["boundaries"])


def past(history: Any) -> tuple[Segment, ...]:
    """World sizes and steps."""
    if isinstance(history, (str, bytes)) or not isinstance(history, Iterable):
        raise WrongTypeError("history", check.described(history), "pairs of a world size and steps")
    found = []
    for segment in history:
        if not isinstance(segment, (tuple, list)) or len(segment) != 2:
            raise WrongTypeError("history", check.described(segment), "pairs of a world size and steps")
        world_size, steps = segment
        ranks = check.integer("history", world_size, _WORLD_SIZE)
        found.append(Segment(ranks, check.integer("history", steps, check.U64)))
    return tuple(found)
