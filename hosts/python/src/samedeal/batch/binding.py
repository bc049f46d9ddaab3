"""Instances that answer for batches, streams of them, and collation."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ..bindings import batches, collation
from ..engine.core import Core
from ..engine.errors import OutOfMemoryError
from ..engine.instance import Resource
from ..recipe import Recipe

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..bindings.batches import Segment

PADDING = 2**32 - 1
"""The source of a cell of padding."""

Cells = TypeVar("Cells", collation.Padded, collation.Packed)


class Where(NamedTuple):
    """Which epoch, or rest of one, is planned."""

    epoch: int
    history: tuple[Segment, ...] = ()
    """What was taken of the epoch before."""

    def in_epoch(self, epoch: int) -> Where:
        """In another epoch, of which nothing was taken."""
        return self if self.epoch == epoch else self.whole(epoch)

    def whole(self, epoch: int) -> Where:
        """The whole of an epoch, also of this one."""
        return Where(epoch)


class Plan(Resource, batches.Batcher):
    """A `batcher` of the interface, in an instance of its own. The arguments must have been checked to cross."""

    current: Where

    def __init__(self, where: Where, recipe: Recipe, lengths: NDArray[np.uint32] | None, memory_limit: int) -> None:
        count = "those of the recipe" if lengths is None else f"{len(lengths)} of them"
        core = Core(memory_limit, "lengths", count)
        self.recipe = batches.BatchRecipe(core, recipe.text, lengths, recipe.lists)
        super().__init__(core, self.recipe, *where)
        self.current = where

    def move(self, where: Where) -> None:
        """Plans another epoch, or rest of one."""
        if where != self.current:
            begun = where.history
            self.become(batches.Batcher(self.core, self.recipe, *where) if begun else self.at_epoch(where.epoch), where)
        self.current = where

    def go_on(self, state: str) -> Where:
        """Goes on where a state was taken; where that is."""
        made = self.resume(state)
        # If an interruption comes now, nobody frees what was made.
        self.core.whole = False
        where = Where(made.epoch(), made.history())
        self.become(made, where)
        return where

    def named_metrics(self) -> dict[str, int]:
        """What all batches add up to, by name."""
        return dict(self.metrics())

    def num_steps(self) -> int:
        """How many batches every rank has."""
        return self.named_metrics()["steps"]


class Stream(batches.BatchStream):
    """A `batch-stream` of the interface, in an instance of its own. The arguments must have been checked to cross."""

    def __init__(self, recipe: Recipe, epoch: int, rank: int, memory_limit: int) -> None:
        core = recipe.core(memory_limit)
        self.recipe = batches.BatchRecipe(core, recipe.text, None, recipe.lists)
        super().__init__(core, self.recipe, epoch, rank)

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


class Collation(Resource):
    """The functions of collation, in an instance of their own. The arguments must have been checked to cross."""

    # What a large batch leaves behind is more than another instance costs.
    _KEPT = 2**22

    def __init__(self, config: None) -> None:
        self.core = Core(2**31)
        self.core.whole = True
        self.current = config

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
