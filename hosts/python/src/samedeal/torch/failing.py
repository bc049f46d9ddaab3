"""Batches without the rows that are lost or that fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..files import read_rows
from ..files.reading import LOST, are_lost, present
from ..files.take import booleans

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..files import Marks, Shards
    from ..files.failures import Failures
    from .deals import Reader

_TRIED = 64
"""How many rows of a file are tried until one is found that stands for a batch without rows."""


class Applied:
    """Applies a function to the batches of a reader, without rows that are lost or that fail.

    A batch whose rows are all left out has one row of padding, so that all ranks have as many steps as before.
    """

    def __init__(
        self, apply: Callable[[Any], Any], reader: Reader, shards: Shards, marks: Marks, failures: Failures | None
    ) -> None:
        """`failures` records rows for which the function fails. If it is None, the failure is raised."""
        self._apply, self._reader, self._shards, self._marks, self._failures = apply, reader, shards, marks, failures
        self._spare: pa.RecordBatch | None = None

    def __call__(self, number: int, item: Any) -> Any:
        """The result for batch (or row) `number` of the reader."""
        failures = self._failures
        given, left = item.num_rows if isinstance(item, pa.RecordBatch) else 1, None
        if failures is None:
            rows = self._filled(present(item)) if self._shards.lost else item
            try:
                return self._apply(rows)
            except Exception as error:
                if rows is not self._spare:
                    samples = self._reader.samples_of(number, given)
                    self._explain(error, samples[~are_lost(self._shards, samples)], rows)
                raise
        if self._shards.lost or len(failures.ranges()):
            samples = self._reader.samples_of(number, given)
            left = ~failures.of(samples)
            if self._shards.lost:
                left &= ~are_lost(self._shards, samples)
                item = item.drop_columns([LOST])
            item = item.filter(booleans(left))
        rows = self._filled(item)
        try:
            return self._apply(rows)
        except Exception as error:
            if rows is self._spare or isinstance(error, MemoryError):
                raise
            samples = self._reader.samples_of(number, given)
            samples = samples if left is None else samples[left]
            failing = self._failing(rows)
            if not failing:
                # Each row alone succeeds, so no row can be left out: the function fails for the batch as a whole.
                self._explain(error, samples, rows)
                raise
            for row, why in failing.items():
                sample = int(samples[row])
                told = f"{self._place(sample)}: {type(why).__name__}: {why}"
                if too_many := failures.add(sample, 1, told):
                    _note(error, f"{self._place(sample)}: {too_many}")
                    raise
        keep = np.ones(rows.num_rows, dtype=np.bool_)
        keep[list(failing)] = False
        return self._apply(self._filled(rows.filter(booleans(keep))))

    def _filled(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The rows; if there are none, one row of padding: the first one of a file that can be read."""
        if rows.num_rows:
            return rows
        if self._spare is None:
            self._spare = self._found()
        return self._spare

    def _found(self) -> pa.RecordBatch:
        shards, failures = self._shards, self._failures
        last: Exception | None = None
        base = 0
        for shard, size in enumerate(shards.sizes.tolist()):
            if shard not in shards.lost and size:
                for row in sorted({tried * size // _TRIED for tried in range(_TRIED)}):
                    try:
                        (table,) = read_rows(shards, [base + row], 0, self._marks)
                        (spare,) = table.combine_chunks().to_batches()
                        if failures is None:
                            return spare
                        if not failures.of(np.array([base + row])).any():
                            self._apply(spare)
                            return spare
                    except Exception as error:
                        if failures is None or isinstance(error, MemoryError):
                            raise
                        last = error
            base += size
        raise OSError(
            "a batch has no row that can be used, and there is none in any file that can stand for it"
        ) from last

    def _failing(self, rows: Any, most: int | None = None) -> dict[int, Exception]:
        """The rows for which the function fails, each alone, and the failures."""
        failing: dict[int, Exception] = {}
        for row in range(rows.num_rows):
            try:
                self._apply(rows.slice(row, 1))
            except Exception as error:
                failing[row] = error
                if len(failing) == most:
                    break
        return failing

    def _explain(self, error: Exception, samples: NDArray[np.int64], rows: Any) -> None:
        """Adds to an error in which row it occurred, and what to do."""
        if isinstance(error, MemoryError):
            return
        failing = self._failing(rows, most=1) if isinstance(rows, pa.RecordBatch) else {0: error}
        if not failing:
            told = f"no single row of the batch fails alone; it has {len(samples)} rows, the first one of "
            _note(error, told + self._place(int(samples[0])))
            return
        sample = int(samples[next(iter(failing))])
        advice = "ShardedDataset goes on without rows that fail with max_failed_rows=N, or without this one with "
        _note(error, f"{self._place(sample)}; {advice}order=lambda files: files.exclude([{sample}])")

    def _place(self, sample: int) -> str:
        """A sample for messages: its file, its row in the file, and its index."""
        ends = np.cumsum(self._shards.sizes)
        shard = int(np.searchsorted(ends, sample, side="right"))
        return (
            f"{self._shards.paths[shard]}: row {sample - (ends[shard] - self._shards.sizes[shard])} (sample {sample})"
        )


def _note(error: Exception, told: str) -> None:
    # Python 3.10 has no notes.
    getattr(error, "add_note", lambda text: None)(told)
