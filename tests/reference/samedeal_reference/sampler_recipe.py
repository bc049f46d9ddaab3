"""Recipes of samplers: section 14."""

from __future__ import annotations

from typing import Any

from .composed import Read, read
from .composed_base import Plain
from .config import Config
from .members import DEAL
from .recipe_text import Lists
from .recipes import Section, checked, layout_of, read_recipe


def read_sampler(text: str, lists: Lists) -> tuple[Config, Read]:
    """The configuration in a sampler's recipe. Its `samples` are those of epoch 0."""
    fields = read_recipe(text, lists, "sampler")
    order, section = read(fields["order"], lists)
    deal: Section = {"layout": layout_of(order.rotated)} | checked(DEAL, fields["deal"])
    config = Config(
        order=section["name"],
        samples=order.length(0),
        seed=seed_of(section),
        **deal,
    )
    if isinstance(order, Plain):
        config.check()
    return config, (order, section)


def seed_of(section: dict[str, Any]) -> int:
    return section["seed"] if "seed" in section else seed_of(section["of"])
