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
from .sampler import Sampler
from .splits import Split
from .steps import Schedule

STATES = {
    "sampler": ("state", "sampler"),
    "batcher": ("state", "batcher"),
    "reading": ("state", "reading"),
    "schedule": ("state", "schedule"),
    "ledger": ("log", "sampler"),
}
SECTIONS = ("order", "shards", "deal", "batch", "steps", "split")
MOST_BYTES = 2**24
MOST_DEPTH = 64


@dataclass
class TextKind:
    form: str
    of: str


def depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


def members(field: str, text: str) -> dict[str, Any]:
    size = len(text.encode())
    require(size <= MOST_BYTES, field, f"of {size} bytes")
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict) or max(map(depth, found.values()), default=0) > MOST_DEPTH:
        raise Failure("wrong-type", field, text)
    for member, kind in (("samedeal", int), ("kind", str)):
        if type(found.get(member, kind())) is not kind:
            raise Failure("wrong-type", member, json.dumps(found[member]))
    return found


def inspect(text: str) -> TextKind:
    found = members("text", text)
    version = found.get("samedeal", 1)
    require(version == 1, "samedeal", version)
    if "kind" in found:
        require(found["kind"] in STATES, "kind", found["kind"], "unknown-name")
        return TextKind(*STATES[found["kind"]])
    of = recipe_of(found)
    if of is None:
        raise Failure("wrong-type", "text", text)
    return TextKind("recipe", of)


def recipe_of(found: dict[str, Any]) -> str | None:
    has = {name: found[name] for name in SECTIONS if isinstance(found.get(name), dict)}
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
    found = members("state", state)
    if "kind" not in found or not isinstance(found.get("recipe"), dict):
        raise Failure("wrong-type", "state", state)
    members("sections", sections)
    # The section stays as it is written in the text.
    start = re.search(r'"recipe"\s*:\s*', state).end()  # type: ignore[union-attr]
    _, end = json.JSONDecoder().raw_decode(state, start)
    own, others = state[start + 1 : end - 1].strip(), sections.strip()[1:-1].strip()
    return "{" + ",".join(part for part in (own, others) if part) + "}"


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


class Number(str):
    """A number as it is written in the text."""


class Pairs(list[tuple[str, Any]]):
    """The members of an object. A name may come twice."""


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
    found = members(field, text)
    of = None if "kind" in found else recipe_of(found)
    if of is not None:
        with suppress(Failure):
            text = CANONICAL[of](text)
    document = json.loads(text, object_pairs_hook=Pairs, parse_int=Number, parse_float=Number)
    return [pair for name, value in document for pair in flat(name, value)]


def first_name(path: str) -> str:
    return re.split(r"[.\[]", path)[0]


def alike(recipe: list[tuple[str, str]], state: list[tuple[str, str]]) -> None:
    """Removes the parts of a state that its comparison with a recipe does not need."""
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
    """Whether a list or an object is empty here, and the other text has members of it that are not here."""
    below = {"[]": "[", "{}": "."}.get(here[path])
    return below is not None and any(other.startswith(path + below) and other not in here for other in others)


def differences(one: str, other: str) -> list[Difference]:
    own, others = all_members("one", one), all_members("other", other)
    is_recipe = ["kind" not in (found := json.loads(text)) and recipe_of(found) is not None for text in (one, other)]
    if is_recipe == [True, False]:
        alike(own, others)
    if is_recipe == [False, True]:
        alike(others, own)
    here, there = by_path("one", own), by_path("other", others)
    paths = [path for path in here if here[path] != there.get(path) and not told_below(path, here, there)]
    paths += [path for path in there if path not in here and not told_below(path, there, here)]
    section = {path: first_name(path.removeprefix("recipe.")) for path in paths}
    return [Difference(path, here.get(path), there.get(path), DECIDES.get(section[path], "")) for path in paths]
