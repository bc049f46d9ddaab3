"""The resource `split` of the interface."""

from __future__ import annotations

from ..engine.instance import Resource
from ..generated import splits
from ..recipe import Recipe


class Parts(Resource, splits.Split):
    """A `split` of the interface, in an instance of its own. The caller checks that arguments fit the WIT types."""

    def __init__(self, config: None, recipe: Recipe, memory_limit: int) -> None:
        super().__init__(recipe.core(memory_limit), recipe.text)
        self.current = config
