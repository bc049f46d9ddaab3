"""Recipes of samplers, and the section `order` of readings: section 14."""

from __future__ import annotations

from typing import Any

from .base import MAX_SAMPLES, Failure, require
from .recipe_text import inline, shown
from .sharded import Sharding

ORDERS = ("feistel", "fisher-yates", "sequential", "torch", "torch-2.5", "python", "dotnet")


def layout_of(rotated: bool) -> str:
    """The default layout of an order."""
    return "rotated" if rotated else "strided"


def refuse(section: dict[str, Any], *members: str) -> None:
    """Refuses the first of these members that is present."""
    for member in members:
        if member in section:
            raise Failure("contradiction", member, shown(section[member]))


def read_stored(order: dict[str, Any]) -> Sharding:
    """The sharding of a section `order` with shards, whose members were checked."""
    require_sizes(order, order["sizes"])
    return Sharding(tuple(order["sizes"]), order.get("lanes", 64), order.get("shuffle_window", 256))


def require_sizes(section: dict[str, Any], sizes: list[int]) -> None:
    """Checks the sizes, and the numbers of shards and samples if these are present."""
    require(len(sizes) <= 2**32 - 2 and sum(sizes) <= MAX_SAMPLES, "sizes", None)
    for member, here in (("shards", len(sizes)), ("samples", sum(sizes))):
        require(section.get(member, here) == here, member, section.get(member), "contradiction")


def order_section(order: str, seed: int, samples: int, sharding: Sharding | None) -> dict[str, Any]:
    """The section `order` of the canonical text."""
    section: dict[str, Any] = {"name": order, "samples": samples, "seed": seed}
    if sharding is not None:
        if order == "sharded":
            section |= {"lanes": sharding.lanes, "shuffle_window": sharding.window}
        section |= {"shards": len(sharding.sizes), "sizes": inline(list(sharding.sizes))}
    return section
