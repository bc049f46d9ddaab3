"""Instances that answer for batches, streams of them, and collation."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ..engine.core import Core
from ..engine.errors import ContradictionError, OutOfMemoryError
from ..engine.instance import Resource
from ..generated import batches, collation
from ..recipe import Recipe
from .lengths import Lengths

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PADDING = 2**32 - 1
"""The source of a cell of padding."""

Cells = TypeVar("Cells", collation.Padded, collation.Packed)


class Where(NamedTuple):
    """Which epoch, or rest of one, is planned."""

    epoch: int
    state: str | None = None
    """The state that it goes on from, if something was taken of the epoch before."""
    indices: tuple[tuple[int, str], ...] = ()
    """The indices that are known, of this epoch or others."""

    def known(self, index: tuple[int, str]) -> Where:
        """With another index."""
        return self._replace(indices=tuple({**dict(self.indices), index[0]: index[1]}.items()))

    def moved(self, to: Where) -> Where:
        """There, with what is known here."""
        return to._replace(indices=self.indices)

    def in_epoch(self, epoch: int) -> Where:
        """In another epoch, of which nothing was taken."""
        return self if self.epoch == epoch else self.whole(epoch)

    def whole(self, epoch: int) -> Where:
        """The whole of an epoch, also of this one."""
        return Where(epoch, None, self.indices)


class Plan(Resource, batches.Batcher):
    """A `batcher` of the interface, in an instance of its own. The arguments must have been checked to cross."""

    current: Where

    def __init__(self, where: Where, recipe: Recipe, lengths: Lengths | None, memory_limit: int) -> None:
        core = recipe.core(memory_limit)
        count = None if lengths is None else lengths.samples
        self.recipe, self.lengths = batches.BatchRecipe(core, recipe.text, count, recipe.lists), lengths
        if lengths is not None:
            # The list of samples that are wanted may be empty.
            self.recipe.supply(lengths.at(self.recipe.wanted()))
        super().__init__(core, self.recipe, where.epoch)
        self.progress: Callable[[int, int], object] | None = None
        """Told how many windows are known, and how many there are, before another one is planned."""
        core.give = self._give
        self.current = Where(where.epoch)
        self.move(where)

    def _give(self, handle: int) -> None:
        """Gives the lengths that a batcher of this instance asks for."""
        asking = batches.Batcher.of(self.core, handle)
        if self.lengths is not None:
            asking.supply(self.lengths.at(asking.wanted()))
        if self.progress is not None:
            self.progress(asking.num_known_windows(), asking.num_windows())

    def move(self, where: Where) -> None:
        """Plans another epoch, or rest of one."""
        known = self.current.indices
        if where[:2] != self.current[:2]:
            made = self.at_epoch(where.epoch) if where.state is None else self.resume(where.state)
            self.become(made, where._replace(indices=()))
            known = ()
        index = dict(where.indices).get(where.epoch)
        if index is not None and index != dict(known).get(where.epoch):
            try:
                self.use_index(index)
            except ContradictionError:
                # Of a rest that other ranks have begun, it says nothing.
                if where.state is None:
                    raise
        self.current = where

    def go_on(self, state: str, replan: bool) -> Where:
        """Goes on where a state was taken, maybe with other options; where that is."""
        made = self.replan(state) if replan else self.resume(state)
        # If an interruption comes now, nobody frees what was made.
        self.core.whole = False
        whole = self.at_epoch(made.epoch())
        begun = made.state(0)
        where = Where(made.epoch(), None if begun == whole.state(0) else begun, ())
        whole.drop()
        self.become(made, where)
        return where

    def index_of(self, text: str) -> tuple[int, str]:
        """The epoch that a text is the index of, and the text."""
        epoch = self.current.epoch
        with contextlib.suppress(ValueError, KeyError, TypeError):
            epoch = int(json.loads(text)["epoch"])
        other = self.at_epoch(epoch)
        try:
            other.use_index(text)
        finally:
            other.drop()
        return epoch, text


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
    return made.recipe.recipe()


def recipe_fingerprint(made: Plan | Stream) -> str:
    """SHA-256 over it."""
    return made.recipe.recipe_fingerprint()


class Collation(Resource):
    """The functions of collation, in an instance of their own. The arguments must have been checked to cross."""

    # An instance that has planned a large batch holds more memory than another instance costs.
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
