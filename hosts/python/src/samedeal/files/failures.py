"""Rows that cannot be read or used, which a dataset leaves out up to a limit."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..engine.warn import warn

if TYPE_CHECKING:
    from numpy.typing import NDArray


class FailedRowsWarning(UserWarning):
    """Rows failed and are left out. It is given once for each range of rows, by the reader that met them."""


class Records(Protocol):
    """Memory that all readers of a rank share, with ranges of sample indices."""

    @property
    def num_records(self) -> int:
        """How many ranges there are."""

    def records(self) -> NDArray[np.int64]:
        """The first sample and the number of samples of each range, in any order."""

    def record(self, slot: int, first: int, count: int) -> bool:
        """Adds a range. Returns False if there is no room. Each process writes to a slot of its own."""


class Failures:
    """Ranges of sample indices whose rows fail."""

    def __init__(self, limit: int, records: Records, slot: int) -> None:
        """At most `limit` rows fail; `slot` is that of this process."""
        self.limit = limit
        self._records, self._slot = records, slot
        self._lock = threading.Lock()
        """Held to record: the thread that reads ahead does it too."""
        self._seen = -1
        self._ranges: NDArray[np.int64] = np.zeros((0, 2), dtype=np.int64)

    def ranges(self) -> NDArray[np.int64]:
        """The ranges as (first, end), ascending and without overlaps."""
        seen = self._records.num_records
        if seen != self._seen:
            self._ranges, self._seen = joined(self._records.records()), seen
        return self._ranges

    @property
    def count(self) -> int:
        """How many rows fail."""
        return int(np.diff(self.ranges()).sum())

    def of(self, samples: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each of the samples fails."""
        ranges = self.ranges()
        if not len(ranges):
            return np.zeros(len(samples), dtype=np.bool_)
        at = np.searchsorted(ranges[:, 0], samples, side="right") - 1
        found: NDArray[np.bool_] = (at >= 0) & (samples < ranges[at, 1])
        return found

    def count_with(self, more: list[list[int]]) -> int:
        """How many rows fail if the rows of `more` fail too: ranges of (first sample, number of samples)."""
        return int(np.diff(joined(np.concatenate([self._records.records(), _array(more)]))).sum())

    def new_of(self, more: list[list[int]]) -> list[list[int]]:
        """The union of ranges (first, count), without those of which all rows are known to fail."""
        own, known = joined(_array(more)), self.ranges()
        at = np.searchsorted(known[:, 0], own[:, 0], side="right") - 1
        # Before the first known range, `at` is -1.
        new = own[own[:, 1] > np.append(known[:, 1], -1)[at]]
        return [[first, end - first] for first, end in new.tolist()]

    def last_before(self, first: int, end: int) -> int:
        """The beginning of the range that ends with sample `end - 1`, but at least `first`; `end` if there is none."""
        ranges = self.ranges()
        at = int(np.searchsorted(ranges[:, 0], end, side="left")) - 1
        if at < 0 or ranges[at, 1] < end:
            return end
        return max(first, int(ranges[at, 0]))

    def add(self, first: int, count: int, told: str) -> str:
        """Records rows that fail, with a warning `told`. Returns the reason if there are too many of them, or ""."""
        with self._lock:
            before, total = self.count, self.count_with([[first, count]])
            if total == before:
                return ""
            if total > self.limit:
                return f"with this, {total:,} rows have failed: more than max_failed_rows={self.limit}"
            if not self._records.record(self._slot, first, count):
                return "rows have failed in too many separate places"
        warn(f"{told}; {_rows(total - before)} left out", FailedRowsWarning)
        return ""


def joined(records: NDArray[np.int64]) -> NDArray[np.int64]:
    """The union of ranges (first, count), as ascending ranges (first, end) that do not touch one another."""
    own = records[np.argsort(records[:, 0], kind="stable")]
    firsts, ends = own[:, 0], np.maximum.accumulate(own.sum(axis=1)) if len(own) else own[:, 0]
    begins = np.flatnonzero(np.concatenate(([True], firsts[1:] > ends[:-1]))) if len(own) else np.zeros(0, np.int64)
    lasts = np.append(begins[1:], len(own))[: len(begins)] - 1
    return np.stack([firsts[begins], ends[lasts]], axis=1)


def _array(ranges: list[list[int]]) -> NDArray[np.int64]:
    return np.array(ranges, dtype=np.int64).reshape(-1, 2)


def _rows(count: int) -> str:
    return "1 row is" if count == 1 else f"{count:,} rows are"
