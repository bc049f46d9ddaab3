"""The resource `sampler` of the interface, and the cache of its short epochs."""

from __future__ import annotations

import functools
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from ..engine import abi
from ..engine.core import Core
from ..engine.errors import SamedealError
from ..engine.instance import Resource
from ..generated import sampling, types
from ..recipe import Recipe

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_THERE = abi.fallible(abi.U64S_VIEW, types.ABI_FAILURE)


class Where(NamedTuple):
    """The configuration of a sampler: the rank, and the epoch or the rest of one."""

    epoch: int
    rank: int
    consumed: int = 0
    """How many positions of the epoch were dealt before."""

    def in_epoch(self, epoch: int) -> Where:
        """The whole of another epoch; this place itself if the epoch is the same."""
        return self if self.epoch == epoch else Where(epoch, self.rank)

    def whole(self, epoch: int) -> Where:
        """The whole of an epoch, even if this place is the rest of the same epoch."""
        return Where(epoch, self.rank)


_EPOCHS, _refused = abi.result(sampling.ABI_SHORT_EPOCHS, types.ABI_FAILURE)

FEW = 2**10
"""The most samples of a short epoch. One call returns the length of such an epoch and its samples: a second call would
cost more."""

_AHEAD, _MOST_AHEAD = 2**6, 2**12
"""The most epochs, and the most samples, that are read at a time if epochs are set one after the other."""


_CACHED = 2**8
"""Python has one cached object for each whole number below this one, but makes a new object for each larger number."""


@functools.cache
def _whole_numbers() -> NDArray[np.object_]:
    import numpy

    return numpy.arange(_MOST_AHEAD).astype(object)


class KeptEpochs:
    """A cache of the samples of a rank in successive whole epochs, if these are short.

    The functions repeat code on purpose: each further call of Python would take half a microsecond between two batches.
    """

    def __init__(self, first: Where, lengths: list[int], samples: list[int]) -> None:
        """Takes the number of samples in each epoch, and all samples; no samples if the first epoch is not short."""
        self._epoch, self._rank, _ = first
        self._ends = list(accumulate(lengths))
        self._samples = samples

    def after(self, where: Where, epoch: int) -> Where | None:
        """The place of an epoch for the rank of `where`; None if the epoch is not cached for this rank."""
        is_here = 0 <= epoch - self._epoch < len(self._ends) and where[1] == self._rank
        return Where(epoch, self._rank) if is_here else None

    def read(self, where: Where) -> tuple[int, list[int]] | None:
        """The number of samples of a place, and the samples if the epoch is short; None if the place is not cached."""
        epoch, rank, consumed = where
        number, ends = epoch - self._epoch, self._ends
        if not 0 <= number < len(ends) or rank != self._rank or consumed:
            return None
        start, end = ends[number - 1] if number else 0, ends[number]
        return end - start, self._samples[start:end]

    def length(self, where: Where) -> int | None:
        """The number of samples of a place; None if the place is not cached."""
        epoch, rank, consumed = where
        number, ends = epoch - self._epoch, self._ends
        if not 0 <= number < len(ends) or rank != self._rank or consumed:
            return None
        return ends[number] - ends[number - 1] if number else ends[0]


class Deal(Resource, sampling.Sampler):
    """A `sampler` of the interface, in an instance of its own. The caller checks that arguments fit the WIT types."""

    current: Where
    _dataset_size: int | None = None
    """The number of sample indices; None until it is first needed."""

    def __init__(self, where: Where, recipe: Recipe, memory_limit: int) -> None:
        super().__init__(recipe.core(memory_limit), recipe.text, recipe.lists, where.epoch, where.rank)
        self.current = where._replace(consumed=0)
        self.move(where)

    def move(self, where: Where) -> None:
        """Moves to another epoch, rest of an epoch, or rank."""
        if where.epoch != self.current.epoch:
            self.become(self.at_epoch(where.epoch), self.current.in_epoch(where.epoch))
        if where.consumed != self.current.consumed:
            self.become(self.rest(where.consumed), self.current._replace(consumed=where.consumed))
        if where.rank != self.current.rank:
            self.become(self.at_rank(where.rank), self.current._replace(rank=where.rank))
        self.current = where

    def go_on(self, state: str) -> Where:
        """Moves to the rest of the epoch of a state. Returns the new place."""
        made = self.resume(state)
        # The core is not `whole` until the end: an interruption here would leave `made` in the instance for ever.
        self.core.whole = False
        where = Where(made.epoch(), self.current.rank, made.consumed())
        self.become(made, where)
        return where

    def short_epochs_from(self, where: Where, before: Where | None = None) -> KeptEpochs:
        """Reads short epochs in one call: the epoch of `where`, and later ones if it follows the epoch of `before`.

        This resource stays in its epoch, but moves to the rank of `where`.
        """
        if where.rank != self.current.rank:
            self.move(self.current._replace(rank=where.rank))
        follows = before is not None and before.epoch + 1 == where.epoch
        limits = (_AHEAD, _MOST_AHEAD) if follows else (1, FEW)
        if self._dataset_size is None:
            self._dataset_size = self.dataset_size()
        has_large = self._dataset_size > _CACHED

        def lift(core: Core, pointer: int) -> KeptEpochs | SamedealError:
            # The arrays are not copied: a copy would take longer than computing the samples.
            tag, lengths_at, epochs, at, count = core.unpack(_EPOCHS, pointer)
            if tag:
                return _refused(core, pointer)
            lengths = core.u64s(lengths_at, epochs).tolist()
            indices: Any = core.u64s(at, count)
            if count and has_large:
                # Cached objects, so that a number needs only one object, however often it occurs.
                indices = _whole_numbers()[indices]
            return KeptEpochs(where, lengths, indices.tolist())

        return sampling.call_sampler_short_epochs.read(self.core, lift, self.handle, where.epoch, *limits)

    def indices_into(self, out: NDArray[np.int64], start: int) -> None:
        """Reads this rank's samples from number `start` on into `out`."""

        def lift(core: Core, pointer: int) -> SamedealError | None:
            found = _THERE.read(core, pointer)
            if isinstance(found, SamedealError):
                return found
            out[:] = found
            return None

        sampling.call_sampler_indices.read(self.core, lift, self.handle, start, len(out))


def plain_orders() -> tuple[str, ...]:
    """The names of the plain orders, which need only samples and a seed, the default first. "sharded" needs more."""
    return _facts()[0]


def max_count() -> int:
    """The most indices that one call returns."""
    return _facts()[1]


@functools.cache
def _facts() -> tuple[tuple[str, ...], int]:
    core = Core(2**31)
    return sampling.plain_orders(core), sampling.max_count(core)
