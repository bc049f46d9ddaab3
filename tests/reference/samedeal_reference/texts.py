"""The kind of a text, and differences between texts: section 14."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from .base import Failure, require
from .batch_recipes import BatchRecipe
from .chunks import ChunkStream
from .plan import Plan
from .readings import Reading
from .recipe_text import MAX_TEXT, SURROGATE, Text, in_digits, require_format
from .sampler import Sampler
from .splits import Split
from .state import refuse_number
from .steps import Schedule

KINDS = {
    "sampler": ("state", "sampler"),
    "batcher": ("state", "batcher"),
    "reading": ("state", "reading"),
    "schedule": ("state", "schedule"),
    "ledger": ("log", "sampler"),
    "index": ("index", "batcher"),
}
SECTIONS = ("order", "shards", "deal", "batch", "steps", "split")
MOST_DEPTH = 64


@dataclass
class TextKind:
    form: str
    of: str


class Number(str):
    """A number as it is written in the text."""


class Pairs(list[tuple[str, Any]]):
    """The members of an object. A name may come twice."""


def depth(value: Any) -> int:
    if isinstance(value, Pairs):
        return 1 + max((depth(inner) for _, inner in value), default=0)
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


def parsed(text: str) -> Any:
    """The value of a text; None if it is no JSON with the strings of section 10."""
    try:
        found = json.loads(
            text, object_pairs_hook=Pairs, parse_int=Number, parse_float=Number, parse_constant=refuse_number
        )
        return None if SURROGATE.search(compact(found)) else found
    except (ValueError, RecursionError):
        return None


def members(field: str, text: str) -> Pairs:
    """Looks at a text: its members."""
    size = len(text.encode())
    require(size <= MAX_TEXT, field, f"of {size} bytes")
    found = parsed(text)
    if not isinstance(found, Pairs) or max((depth(inner) for _, inner in found), default=0) > MOST_DEPTH:
        raise Failure("wrong-type", field, text)
    for at, (member, value) in enumerate(found):
        is_number = isinstance(value, Number)
        version = in_digits(value) if is_number else None
        is_mistyped = member == "samedeal" and (version is None or not 0 <= version < 2**64)
        if is_mistyped or (member == "kind" and (is_number or not isinstance(value, str))):
            raise Failure("wrong-type", member, list(values(text))[at][1])
    return found


def members_of_format(field: str, text: str) -> Pairs:
    """Looks at a text of this format."""
    if len(text.encode()) <= MAX_TEXT:
        require_format(text)
    return members(field, text)


def inspect(text: str) -> TextKind:
    found = dict(members_of_format("text", text))
    if "kind" in found:
        require(found["kind"] in KINDS, "kind", found["kind"], "unknown-name")
        return TextKind(*KINDS[found["kind"]])
    of = recipe_of(found)
    if of is None:
        raise Failure("wrong-type", "text", text)
    return TextKind("recipe", of)


def recipe_of(found: dict[str, Any]) -> str | None:
    has = {name: dict(found[name]) for name in SECTIONS if isinstance(found.get(name), Pairs)}
    order, deal, batch = (has.get(name, {}) for name in ("order", "deal", "batch"))
    for of, is_it in (
        ("split", "split" in has),
        ("schedule", "steps" in has),
        ("chunk-stream", "readers" in deal or "chunks" in order),
        ("reading", "batch_size" in batch or "drop_last" in batch),
        ("plan", "shards" in has),
        ("batcher", "batch" in has),
        ("reading", "workers" in deal),
        ("sampler", "order" in has or "deal" in has),
    ):
        if is_it:
            return of
    return None


def recipe_after(state: str, sections: str) -> str:
    found = dict(members_of_format("state", state))
    if "kind" not in found or not isinstance(found.get("recipe"), Pairs):
        raise Failure("wrong-type", "state", state)
    members("sections", sections)
    # The section of the recipe is copied from the text, so that its spelling stays.
    own, others = (text[1:-1].strip() for text in (dict(values(state))["recipe"], sections.strip()))
    return "{" + ",".join(part for part in (own, others) if part) + "}"


def values(text: str) -> Iterator[tuple[str | None, str]]:
    """The members of an object, with their values as they are written in its text."""
    reader, decoder = Text(text), json.JSONDecoder(parse_int=Number)
    reader.need("{")
    while not reader.next("}"):
        reader.next(",")
        name = reader.string()
        reader.need(":")
        reader.space()
        start = reader.at
        _, reader.at = decoder.raw_decode(text, start)
        yield name, text[start : reader.at]


@dataclass
class Difference:
    path: str
    one: str | None
    other: str | None
    decides: str


CANONICAL = {
    "split": lambda text: Split(text).recipe(),
    "schedule": lambda text: Schedule(text, [], 0).recipe(),
    "chunk-stream": lambda text: ChunkStream(text, 0, 0).recipe(),
    "reading": lambda text: Reading(text, [], 0).recipe(),
    "plan": lambda text: Plan(text, [], 0).recipe(),
    "batcher": lambda text: BatchRecipe(text, None, []).recipe(),
    "sampler": lambda text: Sampler(text, [], 0, 0).recipe(),
}
DECIDES = {name: name for name in ("order", "deal", "batch", "steps", "split", "epoch", "kind")}
DECIDES |= dict.fromkeys(("consumed", "positions", "history", "window", "checksum", "step"), "progress")
DECIDES |= {"shards": "deal"}


def compact(value: Any) -> str:
    if isinstance(value, Number):
        return value
    if isinstance(value, Pairs):
        return "{" + ",".join(f"{compact(name)}:{compact(inner)}" for name, inner in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(compact, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def flat(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Pairs) and value:
        for name, inner in value:
            yield from flat(f"{path}.{name}", inner)
    elif isinstance(value, list) and any(isinstance(item, Pairs) for item in value):
        for at, item in enumerate(value):
            yield from flat(f"{path}[{at}]", item)
    else:
        yield path, compact(value)


def all_members(field: str, text: str) -> list[tuple[str, str]]:
    document = members(field, text)
    if (of := recipe_kind(document)) is not None:
        with suppress(Failure):
            document = parsed(CANONICAL[of](text))
    return [pair for name, value in document for pair in flat(name, value)]


def recipe_kind(document: Pairs) -> str | None:
    """The kind of a text that is a recipe."""
    found = dict(document)
    return None if "kind" in found else recipe_of(found)


def first_name(path: str) -> str:
    return re.split(r"[.\[]", path)[0]


def alike(recipe: list[tuple[str, str]], state: list[tuple[str, str]]) -> None:
    """Removes the parts of a state that are not compared with a recipe."""
    own = [(path.removeprefix("recipe."), value) for path, value in state if path.startswith("recipe.")]
    if own:
        state[:] = own
        sections = {first_name(path) for path, _ in own}
        recipe[:] = [pair for pair in recipe if first_name(pair[0]) in sections]


def by_path(field: str, pairs: list[tuple[str, str]]) -> dict[str, str]:
    paths = sorted(path for path, _ in pairs)
    for path, after in pairwise(paths):
        require(path != after, field, path, "contradiction")
    return dict(pairs)


def told_below(path: str, here: dict[str, str], others: dict[str, str]) -> bool:
    """Whether an empty list or object need not be told, because the other text has members of it, which are told."""
    below = {"[]": "[", "{}": "."}.get(here[path])
    return below is not None and any(other.startswith(path + below) and other not in here for other in others)


def differences(one: str, other: str) -> list[Difference]:
    own, others = all_members("one", one), all_members("other", other)
    is_recipe = [recipe_kind(parsed(text)) is not None for text in (one, other)]
    if is_recipe == [True, False]:
        alike(own, others)
    if is_recipe == [False, True]:
        alike(others, own)
    here, there = by_path("one", own), by_path("other", others)
    paths = [path for path in here if here[path] != there.get(path) and not told_below(path, here, there)]
    paths += [path for path in there if path not in here and not told_below(path, there, here)]
    section = {path: first_name(path.removeprefix("recipe.")) for path in paths}
    return [Difference(path, here.get(path), there.get(path), DECIDES.get(section[path], "")) for path in paths]
