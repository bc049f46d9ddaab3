"""All batches of a sampler, as an object that is iterated once an epoch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, SupportsIndex

from . import _arguments as check
from ._reading import Pass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ._sampler import Sampler


class Batches:
    """The batches of a sampler, in order: what `sampler.batches(batch_size)` gives.

    Every `iter` begins anew, in the epoch and rank that the sampler has then, so that one object serves a whole
    training run, `DataLoader(dataset, batch_sampler=sampler.batches(32))` included. It pickles with its sampler.
    Batch number i alone is `sampler.batch(i, batch_size)`.
    """

    def __init__(self, sampler: Sampler, batch_size: SupportsIndex, drop_last: bool = False) -> None:
        """Checks the batches as the sampler stands.

        Args:
            sampler: Whose samples they are; it is shared, not copied.
            batch_size: How many samples a batch has, 1 to 2**32 - 1; above 2**20 only where the batches are shorter.
            drop_last: Leaves out a last batch that is shorter.

        Raises:
            OutOfRangeError: `batch_size` is outside its range, or the batches would be longer than 2**20.
            WrongTypeError: A value is not of the type that its parameter takes.
        """
        self._sampler = sampler
        self._batch_size = check.integer("batch-size", batch_size, check.U32_FROM_1)
        self._drop_last = check.boolean("drop-last", drop_last)
        self._begin()

    @property
    def sampler(self) -> Sampler:
        """Whose samples they are."""
        return self._sampler

    @property
    def batch_size(self) -> int:
        """How many samples a batch has; the last one may have fewer unless `drop_last`."""
        return self._batch_size

    @property
    def drop_last(self) -> bool:
        """Whether a last batch that is shorter is left out."""
        return self._drop_last

    def __len__(self) -> int:
        """How many batches the sampler's rank gets: `sampler.num_batches(batch_size, drop_last)`."""
        return self._sampler.num_batches(self._batch_size, self._drop_last)

    def __iter__(self) -> Iterator[NDArray[np.int64]]:
        """One pass over the batches, each an array of indices.

        It never mixes epochs or ranks: once the sampler has moved, it raises a `RuntimeError`.
        """
        return self._begin().batches()

    def __repr__(self) -> str:
        """The call that makes equal batches."""
        return f"{self._sampler!r}.batches({self._batch_size}, drop_last={self._drop_last})"

    def _begin(self) -> Pass:
        return Pass(self._sampler._engine, self._batch_size, self._drop_last)
