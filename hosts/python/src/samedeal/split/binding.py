"""An instance that answers for a split."""

from __future__ import annotations

from ..engine.instance import Resource
from ..generated import splits
from ..recipe import Recipe


class Parts(Resource, splits.Split):
    """A `split` of the interface, in an instance of its own. The arguments must have been checked to cross."""

    def __init__(self, config: None, recipe: Recipe, memory_limit: int) -> None:
        super().__init__(recipe.core(memory_limit), recipe.text)
        self.current = config
