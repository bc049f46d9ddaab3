"""The resources of the interface for batches, streams of batches, and collation."""

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
"""The value of `token_indices` for a cell of padding."""

Cells = TypeVar("Cells", collation.Padded, collation.Packed)


class Where(NamedTuple):
    """The configuration of a plan: an epoch, or the rest of one."""

    epoch: int
    state: str | None = None
    """The state from which the rest of the epoch continues; None for a whole epoch."""
    indices: tuple[tuple[int, str], ...] = ()
    """Texts of indices that may be used, each with its epoch."""

    def known(self, index: tuple[int, str]) -> Where:
        """A copy with one more index, which replaces a known index of the same epoch."""
        return self._replace(indices=tuple({**dict(self.indices), index[0]: index[1]}.items()))

    def moved(self, to: Where) -> Where:
        """The place `to`, with the indices of this place."""
        return to._replace(indices=self.indices)

    def in_epoch(self, epoch: int) -> Where:
        """The whole of another epoch; this place itself if the epoch is the same."""
        return self if self.epoch == epoch else self.whole(epoch)

    def whole(self, epoch: int) -> Where:
        """The whole of an epoch, even if this place is the rest of the same epoch."""
        return Where(epoch, None, self.indices)


class Plan(Resource, batches.Batcher):
    """A `batcher` of the interface, in an instance of its own. The caller checks that arguments fit the WIT types."""

    current: Where

    def __init__(self, where: Where, recipe: Recipe, lengths: Lengths | None, memory_limit: int) -> None:
        core = recipe.core(memory_limit)
        count = None if lengths is None else lengths.samples
        self.recipe, self.lengths = batches.BatchRecipe(core, recipe.text, count, recipe.lists), lengths
        if lengths is not None:
            # If the recipe wants no lengths, this supplies an empty list.
            self.recipe.supply(lengths.at(self.recipe.wanted()))
        super().__init__(core, self.recipe, where.epoch)
        self.progress: Callable[[int, int], object] | None = None
        """Called with the number of known windows and of all windows before another window is planned."""
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
        """Moves to another epoch, or to the rest of one."""
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
                # The index does not fit the rest of an epoch that another world size began: it is not used.
                if where.state is None:
                    raise
        self.current = where

    def go_on(self, state: str, replan: bool) -> Where:
        """Moves to the rest of the epoch of a state, with other options if `replan`. Returns the new place."""
        made = self.replan(state) if replan else self.resume(state)
        # The core is not `whole` until the end: an interruption here would leave `made` in the instance for ever.
        self.core.whole = False
        whole = self.at_epoch(made.epoch())
        begun = made.state(0)
        where = Where(made.epoch(), None if begun == whole.state(0) else begun, ())
        whole.drop()
        self.become(made, where)
        return where

    def index_of(self, text: str) -> tuple[int, str]:
        """Checks the text of an index. Returns its epoch and the text."""
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
    """A `batch-stream` of the interface, in an instance of its own. Callers check that arguments fit the WIT types."""

    def __init__(self, recipe: Recipe, epoch: int, rank: int, memory_limit: int) -> None:
        core = recipe.core(memory_limit)
        self.recipe = batches.BatchRecipe(core, recipe.text, None, recipe.lists)
        super().__init__(core, self.recipe, epoch, rank)

    def push(self, samples: NDArray[np.uint64], lengths: NDArray[np.uint32]) -> None:
        """Adds samples."""
        if samples.nbytes + lengths.nbytes > self.core.room():
            # Too many samples are refused before the call: after a failed call the instance is lost, with the samples
            # that were pushed before, which exist nowhere else.
            raise OutOfMemoryError("samples", f"{len(samples)} of them", "fewer at a time")
        super().push(samples, lengths)


def recipe_text(made: Plan | Stream) -> str:
    """The recipe of a plan or a stream in its canonical form."""
    return made.recipe.recipe()


def recipe_fingerprint(made: Plan | Stream) -> str:
    """SHA-256 over the recipe of a plan or a stream."""
    return made.recipe.recipe_fingerprint()


class Collation(Resource):
    """The functions of collation, in an instance of their own. The caller checks that arguments fit the WIT types."""

    # The most cells of a batch after which the instance is used again. After a larger batch, its memory (which never
    # shrinks) costs more than a new instance.
    _KEPT = 2**22

    def __init__(self, config: None) -> None:
        self.core = Core(2**31)
        self.core.whole = True
        self.current = config

    def pad(self, lengths: NDArray[np.uint32], width: int | None, multiple: int, side: str) -> collation.Padded:
        """The source of each cell of padded rows, one row for each sequence."""
        return self._measured(collation.pad(self.core, lengths, width, multiple, side))

    def pack(self, lengths: NDArray[np.uint32], row_ends: NDArray[np.uint32], width: int) -> collation.Packed:
        """The source of each cell of packed rows."""
        return self._measured(collation.pack(self.core, lengths, row_ends, width))

    def _measured(self, cells: Cells) -> Cells:
        if len(cells.token_indices) > self._KEPT:
            # Not whole: the instance is not used again, which frees its memory.
            self.core.whole = False
        return cells
