"""The recipes of batches."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .. import recipe as recipes
from ..compose import members as write
from ..compose.order import Order
from ..deal.sampler import Sampler
from ..engine import arguments as check
from ..engine.errors import ContradictionError, MissingError, UnknownNameError
from ..recipe import Recipe
from .lengths import Joined, Lengths


def written(sections: Mapping[str, Mapping[str, Any]], seed: Any, order: Any, boundaries: Any) -> Recipe:
    """The recipe of the options that were given to a constructor."""
    of = composed(order)
    if of is None:
        return recipes.made({"order": {"order": order, "seed": seed}, **sections}, boundaries=boundaries)
    made = recipes.made(sections, boundaries=boundaries)
    own = recipes.beside({"order": of._alone({"seed": seed}), **json.loads(made.text)}, of._lists)
    return own._replace(lists=own.lists + made.lists)


def composed(order: Any) -> Order | None:
    """The order that is given as an `Order` or as the section of a recipe; None if it is given as a name."""
    if isinstance(order, Order):
        return order
    return Order(order) if isinstance(order, Mapping) else None


def lengths_of(lengths: Any, order: Any) -> Lengths:
    """The lengths of all samples, or of each source of a blend by its name.

    Raises:
        ContradictionError: The number of lengths of a source is not its number of samples; or lengths are given by
            name, and the order is no blend, or a blend whose sources are parts of one dataset.
        UnknownNameError: There is no such source.
        MissingError: A source has no lengths.
        WrongTypeError: The lengths are no whole numbers.
        OutOfRangeError: A length is outside its range.
    """
    if not isinstance(lengths, Mapping):
        return Lengths.of(lengths)
    own = composed(order)
    sources = None if own is None else _sources(own)
    found = {check.crossing("lengths", name): own for name, own in lengths.items()}
    if sources is None:
        allowed = "a list, or a blend as the order, with the index space joined: only its sources have names"
        raise ContradictionError("lengths", ", ".join(found)[:64] or "of no source", allowed)
    known = tuple(name for name, _ in sources)
    for name in found:
        if name not in known:
            raise UnknownNameError("lengths", name[:64], ", ".join(known), {"known": known})
    for name in known:
        if name not in found:
            raise MissingError("lengths", "", f"the lengths of each source, those of {check.shown(name)} too")
    parts = []
    for name, samples in sources:
        part = Lengths.of(found[name])
        if part.samples not in (None, samples):
            allowed = f"{samples}, as many as the source has samples"
            raise ContradictionError("lengths", f"{part.samples} of the source {check.shown(name)}"[:64], allowed)
        parts.append((name, part, samples))
    return Joined(parts)


def _sources(order: Order) -> list[tuple[str, int]] | None:
    """The names and numbers of samples of the sources of a joined blend, or of a view of one; None for other orders."""
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
            samples = Sampler(order=Order(of, lists)).dataset_size
        found.append((source["name"], samples))
    return found or None
