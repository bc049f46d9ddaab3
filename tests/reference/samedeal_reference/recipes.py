"""Recipes by the table of members: what a member may be, defaults and canonical texts. Section 14."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .base import MAX_SAMPLES, Failure, require
from .members import RECIPES, Member, Names, Table
from .recipe_text import Lists, hash_of, inline, read_text, shown
from .sharded import Sharding

Section = dict[str, Any]


def read_recipe(text: str, lists: Lists, kind: str) -> Section:
    """The sections of a recipe: points 1 to 4 of reading, and the members of the outermost object."""
    return checked(RECIPES[kind], read_text(text, lists, kind))


def names_of(table: Table, members: Section, given: Names) -> Names:
    return {name: members.get(name, row.default) for name, row in table.items() if row.type == "name"} | given


def checked(table: Table, members: Section, lists: Lists | None = None, path: str = "", **given: str) -> Section:
    """The members of an object with their defaults, and with the numbers of their lists. Each member is checked on its
    own, in the order of the table. `given` has names that the section may leave out."""
    here = names_of(table, members, given)
    beside = {name.removeprefix(path): numbers for name, numbers in lists or [] if name.startswith(path)}
    out: Section = {}
    for name, row in table.items():
        numbers = beside.get(name) if row.type == "numbers" and not row.apart else None
        value = members.get(name)
        if value is None and numbers is None:
            if row.belongs(here):
                require(not row.needed, name, "", "missing")
                if row.default is not None:
                    out[name] = row.default
            continue
        if not row.belongs(here):
            raise Failure("contradiction", name, shown(numbers if value is None else value, row.type))
        out[name] = value if row.apart else valid(row, name, value, numbers)
    return out


def valid(row: Member, name: str, value: Any, beside: list[int] | None) -> Any:
    """The value of a member that is present: items 2 to 5 of its checks."""
    if row.type == "objects":
        require(bool(value) or not row.needed, name, "", "missing")
        require(len(value) <= row.most, name, f"{len(value)} objects")
        return [checked(row.of, item) for item in value]
    if row.type in ("numbers", "weights"):
        numbers = found(name, value, beside)
        for at, number in enumerate(numbers):
            require(number <= row.most, name, f"{number} (at index {at})")
        return numbers
    if row.type == "name":
        require(value in row.names, name, value, "unknown-name")
    elif row.type == "string":
        require(row.least <= len(value.encode()) <= row.most, name, value)
    elif row.type in ("natural", "long", "weight"):
        require(row.least <= value <= row.most, name, value)
    return value


def found(member: str, there: list[int] | str | None, beside: list[int] | None) -> list[int]:
    """The numbers of a member, which are in the text or come beside it."""
    if beside is None:
        if there is None or isinstance(there, str):
            raise Failure("missing", member, "")
        return there
    if there is not None and there != (hash_of(beside) if isinstance(there, str) else beside):
        raise Failure("contradiction", member, f"{len(beside)} numbers that are others")
    return beside


def has_orders(row: Member) -> bool:
    """Whether the value of a member is an order, or has orders in it, so that lists may be below its path."""
    return row.type == "object" or any(own.type == "object" for own in row.of.values())


def allow(lists: Lists, path: str, table: Table, *below: str) -> None:
    """Refuses the first list below a path that belongs to no member, and to none of these paths."""
    for name, _ in lists:
        if name.startswith(path):
            own = name.removeprefix(path)
            require(own in table or own.startswith(below), "lists", name, "contradiction")


def written_of(table: Table, members: Section, **given: str) -> Section:
    """The members of an object that its canonical text keeps."""
    here = names_of(table, members, given)
    return {
        name: members[name]
        for name, row in table.items()
        if members.get(name) is not None and row.belongs(here) and not (row.brief and members[name] == row.default)
    }


def canonical(table: Table, members: Section, **given: str) -> Section:
    """An object of a canonical text."""
    return arranged(table, written_of(table, members, **given))


def arranged(table: Table, members: Section) -> Section:
    """An object with its members in the order of the table, and long lists as their hashes."""
    return {name: shaped(row, members[name]) for name, row in table.items() if name in members}


def shaped(row: Member, value: Any) -> Any:
    if row.type == "object":
        return arranged(row.of, value)
    if row.type == "objects":
        return [arranged(row.of, item) for item in value]
    return inline(value) if row.type == "numbers" and isinstance(value, list) else value


def layout_of(rotated: bool) -> str:
    """The default layout of an order."""
    return "rotated" if rotated else "strided"


def refuse(section: Section, *members: str) -> None:
    """Refuses the first of these members that is present."""
    for member in members:
        if member in section:
            raise Failure("contradiction", member, shown(section[member]))


def read_stored(order: Section) -> Sharding:
    """The sharding of a section `order` with shards, whose members were checked."""
    require_sizes(order, order["sizes"])
    return Sharding(tuple(order["sizes"]), order["lanes"], order["shuffle_window"])


def require_sizes(section: Section, sizes: list[int]) -> None:
    """Checks the sizes, and the numbers of shards and samples if these are present."""
    require(len(sizes) <= 2**32 - 2 and sum(sizes) <= MAX_SAMPLES, "sizes", None)
    for member, here in (("shards", len(sizes)), ("samples", sum(sizes))):
        require(section.get(member, here) == here, member, section.get(member), "contradiction")


def stored(sizes: Sequence[int]) -> Section:
    """The members of a canonical text that follow from the sizes of shards."""
    return {"samples": sum(sizes), "shards": len(sizes), "sizes": list(sizes)}
