"""The resource `reading` of the interface."""

from __future__ import annotations

from typing import NamedTuple

from ..engine.instance import Resource
from ..generated import readings
from ..recipe import Recipe


class Where(NamedTuple):
    """The configuration of a reading: an epoch, or the rest of one."""

    epoch: int = 0
    state: str | None = None
    """The state from which the rest of an epoch continues. It is used in place of `epoch`."""


class Read(Resource, readings.Reading):
    """A `reading` of the interface, in an instance of its own. The caller checks that arguments fit the WIT types."""

    def __init__(self, where: Where, recipe: Recipe, memory_limit: int) -> None:
        core = recipe.core(memory_limit)
        super().__init__(core, recipe.text, recipe.lists, where.epoch)
        self.current = where
        if where.state is not None:
            self.become(self.resume(where.state), where)
