"""Recipes of samplers: section 14."""

from __future__ import annotations

from typing import Any

from .base import Failure
from .composed import Read, read
from .composed_base import Plain
from .config import Config
from .members import DEAL, checked
from .recipe_text import Lists, read_recipe
from .recipes import layout_of


def read_sampler(text: str, lists: Lists) -> tuple[Config, Read]:
    """The configuration in a sampler's recipe. Its `samples` are those of epoch 0."""
    fields = read_recipe(text, lists, "sampler")
    if "order" not in fields:
        raise Failure("missing", "order", "")
    order, section = read(fields["order"], lists)
    deal = checked(DEAL, fields.get("deal", {}))
    config = Config(
        order=section["name"],
        samples=order.length(0),
        seed=seed_of(section),
        world_size=deal.get("world_size", 1),
        remainder=deal.get("remainder", "pad"),
        layout=deal.get("layout", layout_of(order.rotated)),
        unit=deal.get("unit", 1),
    )
    if isinstance(order, Plain):
        config.check()
    return config, (order, section)


def seed_of(section: dict[str, Any]) -> int:
    return section["seed"] if "seed" in section else seed_of(section["of"])
