"""Recipes: everything that decides a deal, as one document."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex

from ..bindings.sampling import Config, NamedList, Sampler, Sharding
from ..engine import arguments as check
from ..engine.component import Component
from ..engine.core import Core
from ..engine.errors import OutOfRangeError, WrongTypeError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_MOST = 2**20
"""Bytes of a recipe: a text that does not fit into the component's memory would end it."""


def read(
    recipe: str | Mapping[str, Any], sizes: ArrayLike | Iterable[SupportsIndex] | None, memory_limit: int
) -> tuple[Config, Sharding | None]:
    """What a recipe comes to, as rank 0 at epoch 0."""
    text = _text(recipe)
    lists = [] if sizes is None else [NamedList("sizes", check.u64s("sizes", sizes, check.COUNT))]
    core = Core(Component.SAMPLING, memory_limit, "recipe", f"of {len(text)} characters")
    sampler = Sampler.from_recipe(core, text, lists)
    return sampler.config(), sampler.sharding()


def _text(recipe: str | Mapping[str, Any]) -> str:
    if isinstance(recipe, Mapping):
        try:
            recipe = json.dumps(recipe, default=_plain, ensure_ascii=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise WrongTypeError(
                "recipe", str(error)[:64], "what JSON has: numbers, texts, lists, dictionaries"
            ) from error
    if not isinstance(recipe, str):
        raise WrongTypeError("recipe", check.described(recipe), "a dictionary, or a text of JSON")
    encoded = recipe.encode("utf-8", "backslashreplace")
    if len(encoded) > _MOST:
        raise OutOfRangeError("recipe", f"of {len(encoded)} bytes", f"up to {_MOST}")
    return encoded.decode()


def _plain(value: Any) -> Any:
    """An array as a list, and a number of NumPy as an integer."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")
