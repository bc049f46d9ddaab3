"""Instances that answer for batches, streams of them, and collation."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from ..bindings import batches, collation
from ..engine.component import Component
from ..engine.core import Core
from ..engine.errors import OutOfMemoryError
from ..engine.instance import ANYWHERE, EpochMoved, anywhere, move_by

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PADDING = 2**32 - 1
"""The source of a cell of padding."""

Cells = TypeVar("Cells", collation.Padded, collation.Packed)


class Plan(EpochMoved, batches.Batcher):
    """A `batcher` of the interface, in an instance of its own. The arguments must have been checked to cross."""

    _to_epoch = batches.call_batcher_set_epoch

    def __init__(self, config: batches.BatchConfig, memory_limit: int) -> None:
        super().__init__(Core(Component.BATCHING, memory_limit, "lengths", f"{len(config.lengths)} of them"), config)
        self.current = config
        """What the component's batches are of, whenever its core is `whole`."""

    @staticmethod
    def in_epoch(config: batches.BatchConfig, epoch: int) -> batches.BatchConfig:
        """A configuration in another epoch, of which nothing was taken."""
        return config if config.epoch == epoch else config._replace(epoch=epoch, history=())

    def move(self, config: batches.BatchConfig) -> bool:
        """Moves to the epoch of a configuration that differs in nothing else, if it can go there."""
        if self.current.epoch == ANYWHERE:
            return False
        if self.current.epoch != config.epoch:
            self.set_epoch(config.epoch)
        if self.current.history != config.history:
            return False
        self.current = config
        return True

    def resume(self, state: str) -> None:
        """Goes on where a state was taken; `current` is what it is then."""
        move_by(batches.call_batcher_resume, self, anywhere, state)
        self.current = self.current._replace(epoch=self.epoch(), history=self.history())


class Stream(batches.BatchStream):
    """A `batch-stream` of the interface, in an instance of its own. The arguments must have been checked to cross."""

    def __init__(self, config: batches.BatchConfig, rank: int, memory_limit: int) -> None:
        super().__init__(Core(Component.BATCHING, memory_limit), config, rank)

    def push(self, samples: NDArray[np.uint64], lengths: NDArray[np.uint32]) -> None:
        """Adds samples."""
        if samples.nbytes + lengths.nbytes > self.core.room():
            # Told before anything crosses: what is in the stream is there once.
            raise OutOfMemoryError("samples", f"{len(samples)} of them", "fewer at a time")
        super().push(samples, lengths)


class Collation:
    """The functions of collation, in an instance of their own. The arguments must have been checked to cross."""

    # What a large batch leaves behind is more than another instance costs.
    _KEPT = 2**22

    def __init__(self, config: None) -> None:
        self.core = Core(Component.BATCHING, 2**31)
        self.core.whole = True
        self.current = config

    def move(self, config: None) -> bool:
        """There is nothing to move."""
        return True

    def pad(self, lengths: NDArray[np.uint32], width: int, multiple: int, side: collation.Side) -> collation.Padded:
        """Where each cell of a row per sequence comes from."""
        return self._measured(collation.pad(self.core, lengths, width, multiple, side))

    def pack(self, lengths: NDArray[np.uint32], row_ends: NDArray[np.uint32], width: int) -> collation.Packed:
        """Where each cell of shared rows comes from."""
        return self._measured(collation.pack(self.core, lengths, row_ends, width))

    def _measured(self, cells: Cells) -> Cells:
        if len(cells.sources) > self._KEPT:
            # Not used again, so that its memory goes.
            self.core.whole = False
        return cells
