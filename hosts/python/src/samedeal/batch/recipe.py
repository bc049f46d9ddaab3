"""The recipes of batches."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex

from ..bindings.batches import Segment
from ..bindings.types import NamedList
from ..engine import arguments as check
from ..engine import recipe as recipes
from ..engine.errors import WrongTypeError
from .binding import BatchConfig

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

_WORLD = check.Width(0, check.U32_MAX, f"1 to {2**20}")


_BESIDE = {"self", "lengths", "rank", "epoch", "history", "memory_limit"}
"""Parameters that do not decide every epoch of all ranks."""


def written(given: Mapping[str, Any]) -> str:
    """The recipe of the options that were given, from all parameters by name."""
    options = {name: value for name, value in given.items() if name not in _BESIDE}
    order = recipes.section({name: options.pop(name, None) for name in ("order", "seed")})
    if "order" in order:
        order["name"] = order.pop("order")
    deal = recipes.section({"world_size": options.pop("world")})
    return recipes.text({"order": order, "deal": deal, "batch": recipes.section(options)})


def configured(
    recipe: str | Mapping[str, Any],
    lengths: NDArray[np.uint32] | None,
    boundaries: ArrayLike | Iterable[SupportsIndex] | None = None,
    epoch: SupportsIndex = 0,
    history: Any = (),
) -> BatchConfig:
    """What crosses, from a recipe and what stands beside it."""
    lists = () if boundaries is None else (NamedList("boundaries", check.u64s("boundaries", boundaries, check.U32)),)
    return BatchConfig(
        recipes.text(recipe),
        lengths,
        lists,
        check.integer("epoch", epoch, check.U64),
        _history(history),
    )


def lengths_of(config: BatchConfig) -> NDArray[np.uint32]:
    """The length of every sample: those beside the recipe, else those in it."""
    if config.lengths is not None:
        return config.lengths
    return check.u32s("lengths", json.loads(config.recipe)["batch"]["lengths"], check.U32)


def options_of(config: BatchConfig) -> dict[str, Any]:
    """What the recipe says, by the names of parameters, as a call shows it."""
    sections = json.loads(config.recipe)
    order, deal, batch = (sections.get(name, {}) for name in ("order", "deal", "batch"))
    named = {"name": "order", "seed": "seed", "world_size": "world"}
    found = {named[name]: value for name, value in (order | deal).items() if name in named}
    found |= {name: value for name, value in batch.items() if name != "lengths"}
    found |= {name: numbers.tolist() for name, numbers in config.lists}
    return found


def _history(history: Any) -> tuple[Segment, ...]:
    """World sizes and steps."""
    if isinstance(history, (str, bytes)) or not isinstance(history, Iterable):
        raise WrongTypeError("history", check.described(history), "pairs of a world size and steps")
    found = []
    for past in history:
        if not isinstance(past, (tuple, list)) or len(past) != 2:
            raise WrongTypeError("history", check.described(past), "pairs of a world size and steps")
        world, steps = past
        found.append(Segment(check.integer("history", world, _WORLD), check.integer("history", steps, check.U64)))
    return tuple(found)
