"""The table of members: every member of every recipe and state, with its type and its rules (sections 10 and 14)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from .base import MAX_SAMPLES, MAX_U32, MAX_U64, MAX_WINDOW

Names = dict[str, str]
"""The names among the members of an object, with their defaults."""
Condition = tuple[dict[str, tuple[str, ...]], ...]
"""Alternatives. Each one says which names other members must have; one of them must hold. Without alternatives, the
condition always holds."""


@dataclass(frozen=True, eq=False)
class Member:
    type: str = "natural"
    """natural, long, integer, flag, string, name, numbers, weight, weights, object or objects."""
    least: int = 0
    most: int = MAX_SAMPLES
    """The limit of a number, of each number of a list, of the bytes of a string, or of the number of objects."""
    default: Any = None
    needed: bool = False
    when: Condition = ()
    names: tuple[str, ...] = ()
    of: Table = field(default_factory=dict)
    """The members of the object, or of each of the objects."""
    brief: bool = False
    """Whether a canonical text leaves the default out."""
    apart: bool = False
    """Whether the check of the value is in the part about the recipe, and not in the table."""

    def belongs(self, here: Names) -> bool:
        """Whether the member may be there, if the names of other members are `here`."""
        return not self.when or any(all(here[name] in own for name, own in one.items()) for one in self.when)


Table = dict[str, Member]
"""The members of an object, in their order."""


def number(least: int = 0, most: int = MAX_SAMPLES, default: int | None = None, **rules: Any) -> Member:
    return Member("natural", least, most, default, **rules)


def long(least: int = 0, **rules: Any) -> Member:
    return Member("long", least, MAX_U64, **rules)


def flag(default: bool | None = None, **rules: Any) -> Member:
    return Member("flag", default=default, **rules)


def string(least: int = 0, most: int = MAX_SAMPLES, **rules: Any) -> Member:
    return Member("string", least, most, **rules)


def name(*names: str, **rules: Any) -> Member:
    return Member("name", names=names, **{"default": names[0]} | rules)


def numbers(most: int = MAX_U64, **rules: Any) -> Member:
    return Member("numbers", most=most, **rules)


def inside(of: Table, **rules: Any) -> Member:
    return Member("object", of=of, **rules)


def section(of: Table) -> Member:
    """A member whose value is an object; by default an empty one."""
    return inside(of, default={})


def objects(of: Table, most: int = MAX_SAMPLES, **rules: Any) -> Member:
    return Member("objects", most=most, of=of, **rules)


def when(**names: str | tuple[str, ...]) -> Condition:
    """The condition that other members have these names."""
    return ({member: own if isinstance(own, tuple) else (own,) for member, own in names.items()},)


VERSION = number(1, 1, 1)
SEED = Member("integer", default=0)
SHARE = Member("weight")

# Orders: sections 1 and 15.

SIMPLE = ("feistel", "fisher-yates", "sequential", "torch", "torch-2.5", "python", "dotnet")
"""The orders of section 3 that only need a number of samples."""
PLAIN = (*SIMPLE, "sharded")
BLENDS = ("blend", "blend-exact")
VIEWS = ("exclude", "subset", "skip", "copies")

IN_BLENDS, IN_SHARDED = when(name=BLENDS), when(name="sharded")
ORDER: Table = {}
SOURCE = {
    "name": string(1, 2**24, needed=True),
    "weight": replace(SHARE, default=1),
    "samples": number(),
    "order": inside(ORDER),
}
STAGE = {"from": number(1, needed=True), "weights": Member("weights", most=MAX_U64, needed=True)}
GROWTH = {"epoch": long(needed=True), "consumed": number(needed=True), "samples": number(1, needed=True)}
RANGE = {"epoch": long(needed=True), "start": number(needed=True), "count": number(needed=True)}
ORDER |= {
    "name": string(apart=True),
    "samples": number(when=when(name=(*PLAIN, *BLENDS, "grown", "balance", "weighted"))),
    "seed": replace(SEED, when=when(name=(*PLAIN, *BLENDS, "grown", "windows", "balance", "weighted"))),
    "lanes": number(1, 2**16, 64, when=IN_SHARDED),
    "shuffle_window": number(1, MAX_WINDOW, 256, when=IN_SHARDED),
    "shards": number(when=IN_SHARDED),
    "sizes": numbers(when=when(name=("sharded", "windows")), needed=True),
    "exhaustion": name("repeat", "stop", "renormalize", "fail", when=IN_BLENDS),
    "max_passes": number(1, default=1, when=when(name=BLENDS, exhaustion=("stop", "renormalize", "fail"))),
    "run_length": number(1, MAX_WINDOW, 1, when=IN_BLENDS, brief=True),
    "by_lane": flag(False, when=when(name=BLENDS, exhaustion="repeat"), brief=True),
    "index_space": name("joined", "shared", when=IN_BLENDS),
    "sources": objects(SOURCE, 2**16, when=IN_BLENDS, needed=True),
    "stages": objects(STAGE, when=IN_BLENDS, default=[]),
    "growth": objects(GROWTH, when=when(name="grown"), default=[]),
    "of": inside(ORDER, when=when(name=VIEWS), needed=True),
    "indices": numbers(when=when(name=("exclude", "subset")), needed=True),
    "ranges": objects(RANGE, when=when(name="skip"), default=[]),
    "copies": number(1, MAX_U32, when=when(name="copies"), needed=True),
    "length": number(1, when=when(name="windows"), needed=True),
    "stride": number(1, when=when(name="windows")),
    "classes": numbers(MAX_U32, when=when(name="balance"), needed=True),
    "factors": numbers(MAX_SAMPLES, when=when(name="balance"), needed=True),
    "weights": numbers(MAX_SAMPLES, when=when(name="weighted"), needed=True),
    "replacement": flag(True, when=when(name="weighted"), brief=True),
}
ORDER_OF_CHUNKS = {"name": string(apart=True), "chunks": number(1), "seed": SEED}
COMPOSED = tuple(member for member, row in ORDER.items() if not any(row.belongs({"name": own}) for own in PLAIN))
"""Members that only composed orders have."""

# Deals: sections 4, 7, 9, 13 and 17.

WORLD = number(1, MAX_U32, 1)
READERS = number(1, 2**22, 1)
RANKS_OF_BATCHES = number(1, 2**20, 1)
WORKERS = number(1, 2**16, 1)
REMAINDER = name("pad", "drop", "uneven")
LAYOUT = name("strided", "contiguous", "rotated", default=None)
UNIT = number(1, MAX_WINDOW, 1, brief=True)
DEAL = {"world_size": WORLD, "remainder": REMAINDER, "layout": LAYOUT, "unit": UNIT}
DEAL_OF_STEPS = {"world_size": WORLD, "layout": LAYOUT, "unit": UNIT}
DEAL_OF_SHARDS = {"world_size": READERS, "workers": READERS}
DEAL_OF_READERS = {"world_size": READERS, "workers": WORKERS, "remainder": REMAINDER}
DEAL_OF_BATCHES = {"world_size": RANKS_OF_BATCHES}
DEAL_OF_CHUNKS = {"readers": WORLD}

# Whole shards: section 7.

NEAR = when(policy="locality-aware")
SHARDS = {
    "shuffle": flag(True),
    "shuffle_rows": flag(),
    "reshuffle": flag(False),
    "seed": SEED,
    "policy": name("size-aware", "round-robin", "locality-aware"),
    "worker_policy": name("size-aware", "round-robin"),
    "balance_by": name("samples", "bytes"),
    "tolerance": number(0, MAX_U32, 50, when=NEAR),
    "samples": number(),
    "shards": number(),
    "sizes": numbers(needed=True),
    "bytes": numbers(),
    "holders": numbers(MAX_U32, when=NEAR, needed=True),
    "holder_offsets": numbers(MAX_U32, when=NEAR, needed=True),
    "rank_nodes": numbers(MAX_U32, when=NEAR, needed=True),
}

# Batches: section 9.

LIMITED = ("budget", "bucket")
PLANNED = when(strategy=("budget", "bucket", "pack"))
WEIGHTED, BUCKETED, PACKED = when(counting="weighted"), when(strategy="bucket"), when(strategy="pack")
BATCH = {
    "strategy": name("budget", "bucket", "pack", "pad-to-max"),
    "counting": name("padded", "unpadded", "weighted"),
    "linear": number(0, MAX_U32, 1, when=WEIGHTED),
    "quadratic": number(0, MAX_U32, 0, when=WEIGHTED),
    "max_batch_size": number(1, MAX_U32),
    "max_length": number(0, MAX_U32, MAX_U32, brief=True),
    "max_tokens": long(1, when=when(strategy=LIMITED, counting=("padded", "unpadded"))),
    "max_cost": long(1, when=when(strategy=LIMITED, counting="weighted")),
    "batch_size_multiple": number(1, MAX_U32, 1, when=BUCKETED + when(strategy="budget", counting="padded")),
    "capacity": number(1, MAX_U32, when=PACKED),
    "packing": name("fast", "optimal", when=PACKED + when(strategy="budget", counting=("unpadded", "weighted"))),
    "bucket_width": number(1, MAX_U32, when=BUCKETED),
    "boundaries": numbers(MAX_U32, when=BUCKETED),
    "quantiles": number(1, MAX_WINDOW, when=BUCKETED),
    "separate_buckets": flag(False, when=BUCKETED),
    "pad_to_bucket": flag(False, when=BUCKETED),
    "batch_window": number(1, MAX_U32, when=PLANNED),
    "mean_length": number(1, MAX_U32, when=PLANNED),
    "keep_order": flag(False, when=PLANNED, brief=True),
    "too_long": name("error", "truncate", "drop", "split", "single"),
    "tail": name("even-split", "drop", "keep", "duplicate"),
    "lengths": numbers(MAX_U32, apart=True),
}
BATCH_OF_READERS = {"batch_size": number(1, MAX_U32, 1), "drop_last": flag(False)}

# Steps and splits: sections 16 and 17.

STEP_SIZE = number(1, MAX_U32, needed=True)
STAGE_OF_STEPS = {"from": number(1, needed=True), "global_batch_size": STEP_SIZE}
STEPS = {
    "global_batch_size": STEP_SIZE,
    "epochs": number(1),
    "stages": objects(STAGE_OF_STEPS, 2**16, default=[], brief=True),
}
PART = {"name": string(1, 256, needed=True), "weight": SHARE, "size": number()}
SPLIT = {"seed": SEED, "samples": number(), "parts": objects(PART, 2**16, needed=True)}

RECIPES: dict[str, Table] = {
    "sampler": {"samedeal": VERSION, "order": inside(ORDER, needed=True), "deal": section(DEAL)},
    "plan": {"samedeal": VERSION, "shards": inside(SHARDS, needed=True), "deal": section(DEAL_OF_SHARDS)},
    "reading": {
        "samedeal": VERSION,
        "order": inside(ORDER),
        "shards": inside(SHARDS),
        "deal": section(DEAL_OF_READERS),
        "batch": section(BATCH_OF_READERS),
    },
    "chunk-stream": {"samedeal": VERSION, "order": section(ORDER_OF_CHUNKS), "deal": section(DEAL_OF_CHUNKS)},
    "batcher": {
        "samedeal": VERSION,
        "order": section(ORDER),
        "deal": section(DEAL_OF_BATCHES),
        "batch": section(BATCH),
    },
    "schedule": {
        "samedeal": VERSION,
        "order": inside(ORDER, needed=True),
        "deal": section(DEAL_OF_STEPS),
        "steps": inside(STEPS, needed=True),
    },
    "split": {"samedeal": VERSION, "split": inside(SPLIT, needed=True)},
}

ALIKE: list[list[Table]] = [
    list(RECIPES.values()),
    [ORDER, ORDER_OF_CHUNKS],
    [DEAL, DEAL_OF_STEPS, DEAL_OF_SHARDS, DEAL_OF_READERS, DEAL_OF_BATCHES, DEAL_OF_CHUNKS],
]
"""Objects that count as one object in recipes of several kinds: each may have a member that another one has."""


def is_known(member: str, table: Table) -> bool:
    """Whether the object may have this member in a recipe of some kind."""
    family = next((family for family in ALIKE if any(own is table for own in family)), [table])
    return any(member in own for own in family)


# States: section 10.

SEGMENT_OF_BATCHES = {
    "world_size": replace(RANKS_OF_BATCHES, needed=True),
    "steps": number(1, needed=True),
    "batch": inside(BATCH),
}
SEGMENT_OF_READERS = {
    "world_size": replace(READERS, needed=True),
    "workers": replace(WORKERS, needed=True),
    "batch_size": STEP_SIZE,
    "drop_last": flag(needed=True),
    "steps": number(1, needed=True),
}


def state(sections: Table, *, counted: bool = True, **progress: Member) -> Table:
    """The members of a state. A state that is `counted` may have `positions`."""
    return {
        "samedeal": replace(VERSION, needed=True),
        "kind": string(needed=True),
        "recipe": inside(sections, needed=True),
        "epoch": long(needed=True),
        "consumed": number(needed=True),
        **({"positions": number()} if counted else {}),
        **progress,
    }


IN_ORDER = {"order": inside(ORDER)}
COUNT = number(needed=True)
STATES: dict[str, Table] = {
    "sampler": state(IN_ORDER),
    "ledger": state(IN_ORDER, block_size=COUNT, lease_ms=COUNT),
    "batcher": state(
        {**IN_ORDER, "batch": inside(BATCH)},
        counted=False,
        history=objects(SEGMENT_OF_BATCHES, needed=True),
        window=number(),
        checksum=string(),
    ),
    "reading": state({**IN_ORDER, "shards": inside(SHARDS)}, history=objects(SEGMENT_OF_READERS, needed=True)),
    "schedule": state({**IN_ORDER, "steps": inside(STEPS)}, counted=False, step=COUNT),
}
