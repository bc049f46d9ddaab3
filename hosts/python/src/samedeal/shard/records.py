"""Records of plans that Python has in another form than the interface."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

from ..engine.tables import table
from ..generated import shards, types

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Loads(SimpleNamespace):
    """The work of each rank, or each worker: an array of int64 for each column.

    `vars(loads)` gives all columns by name, also columns that a newer component adds.
    """

    shards: NDArray[np.int64]
    """How many shards."""
    samples: NDArray[np.int64]
    """How many samples."""
    bytes: NDArray[np.int64] | None = None
    """How many bytes; None if the plan has no bytes."""
    local: NDArray[np.int64] | None = None
    """With the policy "locality-aware": how many bytes (samples if bytes are not known) are stored on the rank's own
    node. Otherwise None."""

    def _repr_html_(self) -> str:
        """A table for notebooks, a row for each rank or worker."""
        rows = ((number, *row) for number, row in enumerate(zip(*vars(self).values(), strict=True)))
        return table("Loads", ("reader", *vars(self)), rows, len(self.shards))


class LoadSummary(shards.LoadSummary):
    """The smallest, largest and total load."""

    imbalance: float
    """The heaviest load divided by the mean, with six decimal places: 1.0 if all loads are equal, or all are 0."""

    def __new__(cls, *numbers: int, imbalance: float = 1.0) -> LoadSummary:
        """Takes the numbers of the interface, and the imbalance that the core computed."""
        made = super().__new__(cls, *numbers)
        made.imbalance = imbalance
        return made


class Steps(types.StepBounds):
    """The smallest and the largest number of steps of a rank."""

    __slots__ = ()

    @property
    def equal(self) -> bool:
        """Whether all ranks have the same number of steps."""
        return self.min == self.max


class Verification(shards.Verification):
    """Shards that are read more than once (`overlaps`), and runs of shards that no reader has (`gaps`)."""

    __slots__ = ()

    @property
    def ok(self) -> bool:
        """Whether every shard has exactly one reader."""
        return not len(self.overlaps.shard) and not len(self.gaps.first_shard)
