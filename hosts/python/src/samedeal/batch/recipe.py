"""The recipes of batches."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .. import recipe as recipes
from ..bindings.batches import Segment
from ..compose import members as write
from ..compose.order import Order
from ..deal.sampler import Sampler
from ..engine import arguments as check
from ..engine.errors import ContradictionError, MissingError, UnknownNameError, WrongTypeError
from ..recipe import Recipe

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_WORLD_SIZE = check.Width(0, check.U32_MAX, f"1 to {2**20}")


def written(sections: Mapping[str, Mapping[str, Any]], seed: Any, order: Any, boundaries: Any) -> Recipe:
    """The recipe of the options that were given."""
    of = composed(order)
    if of is None:
        return recipes.made({"order": {"order": order, "seed": seed}, **sections}, boundaries=boundaries)
    made = recipes.made(sections, boundaries=boundaries)
    own = recipes.beside({"order": of._alone({"seed": seed}), **json.loads(made.text)}, of._lists)
    return own._replace(lists=own.lists + made.lists)


def composed(order: Any) -> Order | None:
    """An order that is given as a value, or as the section of a recipe; None where it is a name."""
    if isinstance(order, Order):
        return order
    return Order(order) if isinstance(order, Mapping) else None


def joined(lengths: Any, order: Any) -> NDArray[np.uint32]:
    """The length of every sample: a list of them, or one for each source of a blend by its name.

    Raises:
        ContradictionError: There are not as many lengths of a source as it has samples.
        UnknownNameError: There is no such source.
        MissingError: There are no lengths of a source.
        WrongTypeError: They are no whole numbers; or they are by name, and the order is no blend, or its sources are
            parts of one dataset.
        OutOfRangeError: A length is outside its range.
    """
    if not isinstance(lengths, Mapping):
        return check.u32s("lengths", lengths, check.U32)
    import numpy

    own = composed(order)
    sources = None if own is None else _sources(own)
    if sources is None:
        allowed = 'a list, or a blend as order (with the index space "joined"): only its sources have names'
        raise WrongTypeError("lengths", check.described(lengths), allowed)
    known = tuple(name for name, _ in sources)
    given = {check.crossing("lengths", name): own for name, own in lengths.items()}
    for name in given:
        if name not in known:
            raise UnknownNameError("lengths", name[:64], ", ".join(known), {"known": known})
    parts = []
    for name, samples in sources:
        if name not in given:
            raise MissingError("lengths", "", f"the lengths of each source, also of {check.shown(name)!r}")
        found = check.u32s("lengths", given[name], check.U32)
        if len(found) != samples:
            allowed = f"{samples}, as many as the source {check.shown(name)!r} has samples"
            raise ContradictionError("lengths", f"{len(found)} of {check.shown(name)!r}"[:64], allowed)
        parts.append(found)
    all_of_them = numpy.concatenate(parts)
    all_of_them.flags.writeable = False
    return all_of_them


def _sources(order: Order) -> list[tuple[str, int]] | None:
    """The sources of a joined blend, by name, and how many sample indices each has; also of a view of one."""
    members: Any = order._members
    path = ""
    while isinstance(members, dict) and "sources" not in members and "of" in members:
        members, path = members["of"], f"{path}of/"
    if not isinstance(members, dict) or members.get("index_space", "joined") != "joined":
        return None
    found = []
    for source in write.entries(members, "sources", "name", str):
        samples = source.get("samples")
        if samples is None:
            inner = f"{path}sources/{source['name']}/"
            lists = {name[len(inner) :]: own for name, own in order._lists.items() if name.startswith(inner)}
            of: Any = source.get("order")
            samples = Sampler(order=Order(of, lists)).samples
        found.append((source["name"], samples))
    return found or None


def past(history: Any) -> tuple[Segment, ...]:
    """World sizes and steps."""
    found = []
    for segment in check.items("history", history, "pairs of a world size and steps"):
        if not isinstance(segment, (tuple, list)) or len(segment) != 2:
            raise WrongTypeError("history", check.described(segment), "pairs of a world size and steps")
        world_size, steps = segment
        ranks = check.integer("history", world_size, _WORLD_SIZE)
        found.append(Segment(ranks, check.integer("history", steps, check.U64)))
    return tuple(found)
