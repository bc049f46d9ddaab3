"""The rules for each single member of a recipe: section 14, "Members"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .base import MAX_SAMPLES, MAX_WINDOW, Failure, require
from .recipe_text import Lists, found, shown

Names = dict[str, str]
"""The names among the members of an object, with their defaults."""


@dataclass(frozen=True)
class Member:
    least: int = 0
    most: int = MAX_SAMPLES
    """The limit of a number, of each number of a list, or of the bytes of a text."""
    names: tuple[str, ...] = ()
    """The allowed names. The first one is the default."""
    belongs: Callable[[Names], bool] = lambda _names: True
    needed: bool = False
    objects: dict[str, Member] | None = None
    beside: bool = True
    """Whether the numbers of a list may come beside the text."""


ANY = Member(most=2**64 - 1)
COUNT = Member()
POSITIVE = Member(1)
SHORT = Member(0, 2**32 - 1)
SHORT_POSITIVE = Member(1, 2**32 - 1)
WINDOW = Member(1, MAX_WINDOW)

BLENDS = ("blend", "blend-exact")
VIEWS = ("exclude", "subset", "skip", "copies")


def of(*names: str, member: str = "name") -> Callable[[Names], bool]:
    return lambda here: here[member] in names


def but(*names: str) -> Callable[[Names], bool]:
    return lambda here: here["name"] not in names


def needed(member: Member) -> Member:
    return Member(**(vars(member) | {"needed": True}))


def when(belongs: Callable[[Names], bool], member: Member = ANY) -> Member:
    return Member(**(vars(member) | {"belongs": belongs}))


SOURCE = {"name": Member(1, 2**24, needed=True), "weight": COUNT, "samples": COUNT, "order": ANY}
STAGE = {"from": needed(POSITIVE), "weights": Member(most=2**64 - 1, needed=True, beside=False)}
GROWTH = {"epoch": needed(ANY), "consumed": needed(COUNT), "samples": needed(POSITIVE)}
RANGE = {"epoch": needed(ANY), "start": needed(COUNT), "count": needed(COUNT)}
ORDER = {
    "name": Member(),
    "samples": when(but(*VIEWS, "windows"), COUNT),
    "seed": when(but(*VIEWS)),
    "lanes": when(of("sharded"), Member(1, 4096)),
    "shuffle_window": when(of("sharded"), WINDOW),
    "shards": when(of("sharded"), COUNT),
    "sizes": when(of("sharded", "windows"), needed(ANY)),
    "exhaustion": Member(names=("repeat", "stop", "renormalise", "fail"), belongs=of(*BLENDS)),
    "max_passes": when(lambda here: here["name"] in BLENDS and here["exhaustion"] != "repeat", POSITIVE),
    "run_length": when(of(*BLENDS), WINDOW),
    "by_lane": when(lambda here: here["name"] in BLENDS and here["exhaustion"] == "repeat"),
    "index_space": Member(names=("joined", "shared"), belongs=of(*BLENDS)),
    "sources": Member(most=2**16, belongs=of(*BLENDS), needed=True, objects=SOURCE),
    "stages": Member(belongs=of(*BLENDS), objects=STAGE),
    "growth": Member(belongs=of("grown"), objects=GROWTH),
    "of": when(of(*VIEWS), needed(ANY)),
    "indices": when(of("exclude", "subset"), needed(ANY)),
    "ranges": Member(belongs=of("skip"), objects=RANGE),
    "copies": when(of("copies"), needed(SHORT_POSITIVE)),
    "length": when(of("windows"), needed(POSITIVE)),
    "stride": when(of("windows"), POSITIVE),
    "classes": when(of("balance"), needed(SHORT)),
    "factors": when(of("balance"), needed(COUNT)),
}
REMAINDERS = ("pad", "drop", "uneven")
LAYOUTS = ("strided", "contiguous", "rotated")
REMAINDER = Member(names=REMAINDERS)
LAYOUT = Member(names=LAYOUTS)
DEAL = {"world_size": SHORT_POSITIVE, "remainder": REMAINDER, "layout": LAYOUT, "unit": WINDOW}
READERS = Member(1, 2**22)
DEAL_OF_SHARDS = {"world_size": READERS, "workers": READERS}
DEAL_OF_READERS = {"world_size": READERS, "workers": Member(1, 2**16), "remainder": REMAINDER}
DEAL_OF_BATCHES = {"world_size": Member(1, 2**20)}
CHUNKS = {"chunks": POSITIVE}
DEAL_OF_CHUNKS = {"readers": SHORT_POSITIVE}
NEAR = of("locality-aware", member="policy")
SHARDS = {
    "policy": Member(names=("size-aware", "round-robin", "locality-aware")),
    "worker_policy": Member(names=("size-aware", "round-robin")),
    "weight": Member(names=("samples", "bytes")),
    "tolerance": when(NEAR, SHORT),
    "samples": COUNT,
    "shards": COUNT,
    "sizes": needed(ANY),
    "bytes": ANY,
    "holders": when(NEAR, needed(SHORT)),
    "holder_offsets": when(NEAR, needed(SHORT)),
    "rank_nodes": when(NEAR, needed(SHORT)),
}
BATCH_OF_READERS = {"batch_size": SHORT_POSITIVE}
SEGMENT_OF_READERS = {**DEAL_OF_READERS, "batch_size": SHORT_POSITIVE, "steps": POSITIVE}
SEGMENT_OF_BATCHES = {"world_size": Member(1, 2**20), "steps": POSITIVE}


def weighted(here: Names) -> bool:
    return here["counting"] == "weighted"


def budgeted(here: Names) -> bool:
    return here["strategy"] in ("budget", "bucket")


BUCKETED = of("bucket", member="strategy")
PACKED = of("pack", member="strategy")
BATCH = {
    "strategy": Member(names=("budget", "bucket", "pack", "pad-to-max")),
    "counting": Member(names=("padded", "unpadded", "weighted")),
    "linear": when(weighted, SHORT),
    "quadratic": when(weighted, SHORT),
    "max_batch_size": SHORT,
    "max_length": SHORT,
    "max_tokens": when(lambda here: budgeted(here) and not weighted(here), Member(1, 2**64 - 1)),
    "max_cost": when(lambda here: budgeted(here) and weighted(here), Member(1, 2**64 - 1)),
    "batch_size_multiple": when(
        lambda here: here["strategy"] == "bucket" or (here["strategy"], here["counting"]) == ("budget", "padded"),
        SHORT_POSITIVE,
    ),
    "capacity": when(PACKED, SHORT_POSITIVE),
    "packing": Member(
        names=("fast", "optimal"),
        belongs=lambda here: PACKED(here) or (here["strategy"] == "budget" and here["counting"] != "padded"),
    ),
    "bucket_width": when(BUCKETED, SHORT_POSITIVE),
    "boundaries": when(BUCKETED, SHORT),
    "quantiles": when(BUCKETED, WINDOW),
    "separate_buckets": when(BUCKETED),
    "pad_to_bucket": when(BUCKETED),
    "batch_window": when(of("budget", "bucket", "pack", member="strategy"), SHORT),
    "mean_length": when(of("budget", "bucket", "pack", member="strategy"), SHORT_POSITIVE),
    "too_long": Member(names=("error", "truncate", "drop", "split", "single")),
    "tail": Member(names=("even-split", "drop", "keep", "duplicate")),
}
"""Members of the section `batch` without `lengths`, which come beside the text in their own way."""
STEPS = {
    "batch_size": needed(SHORT_POSITIVE),
    "epochs": POSITIVE,
    "stages": Member(most=2**16, objects={"from": needed(POSITIVE), "batch_size": needed(SHORT_POSITIVE)}),
}
PART = {"name": Member(1, 256, needed=True), "weight": COUNT, "size": COUNT}
SPLIT = {"samples": COUNT, "parts": Member(most=2**16, needed=True, objects=PART)}


def checked(
    table: dict[str, Member], members: dict[str, Any], lists: Lists | None = None, path: str = "", **given: str
) -> dict[str, Any]:
    """The members of an object with the numbers of its lists. Each member is checked on its own, in their order."""
    here = {name: members.get(name, member.names[0]) for name, member in table.items() if member.names} | given
    numbers = dict(lists or [])
    out = dict(members)
    for name, member in table.items():
        beside = numbers.get(path + name) if member.beside else None
        value = members.get(name)
        if value is None and beside is None:
            require(not member.needed or not member.belongs(here), name, "", "missing")
            continue
        if not member.belongs(here):
            there = beside if value is None else value
            text = f"{len(there)} objects" if member.objects is not None else shown(there)
            raise Failure("contradiction", name, text)
        if member.objects is not None:
            require(bool(value) or not member.needed, name, "", "missing")
            require(len(value) <= member.most, name, f"{len(value)} objects")
            for item in value:
                checked(member.objects, item)
        elif isinstance(value, list) or beside is not None or (isinstance(value, str) and is_numbers(name)):
            out[name] = found(name, value, beside)
            for at, number in enumerate(out[name]):
                require(number <= member.most, name, f"{number} (at index {at})")
        elif member.names:
            require(value in member.names, name, value, "unknown-name")
        elif isinstance(value, str):
            require(member.least <= len(value.encode()) <= member.most, name, value)
        elif isinstance(value, int) and not isinstance(value, bool) and name != "seed":
            require(member.least <= value <= member.most, name, value)
    return out


def is_numbers(name: str) -> bool:
    return name in NUMBERS


NUMBERS = (
    *("sizes", "bytes", "holders", "holder_offsets", "rank_nodes", "indices", "classes", "factors", "boundaries"),
    "weights",
)


def allow(lists: Lists, path: str, table: dict[str, Member], *below: str) -> None:
    """Refuses the first list that belongs to no member, and to none of these paths."""
    for name, _ in lists:
        own = name.removeprefix(path)
        if own not in table and not any(own.startswith(one) for one in below):
            raise Failure("contradiction", "lists", name)
