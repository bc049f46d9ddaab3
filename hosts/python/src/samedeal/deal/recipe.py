"""The recipes of samplers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex

from ..bindings.sampling import Config, Sampler, Sharding
from ..bindings.types import NamedList
from ..engine import arguments as check
from ..engine import recipe as recipes
from ..engine.component import Component
from ..engine.core import Core

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def read(
    recipe: str | Mapping[str, Any], sizes: ArrayLike | Iterable[SupportsIndex] | None, memory_limit: int
) -> tuple[Config, Sharding | None]:
    """What a recipe comes to, as rank 0 at epoch 0."""
    text = recipes.text(recipe)
    lists = [] if sizes is None else [NamedList("sizes", check.u64s("sizes", sizes, check.COUNT))]
    core = Core(Component.SAMPLING, memory_limit, "recipe", f"of {len(text)} characters")
    sampler = Sampler.from_recipe(core, text, lists)
    return sampler.config(), sampler.sharding()
