"""Finds the padding of a batch: samples that are repeated, so that all ranks have equally many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .batches import BatchSampler, repeated_samples, repeats
from .dataset import ShardedDataset
from .sampler import DistributedSampler

if TYPE_CHECKING:
    from .states import Start


class Rows(NamedTuple):
    """The rows of a batch of this process."""

    samples: int = 0
    """How many rows there are."""
    num_padding: int = 0
    """How many of these rows are padding: the last ones."""
    may_be_padding: bool = False
    """Whether the batch with the same number may have padding on any process."""


class Padding:
    """The padding of a pass on this process."""

    def __init__(self, loader: Any, sampler: Any, size: int, place: Start | Any, start: int) -> None:
        """Looks at a pass that is about to begin.

        Args:
            loader: The `DataLoader`.
            sampler: Its sampler or dataset of this package.
            size: How many samples make a batch.
            place: Where the pass begins.
            start: For a `BatchSampler`: the step at which the pass begins, counted from `place`.
        """
        self._size, self._unit = size, 1
        self._readers: list[tuple[int, int]] = []
        """How many samples each reader gives, and how many of the last ones are padding."""
        self._planned: Any = None
        """The place where a pass of a `BatchSampler` begins that repeats samples. Its plan says how many."""
        self._start = start
        if isinstance(sampler, DistributedSampler) and sampler._upcoming().remainder == "pad":
            self._readers, self._unit = [(len(sampler), sampler.num_padding)], sampler.unit
        elif (
            isinstance(sampler, ShardedDataset)
            and sampler.deal == "samples"
            and sampler._given["remainder"] in (None, "pad")
        ):
            workers = max(1, loader.num_workers)
            told = [sampler.shard_info(worker, workers) for worker in range(workers)]
            self._readers, self._size = [(one.samples, one.num_padding) for one in told], sampler.batch_size or 1
        elif isinstance(sampler, BatchSampler) and repeats(sampler):
            self._planned = place

    def rows(self, batch: int) -> Rows:
        """The rows of a batch of the pass. A loader takes batches from its workers in turn."""
        if self._planned is not None:
            planned = self._planned.here().batch(self._start + batch)
            return Rows(len(planned.samples), repeated_samples(planned), may_be_padding=True)
        if not self._readers:
            return Rows()
        number, reader = divmod(batch, len(self._readers))
        samples, padding = self._readers[reader]
        start = number * self._size
        end = min(start + self._size, samples)
        return Rows(end - start, max(0, end - max(start, samples - padding)), end > samples - self._unit)
