"""Compares the table of members of this implementation with the table in section 14 of SPEC: equal rows, in equal
order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from samedeal_reference.composed import READ
from samedeal_reference.members import PLAIN, RECIPES, Member, Table

SPEC = (Path(__file__).resolve().parents[2] / "docs/spec/14-recipes.md").read_text(encoding="utf-8")
KIND = re.compile(r"### Members of a recipe of a (.+)")
CODE = re.compile(r"`([^`]*)`")
ORDERS = {*PLAIN, *READ}


def rows() -> Iterator[tuple[str, str, list[str]]]:
    """The kind of recipe, the object and the other cells of every row."""
    kind = thing = ""
    for line in SPEC.splitlines():
        if found := KIND.fullmatch(line):
            kind = found[1].replace(" ", "-")
        elif kind and line.startswith("| ") and not line.startswith("| object"):
            here, *cells = (cell.strip() for cell in line.strip("|").split("|"))
            thing = here or thing
            yield kind, thing, cells
        elif line.startswith("|  "):
            yield kind, thing, [cell.strip() for cell in line.strip("|").split("|")][1:]


def table_of(kind: str, thing: str, section: str) -> Table:
    """The table of the object of a row; `section` is the section before it."""
    recipe = RECIPES[kind]
    if thing == "the recipe":
        return recipe
    name = CODE.findall(thing)[0]
    return recipe[section].of[name].of if thing.startswith("an object of") else recipe[name].of


def number(text: str) -> int:
    return int(eval(text.replace("^", "**"), {"__builtins__": {}}))


def limits(text: str) -> tuple[int, int]:
    least, most = text.removesuffix(" bytes").split(" to ")
    return number(least), number(most)


def typed(row: Member, text: str) -> bool:
    """Whether the type and the range of a row are those of the text."""
    kind, _, rest = text.partition(", ")
    if text.startswith("`"):
        return row.type == "name" and row.names == tuple(CODE.findall(text))
    if kind.endswith("objects"):
        most = number(kind.removeprefix("up to ").removesuffix(" objects")) if kind != "objects" else None
        return row.type == "objects" and most in (row.most, None)
    if kind == "natural":
        return row.type in ("natural", "long") and (row.least, row.most) == limits(rest)
    return row.type == kind and (not rest or (row.least, row.most) == limits(rest))


def condition(text: str) -> list[dict[str, set[str]]]:
    """The alternatives of a condition: for each member, its names."""
    found = []
    for one in text.split("; ") if text else []:
        names = {}
        for part in one.split(" and "):
            member, *own = CODE.findall(part)
            names[member] = ORDERS - set(own) if "all but" in part else set(own)
        found.append(names)
    return found


def default(text: str) -> Any:
    """The default of a row; None if the row has none, or if the part about the recipe defines it."""
    if text in ("", "missing", "by the order"):
        return None
    if text in ("true", "false"):
        return text == "true"
    name = CODE.findall(text)
    return number(text) if not name else {} if name == ["{}"] else name[0]


def test_rows() -> None:
    found: dict[str, list[str]] = {}
    tables: dict[str, Table] = {}
    section = ""
    for kind, thing, (member, of_type, belongs, without) in rows():
        if thing.startswith("`"):
            section = CODE.findall(thing)[0]
        name = CODE.findall(member)[0]
        table = tables[f"{kind}: {thing} {section}"] = table_of(kind, thing, section)
        found.setdefault(f"{kind}: {thing} {section}", []).append(name)
        row = table[name]
        told = (kind, thing, name)
        assert typed(row, of_type), told
        assert [{key: set(own) for key, own in one.items()} for one in row.when] == condition(belongs), told
        assert row.needed == (without == "missing"), told
        assert (row.default or None if isinstance(row.default, list) else row.default) == default(without), told
    assert len(found) == 26
    for thing, names in found.items():
        assert names == list(tables[thing]), thing
