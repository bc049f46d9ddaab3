"""Recipes of samplers: section 14."""

from __future__ import annotations

from typing import Any

from .base import Failure, require
from .composed import Read, read
from .composed_base import Plain
from .config import Config
from .recipe_text import Lists, name_of, read_recipe, u32
from .recipes import REMAINDERS, layouts_of

MAX_UNIT = 2**20


def read_sampler(text: str, lists: Lists) -> tuple[Config, Read]:
    """What the recipe of a sampler says; `samples` of the configuration is that of epoch 0."""
    fields = read_recipe(text, lists, "sampler")
    if "order" not in fields:
        raise Failure("missing", "order", "")
    deal = fields.get("deal", {})
    order, section = read(fields["order"], lists)
    config = Config(
        order=section["name"],
        samples=order.length(0),
        seed=seed_of(section),
        world_size=u32(deal, "world_size", 1),
        remainder=name_of(deal, "remainder", REMAINDERS),
        layout=name_of(deal, "layout", layouts_of(order.single)),
        unit=unit_of(deal),
    )
    if isinstance(order, Plain):
        config.check()
    return config, (order, section)


def unit_of(deal: dict[str, Any]) -> int:
    unit: int = deal.get("unit", 1)
    require(1 <= unit <= MAX_UNIT, "unit", unit)
    return unit


def seed_of(section: dict[str, Any]) -> int:
    return section["seed"] if "seed" in section else seed_of(section["of"])
