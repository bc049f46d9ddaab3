"""Reads of a plan that take several calls of the engine.

Each read is one function for `Engine.use`, which holds a lock: no other thread sets another epoch between its calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, SupportsIndex

from ..engine import arguments as check
from ..engine.arguments import MILLION
from . import binding as planning
from .binding import Plan
from .records import Loads, LoadSummary, Verification

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WINDOW = 2**16
"""The most numbers that are read at a time, so that they are still in the cache of the processor."""


def shards(plan: Plan, rank: int, worker: int) -> NDArray[np.uint32]:
    """The shards of a reader."""
    from ..engine.indices import read

    count = plan.num_shards(rank, worker)
    found: NDArray[np.uint32] = read(0, count, lambda at, length: plan.shards(rank, worker, at, length), "uint32")
    return found


def rows(plan: Plan, shard: int, start: SupportsIndex, stop: SupportsIndex | None) -> NDArray[np.int64]:
    """A run of the rows of a shard, or all of them."""
    from ..engine.indices import read

    if shard >= len(plan.kept_sizes()):
        # Raises the component's error: there is no such shard.
        plan.rows(shard, 0, 0)
    first, last = check.run(start, stop, int(plan.kept_sizes()[shard]))
    found: NDArray[np.int64] = read(first, last, lambda at, length: plan.rows(shard, at, length))
    return found


def loads(plan: Plan, tier: str) -> Loads:
    """The load of every rank or worker."""
    import numpy

    members = plan.world_size() * (1 if tier == "ranks" else plan.workers())
    columns: dict[str, list[NDArray[np.int64]]] = {}
    for start in range(0, members, WINDOW):
        for name, numbers in plan.loads(tier, start, min(WINDOW, members - start)):
            columns.setdefault(name, []).append(numbers.view("int64"))
    return Loads(**{name: numpy.concatenate(parts) for name, parts in columns.items()})


def load_summary(plan: Plan, tier: str, balance_by: str) -> LoadSummary:
    """How evenly loads are spread."""
    return LoadSummary(*plan.load_summary(tier, balance_by), imbalance=plan.imbalance(tier, balance_by) / MILLION)


def verify(plan: Plan) -> Verification:
    """The shards that all readers have, compared with the shards that there are."""
    import numpy

    workers = plan.workers()
    counts = loads(plan, "workers").shards
    ends = numpy.concatenate(([0], numpy.cumsum(counts)))
    assigned = numpy.empty(ends[-1], dtype=numpy.uint32)
    for reader in numpy.flatnonzero(counts).tolist():
        assigned[ends[reader] : ends[reader + 1]] = shards(plan, *divmod(reader, workers))
    return planning.verify(len(plan.kept_sizes()), ends.astype(numpy.uint32), assigned)
