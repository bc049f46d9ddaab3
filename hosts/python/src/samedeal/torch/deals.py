"""The readers of a dataset in files: the loader workers of all ranks, by a `Reading` of the core."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from .. import ContradictionError, Reading
from ..files import Marks, Shards
from ..files.failures import Failures
from ..files.reading import read_places
from .rest import Progress

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Group:
    """All readers of a dataset, for the present numbers of ranks and workers."""

    def __init__(
        self, shards: Shards, options: dict[str, Any], world_size: int, workers: int, batch_size: int, drop_last: bool
    ) -> None:
        """Takes `options` of a `Reading`; its options about the readers are the other parameters."""
        self.shards, self.options = shards, options
        self.world_size, self.workers, self.batch_size, self.drop_last = world_size, workers, batch_size, drop_last

    def reading(self, progress: Progress) -> Reading:
        """The reading of an epoch, or of the rest of one, for these readers."""
        whole = self._whole()
        return whole.at_epoch(progress.epoch) if progress.state is None else whole.resume(progress.state)

    def resumed(self, text: str) -> Progress:
        """The progress in a state, which may be of other numbers of ranks and workers.

        Raises:
            ContradictionError: The state is of other files, or of another order, deal or seed. The error names what
                differs.
            WrongTypeError: The value is no state of a dataset.
            OutOfRangeError: The state is too long, or has more samples than there are.
        """
        try:
            found = self._whole().resume(text)
        except ContradictionError as error:
            raise self._told(error) from None
        return Progress(found.epoch, text, found.is_rest)

    def reader(self, progress: Progress, rank: int, worker: int, taken: int = 0) -> Reader:
        """The reader of a worker of a rank, without the first `taken` batches."""
        return Reader(self, self.reading(progress), rank, worker, taken * self.batch_size)

    def _whole(self) -> Reading:
        order = self.options["order"]
        return Reading(
            self.shards.sizes if order is None else None,
            world_size=self.world_size,
            workers=self.workers,
            batch_size=self.batch_size,
            drop_last=self.drop_last,
            bytes=self.shards.bytes if self.options["balance_by"] == "bytes" else None,
            **self.options,
        )

    def _told(self, error: ContradictionError) -> ContradictionError:
        """The error with files in its message, where the core names shards."""
        if self.options["order"] is not None and error.field in ("sizes", "shards", "samples"):
            # The error may be of an order inside of this order, so a number of a shard in it may be of no file here.
            here = f"{len(self.shards)} files of {self.shards.samples} rows"
            return ContradictionError("paths", here, f"{error.field} {error.allowed}")
        number, numbered, shard = error.value.partition(" in place ")
        unit = {"sizes": "rows", "bytes": f"bytes in the columns {', '.join(self.shards.columns)}"}.get(error.field)
        if unit and numbered:
            # Names the file, because users do not know the number of its shard.
            return ContradictionError("paths", f"{self.shards.paths[int(shard)]} of {number} {unit}", error.allowed)
        if unit or error.field in ("shards", "samples"):
            here = f"{len(self.shards)} files of {self.shards.samples} rows"
            allowed = f"{error.field} {error.allowed}; if files were lost, name them: lost={{path: rows}}"
            return ContradictionError("paths", here, allowed)
        return error


class Reader:
    """A worker's part of a pass."""

    def __init__(self, group: Group, reading: Reading, rank: int, worker: int, skipped: int) -> None:
        """Leaves out the first `skipped` samples."""
        self._shards = group.shards
        self._reading, self._rank, self._worker = reading, rank, worker
        count = reading.num_samples(rank, worker)
        self._start = min(skipped, count)
        self._batch_size = group.batch_size
        self.samples = count - self._start
        """How many samples the reader gives, padding included."""

    def tables(self, marks: Marks, failures: Failures | None = None) -> Iterator[pa.Table]:
        """Reads the samples, with nulls for samples of lost files, and for those that `failures` has."""
        return read_places(self._shards, self._reading, self._rank, self._worker, self._start, marks, failures)

    def samples_of(self, batch: int, count: int) -> NDArray[np.int64]:
        """The indices of the first `count` samples of a batch, padding included."""
        first = self._start + batch * self._batch_size
        return self._reading.indices(self._rank, self._worker, first, first + count).astype(np.int64)
