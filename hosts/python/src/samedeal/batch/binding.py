"""Instances that answer for batches, streams of them, and collation."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ..bindings import batches, collation
from ..engine.component import Component
from ..engine.core import Core
from ..engine.errors import OutOfMemoryError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..bindings.batches import Segment
    from ..bindings.types import NamedList

PADDING = 2**32 - 1
"""The source of a cell of padding."""

Cells = TypeVar("Cells", collation.Padded, collation.Packed)


class BatchConfig(NamedTuple):
    """What decides batches."""

    recipe: str
    """As it was given."""
    lengths: NDArray[np.uint32] | None
    """None where the recipe has them, or where they come one by one."""
    lists: tuple[NamedList, ...] = ()
    """Those that the recipe has as a hash."""
    epoch: int = 0
    history: tuple[Segment, ...] = ()
    """What was taken of the epoch before."""

    def in_epoch(self, epoch: int) -> BatchConfig:
        """In another epoch, of which nothing was taken."""
        return self if self.epoch == epoch else self._replace(epoch=epoch, history=())


class Plan(batches.Batcher):
    """A `batcher` of the interface, in an instance of its own. The arguments must have been checked to cross."""

    def __init__(self, config: BatchConfig, memory_limit: int) -> None:
        count = "those of the recipe" if config.lengths is None else f"{len(config.lengths)} of them"
        core = Core(Component.BATCHING, memory_limit, "lengths", count)
        self.recipe = batches.BatchRecipe(core, config.recipe, config.lengths, config.lists)
        super().__init__(core, self.recipe, config.epoch, config.history)
        self.current = config
        """What the component's batches are of, whenever its core is `whole`."""

    def move(self, config: BatchConfig) -> bool:
        """Moves to the epoch and the history of a configuration that differs in nothing else."""
        if (config.epoch, config.history) != (self.current.epoch, self.current.history):
            if config.history:
                made = batches.Batcher(self.core, self.recipe, config.epoch, config.history)
            else:
                made = self.at_epoch(config.epoch)
            self._become(made, config)
        self.current = config
        return True

    def go_to_epoch(self, epoch: int) -> None:
        """Plans another epoch."""
        self.move(self.current.in_epoch(epoch))

    def go_on(self, state: str) -> BatchConfig:
        """Goes on where a state was taken; what it is then."""
        made = self.resume(state)
        # If an interruption comes now, nobody frees what was made.
        self.core.whole = False
        config = self.current._replace(epoch=made.epoch(), history=made.history())
        self._become(made, config)
        return config

    def named_metrics(self) -> dict[str, int]:
        """What all batches add up to, by name."""
        return dict(self.metrics())

    def num_steps(self) -> int:
        """How many batches every rank has."""
        return self.named_metrics()["steps"]

    def _become(self, other: batches.Batcher, config: BatchConfig) -> None:
        # Until the end of the last call: both change, or the instance goes.
        self.core.whole = False
        before, self.handle, self.current = self.handle, other.handle, config
        batches.call_batcher_drop(self.core, before)


class Stream(batches.BatchStream):
    """A `batch-stream` of the interface, in an instance of its own. The arguments must have been checked to cross."""

    def __init__(self, config: BatchConfig, rank: int, memory_limit: int) -> None:
        core = Core(Component.BATCHING, memory_limit)
        self.recipe = batches.BatchRecipe(core, config.recipe, config.lengths, config.lists)
        super().__init__(core, self.recipe, config.epoch, rank)

    def push(self, samples: NDArray[np.uint64], lengths: NDArray[np.uint32]) -> None:
        """Adds samples."""
        if samples.nbytes + lengths.nbytes > self.core.room():
            # Told before anything crosses: what is in the stream is there once.
            raise OutOfMemoryError("samples", f"{len(samples)} of them", "fewer at a time")
        super().push(samples, lengths)


def recipe_text(made: Plan | Stream) -> str:
    """Their recipe in its canonical form."""
    return made.recipe.text()


def recipe_fingerprint(made: Plan | Stream) -> str:
    """SHA-256 over it."""
    return made.recipe.fingerprint()


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
