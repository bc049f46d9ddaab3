"""An instance that answers for a reading."""

from __future__ import annotations

from typing import NamedTuple

from ..engine.instance import Resource
from ..generated import readings
from ..recipe import Recipe


class Where(NamedTuple):
    """Which epoch, or rest of one, a reading is of."""

    epoch: int = 0
    state: str | None = None
    """The state that it goes on from, in place of the epoch."""


class Read(Resource, readings.Reading):
    """A `reading` of the interface, in an instance of its own. The arguments must have been checked to cross."""

    def __init__(self, where: Where, recipe: Recipe, memory_limit: int) -> None:
        core = recipe.core(memory_limit)
        super().__init__(core, recipe.text, recipe.lists, where.epoch)
        self.current = where
        if where.state is not None:
            self.become(self.resume(where.state), where)
