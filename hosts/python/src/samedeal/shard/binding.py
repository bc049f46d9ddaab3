"""Instances that answer for a plan, or a stream of chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..bindings import shards
from ..engine.component import Component
from ..engine.core import Core
from ..engine.instance import EpochMoved
from .records import Verification

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_VERIFY_MEMORY = 2**27
"""Memory of a verification, besides the lists that it compares: enough for eight million shards that nobody has."""


class Plan(EpochMoved, shards.Plan):
    """A `plan` of the interface, in an instance of its own. The arguments must have been checked to cross."""

    _to_epoch = shards.call_plan_set_epoch

    def __init__(self, config: shards.PlanConfig, memory_limit: int) -> None:
        super().__init__(Core(Component.PLANNING, memory_limit, "sizes", f"{len(config.sizes)} shards"), config)
        self.current = config
        """What the component's plan is of, whenever its core is `whole`."""


class Stream(shards.ChunkStream):
    """A `chunk-stream` of the interface, in an instance of its own. The arguments must have been checked to cross."""

    def __init__(self, config: shards.StreamConfig, memory_limit: int) -> None:
        super().__init__(Core(Component.PLANNING, memory_limit, "readers", str(config.readers)), config)
        self.current = config

    def move(self, config: shards.StreamConfig) -> bool:
        """Nothing moves a stream."""
        return True


def verify(count: int, offsets: NDArray[np.uint32], assigned: NDArray[np.uint32]) -> Verification:
    """Compares what readers have with the shards that there are."""
    # Shards that nobody has come back as a list: memory follows what is passed, and not the number of shards.
    memory = min(2**31, _VERIFY_MEMORY + 16 * (len(offsets) + len(assigned)))
    core = Core(Component.PLANNING, memory, "shards", str(count))
    return Verification.of(shards.verify(core, count, offsets, assigned))
