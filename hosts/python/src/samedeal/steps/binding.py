"""The resource `schedule` of the interface."""

from __future__ import annotations

from typing import NamedTuple

from ..engine.instance import Resource
from ..generated import steps
from ..recipe import Recipe


class Where(NamedTuple):
    """The configuration of a schedule: the rank."""

    rank: int


class Steps(Resource, steps.Schedule):
    """A `schedule` of the interface, in an instance of its own. The caller checks that arguments fit the WIT types."""

    def __init__(self, where: Where, recipe: Recipe, memory_limit: int) -> None:
        super().__init__(recipe.core(memory_limit), recipe.text, recipe.lists, where.rank)
        self.current = where

    def move(self, where: Where) -> None:
        """Moves to another rank."""
        if where != self.current:
            self.become(self.at_rank(where.rank), where)
        self.current = where
