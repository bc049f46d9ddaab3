"""The resources of the interface for plans and streams of chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..engine.core import Core
from ..engine.instance import Resource
from ..generated import shards
from ..recipe import Recipe
from .records import Verification

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Plan(Resource, shards.Plan):
    """A `plan` of the interface, in an instance of its own. The caller checks that arguments fit the WIT types."""

    def __init__(self, epoch: int, recipe: Recipe, memory_limit: int) -> None:
        super().__init__(recipe.core(memory_limit), recipe.text, recipe.lists, epoch)
        self.current = epoch
        self._sizes: NDArray[np.int64] | None = None

    def move(self, epoch: int) -> None:
        """Moves to another epoch."""
        if epoch != self.current:
            self.become(self.at_epoch(epoch), epoch)
        self.current = epoch

    def kept_sizes(self) -> NDArray[np.int64]:
        """Number of samples in each shard, cached."""
        if self._sizes is None:
            self._sizes = self.sizes()
        return self._sizes


class Place(NamedTuple):
    """The configuration of a chunk stream: the epoch of its first cycle, and the reader."""

    epoch: int
    reader: int


class Stream(Resource, shards.ChunkStream):
    """A `chunk-stream` of the interface, in an instance of its own. Callers check that arguments fit the WIT types."""

    def __init__(self, place: Place, recipe: Recipe, memory_limit: int) -> None:
        super().__init__(recipe.core(memory_limit), recipe.text, *place)
        self.current = place


def verify(num_shards: int, offsets: NDArray[np.uint32], assigned: NDArray[np.uint32]) -> Verification:
    """Compares the shards of readers with the shards 0 to `num_shards` - 1."""
    core = Core(2**31, "num_shards", str(num_shards))
    return Verification(*shards.verify(core, num_shards, offsets, assigned))
