"""Everything that decides the batches of an epoch: section 9, "Items and windows" and "Strategies"."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from .base import ceil_div

PIECE = 8192
STEPS_OF_A_WINDOW = 64
BUCKETS = 64


@dataclass(frozen=True)
class BatchConfig:
    """A recipe of batches that was read, and the epoch. What its strategy does not use is 0, 1 or none."""

    order: str
    seed: int
    world_size: int
    strategy: str
    counting: str
    linear: int
    quadratic: int
    max_batch_size: int
    max_length: int
    budget: int
    """T; 0 where there is none."""
    batch_size_multiple: int
    capacity: int
    packing: str
    buckets: dict[str, Any] | None
    batch_window: int | None
    too_long: str
    tail: str
    lengths: list[int] | None
    epoch: int = 0

    def width_after(self, left: int) -> int:
        """How many items a window takes where the one before left so many."""
        return self.width * max(1, ceil_div(left, 8 * self.width))

    @property
    def width(self) -> int:
        return PIECE if self.strategy == "pad-to-max" or not self.batch_window else self.batch_window

    def with_window(self, lengths: list[int]) -> BatchConfig:
        """The same with the window that is the default."""
        if self.batch_window is not None:
            return self
        if self.strategy == "pack":
            each = len(lengths) * self.most_rows * self.capacity // max(1, sum(lengths))
        elif self.budget == 0 or self.strategy == "pad-to-max":
            each = self.most_rows
        else:
            total = sum(min(self.budget, self.cost(length)) for length in lengths)
            each = min(self.most_rows, len(lengths) * self.budget // max(1, total))
        return replace(
            self, batch_window=min(2**32 - 1, max(PIECE, STEPS_OF_A_WINDOW * self.world_size * max(1, each)))
        )

    @property
    def counts_padding(self) -> bool:
        return self.counting == "padded" and self.strategy != "pack"

    @property
    def limit(self) -> str:
        """The name of the budget in failures."""
        return "max-cost" if self.counting == "weighted" else "max-tokens"

    @property
    def most_rows(self) -> int:
        """Z."""
        return self.max_batch_size or 2**32 - 1

    def cost(self, length: int) -> int:
        return self.linear * length + self.quadratic * length**2 if self.counting == "weighted" else length

    @property
    def longest(self) -> int:
        """M."""
        if self.strategy == "pack":
            return min(self.max_length, self.capacity)
        if self.strategy == "pad-to-max" or self.budget == 0:
            return self.max_length
        low, high = 0, 2**32 - 1
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.cost(middle) <= self.budget else (low, middle - 1)
        return min(self.max_length, low)

    def rows(self, length: int) -> int:
        rows = self.most_rows
        if self.budget:
            rows = max(1, min(rows, self.budget // max(1, self.cost(length))))
        return rows - rows % self.batch_size_multiple if rows > self.batch_size_multiple else rows

    def settled(self, lengths: list[int]) -> BatchConfig:
        """The same with boundaries in the place of quantiles."""
        if self.strategy != "bucket" or (self.buckets and "quantiles" not in self.buckets):
            return self
        a, n = sorted(lengths), len(lengths)
        if self.buckets is None:
            sums = list(accumulate(a))
            least = [bisect_left(sums, ceil_div(b * sums[-1], BUCKETS)) for b in range(1, BUCKETS + 1)] if a else []
            return replace(self, buckets={"boundaries": sorted({a[k] for k in least})})
        q = self.buckets["quantiles"]
        found = {a[max(1, ceil_div(b * n, q)) - 1] for b in range(1, q + 1)} if a else set()
        return replace(self, buckets={"boundaries": sorted(found)})

    def bucket(self, length: int) -> int:
        assert self.buckets
        if "bucket_width" in self.buckets:
            return max(1, ceil_div(length, self.buckets["bucket_width"]))
        return sum(end < length for end in self.buckets["boundaries"])

    def bucket_rows(self, length: int) -> int:
        assert self.buckets
        bucket = self.bucket(length)
        if "bucket_width" in self.buckets:
            return self.rows(min(bucket * self.buckets["bucket_width"], self.longest))
        ends = self.buckets["boundaries"]
        return self.rows(min(ends[bucket], self.longest) if bucket < len(ends) else self.longest)
