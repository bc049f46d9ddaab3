"""All batches of a sampler, as an object that is iterated once an epoch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, SupportsIndex

from ..engine import arguments as check
from ..engine.errors import WrongTypeError
from ..generated.sampling import SamplerBase
from .windows import Pass, batches_left

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .sampler import Sampler


class Batches:
    """The batches of a sampler, in order. `sampler.batches(batch_size)` makes it.

    Every iteration starts from the beginning, in the epoch and rank that the sampler has then. So one object is enough
    for a whole training run, also as `DataLoader(dataset, batch_sampler=sampler.batches(32))`. The object can be
    pickled, together with its sampler. `sampler.batch(i, batch_size)` is batch number i alone. If an epoch was
    interrupted after k batches, `sampler.batches(batch_size, start=k)` is the rest of it; use
    `sampler.batches(batch_size)` again for later epochs.
    """

    def __init__(
        self, sampler: Sampler, batch_size: SupportsIndex, drop_last: bool = False, *, start: SupportsIndex = 0
    ) -> None:
        """Checks the arguments for the present state of the sampler.

        Args:
            sampler: The sampler. It is shared, not copied.
            batch_size: Number of samples in a batch, 1 to 2**32 - 1. Above 2**20 only if the batches are shorter.
            drop_last: Whether a shorter last batch is dropped.
            start: Number of the batch that every pass begins with, 0 to `sampler.num_batches(batch_size, drop_last)`.

        Raises:
            OutOfRangeError: `batch_size` or `start` is outside its range, or the batches would be longer than 2**20.
            WrongTypeError: A value is not of the type that its parameter takes.
        """
        if not isinstance(sampler, SamplerBase):
            raise WrongTypeError("sampler", check.described(sampler), "a samedeal.Sampler")
        self._sampler = sampler
        self._batch_size = check.integer("batch_size", batch_size, check.U32_FROM_1)
        self._drop_last = check.boolean("drop_last", drop_last)
        self._start = check.whole("start", start)
        self._pass: Pass | None = self._begin()
        """The pass that checked the arguments. Iterations use it until the sampler moves."""

    @property
    def sampler(self) -> Sampler:
        """The sampler."""
        return self._sampler

    @property
    def batch_size(self) -> int:
        """Number of samples in a batch. The last one may have fewer unless `drop_last`."""
        return self._batch_size

    @property
    def drop_last(self) -> bool:
        """Whether a shorter last batch is dropped."""
        return self._drop_last

    @property
    def start(self) -> int:
        """Number of the batch that every pass begins with."""
        return self._start

    def __len__(self) -> int:
        """How many batches a pass has: `sampler.num_batches(batch_size, drop_last) - start`.

        Raises:
            OutOfRangeError: The sampler has moved to a rank that has fewer than `start` batches.
        """
        return self._sampler._engine.use(batches_left, self._batch_size, self._drop_last, self._start)

    def __iter__(self) -> Iterator[NDArray[np.int64]]:
        """One pass over the batches from number `start` on, each an array of indices.

        A pass never mixes epochs or ranks: once the sampler has moved, it raises a `RuntimeError`.

        Raises:
            OutOfRangeError: The sampler has moved to a rank that has fewer than `start` batches.
        """
        made = self._pass
        if made is None or made.has_moved():
            made = self._pass = self._begin()
        return made.batches()

    def __repr__(self) -> str:
        """The call that makes equal batches."""
        return f"{self._sampler!r}.batches({self._batch_size}, drop_last={self._drop_last}, start={self._start})"

    def __getstate__(self) -> dict[str, Any]:
        """The attributes without the pass, whose copy would have another engine than the sampler."""
        return {**self.__dict__, "_pass": None}

    def _begin(self) -> Pass:
        return Pass(self._sampler._engine, self._batch_size, self._drop_last, self._start)
