"""What Python shows of plans in another form than the interface has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..bindings import shards
from ..engine.tables import table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Loads(NamedTuple):
    """What each rank, or each worker, has to read."""

    shards: NDArray[np.int64]
    """How many shards."""
    samples: NDArray[np.int64]
    """How many samples."""
    bytes: NDArray[np.int64]
    """How many bytes; 0 where the plan does not know."""
    local: NDArray[np.int64]
    """How many bytes (samples where bytes are not known) are stored on the rank's own node."""

    def _repr_html_(self) -> str:
        """A table for notebooks, a row for each rank or worker."""
        rows = ((number, *row) for number, row in enumerate(zip(*self, strict=True)))
        return table("Loads", ("reader", *self._fields), rows, len(self.shards))


class Balance(shards.Balance):
    """Between which bounds loads lie."""

    imbalance: float
    """The heaviest load divided by the mean, with six decimal places: 1.0 where all are equal, or empty."""

    def __new__(cls, *numbers: int, imbalance: float = 1.0) -> Balance:
        """The numbers of the interface, and what the core says of them."""
        made = super().__new__(cls, *numbers)
        made.imbalance = imbalance
        return made


class Steps(shards.Steps):
    """Between which bounds the ranks' numbers of steps lie."""

    __slots__ = ()

    @property
    def equal(self) -> bool:
        """Whether no rank waits for another at the end of the epoch."""
        return self.least == self.most


class Overlap(NamedTuple):
    """A shard that is read twice."""

    shard: int
    """Number of the shard."""
    first: int
    """The reader that has it first."""
    other: int
    """Another one that has it, or the same, again."""


class Verification(NamedTuple):
    """Shards that are read twice, and shards that are not read."""

    overlaps: list[Overlap]
    """Each further reader of a shard that has one."""
    gaps: list[int]
    """Shards that no reader has, ascending."""

    @property
    def ok(self) -> bool:
        """Whether every shard has exactly one reader."""
        return not self.overlaps and not self.gaps

    @classmethod
    def of(cls, found: shards.Verification) -> Verification:
        """With the overlaps by name."""
        return cls([Overlap(*row) for row in found.overlaps.reshape(-1, 3).tolist()], found.gaps.tolist())
