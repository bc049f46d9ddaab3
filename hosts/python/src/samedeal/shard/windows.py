"""Reads of a plan that take several calls of one instance, so that nobody moves it between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, SupportsIndex

from ..engine import arguments as check
from ..engine.arguments import MILLION
from ..engine.errors import OutOfMemoryError
from . import binding as planning
from .binding import Plan
from .records import Balance, Loads, Verification

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WINDOW = 2**16
"""What is read at a time, so that what the component wrote is still in the cache."""


def shards(plan: Plan, rank: int, worker: int) -> NDArray[np.uint32]:
    """The shards of a reader."""
    import numpy

    out = numpy.empty(plan.num_shards(rank, worker), dtype=numpy.uint32)
    for start in range(0, len(out), WINDOW):
        part = out[start : start + WINDOW]
        part[:] = plan.shards(rank, worker, start, len(part))
    return out


def rows(plan: Plan, shard: int, start: SupportsIndex, stop: SupportsIndex | None) -> NDArray[np.int64]:
    """A run of the rows of a shard, or all of them."""
    import numpy

    if shard >= len(plan.kept_sizes()):
        # The component says what is wrong with it.
        plan.rows(shard, 0, 0)
    end = int(plan.kept_sizes()[shard])
    first = check.integer("start", start, check.Width(0, end, f"0 to {end}"))
    last = end if stop is None else check.integer("stop", stop, check.Width(first, end, f"{first} to {end}"))
    try:
        out = numpy.empty(last - first, dtype=numpy.int64)
    except (MemoryError, ValueError) as error:
        raise OutOfMemoryError("count", str(last - first), "a shorter run") from error
    for at in range(first, last, WINDOW):
        part = out[at - first : at - first + WINDOW]
        part[:] = plan.rows(shard, at, len(part))
    return out


def loads(plan: Plan, tier: str) -> Loads:
    """What every rank or worker has to read."""
    import numpy

    members = plan.world_size() * (1 if tier == "ranks" else plan.workers())
    columns: dict[str, list[NDArray[np.int64]]] = {}
    for start in range(0, members, WINDOW):
        for name, numbers in plan.loads(tier, start, min(WINDOW, members - start)):
            columns.setdefault(name, []).append(numbers.view("int64"))
    return Loads(**{name: numpy.concatenate(parts) for name, parts in columns.items()})


def balance(plan: Plan, tier: str, weight: str) -> Balance:
    """How evenly loads are spread."""
    return Balance(*plan.balance(tier, weight), imbalance=plan.imbalance(tier, weight) / MILLION)


def verify(plan: Plan) -> Verification:
    """What all readers have, compared with the shards that there are."""
    import numpy

    workers = plan.workers()
    counts = loads(plan, "workers").shards
    ends = numpy.concatenate(([0], numpy.cumsum(counts)))
    assigned = numpy.empty(ends[-1], dtype=numpy.uint32)
    for reader in numpy.flatnonzero(counts).tolist():
        assigned[ends[reader] : ends[reader + 1]] = shards(plan, *divmod(reader, workers))
    return planning.verify(len(plan.kept_sizes()), ends.astype(numpy.uint32), assigned)
