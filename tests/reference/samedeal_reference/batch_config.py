"""The configuration of the batches of an epoch: section 9, "Samples, windows, items"."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

from .base import MAX_U32, MAX_U64, ceil_div

LEAST_WIDTH = 2**13
MOST_WIDTH = 2**22
STEPS_OF_A_WINDOW = 128
STEPS_OF_A_BUCKET = 32
BUCKETS = 64

Options = dict[str, Any]
"""The section `batch` of a canonical text, without `lengths`, and with all its lists as numbers."""


@dataclass(frozen=True)
class BatchConfig:
    """A parsed recipe of batches, and the epoch. It has the members of the section `batch`. Members that the strategy
    does not use are 0, 1 or None."""

    seed: int
    epoch: int
    world_size: int
    sample: tuple[int, ...] | None
    """The sample of lengths; None for a stream."""
    strategy: str
    counting: str
    too_long: str
    tail: str
    max_batch_size: int = MAX_U32
    linear: int = 0
    quadratic: int = 0
    max_length: int = MAX_U32
    max_tokens: int = 0
    max_cost: int = 0
    batch_size_multiple: int = 1
    capacity: int = 0
    packing: str = "fast"
    bucket_width: int = 0
    boundaries: Sequence[int] | None = None
    quantiles: int = 0
    separate_buckets: bool = False
    pad_to_bucket: bool = False
    batch_window: int = 0
    mean_length: int = 0
    keep_order: bool = False

    @property
    def budget(self) -> int:
        """T, the budget; 0 if there is none."""
        return self.max_tokens or self.max_cost

    @property
    def counts_padding(self) -> bool:
        return self.counting == "padded" and self.strategy != "pack"

    @property
    def limit(self) -> str:
        """The name of the budget in failures."""
        return "max_cost" if self.counting == "weighted" else "max_tokens"

    def cost(self, length: int) -> int:
        return self.linear * length + self.quadratic * length**2 if self.counting == "weighted" else length

    @cached_property
    def longest(self) -> int:
        """M, the largest number of tokens of an item."""
        if self.strategy == "pack":
            return min(self.max_length, self.capacity)
        if self.budget == 0:
            return self.max_length
        low, high = 0, MAX_U32
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.cost(middle) <= self.budget else (low, middle - 1)
        return min(self.max_length, low)

    def rows(self, length: int) -> int:
        rows = self.max_batch_size
        if self.budget:
            rows = max(1, min(rows, self.budget // max(1, self.cost(length))))
        return rows - rows % self.batch_size_multiple if rows > self.batch_size_multiple else rows

    @cached_property
    def width(self) -> int:
        if self.batch_window:
            return self.batch_window
        if self.sample is None and not self.mean_length and self.strategy != "pad-to-max":
            return min(MOST_WIDTH, max(LEAST_WIDTH, 2**11 * self.world_size))
        if self.strategy == "pad-to-max":
            step = self.world_size * self.max_batch_size
            return step * max(1, min(max(ceil_div(LEAST_WIDTH, step), STEPS_OF_A_WINDOW), MOST_WIDTH // step))
        lengths = (self.mean_length,) if self.mean_length else self.sample or ()
        total = sum(map(self._cost_of_sample, lengths)) or 1
        if self.strategy == "pack":
            average = len(lengths) * self.max_batch_size * self.capacity // total
        elif self.budget:
            average = min(self.max_batch_size, len(lengths) * self.budget // total)
        else:
            average = self.max_batch_size
        step = self.world_size * max(1, average)
        steps = STEPS_OF_A_WINDOW
        if self.separate_buckets:
            buckets = {self.boundary(min(length, self.longest)) for length in self.sample or ()}
            steps = max(steps, STEPS_OF_A_BUCKET * len(buckets))
        return min(MAX_U64, max(LEAST_WIDTH, min(step * steps, max(MOST_WIDTH, 8 * step))))

    def _cost_of_sample(self, length: int) -> int:
        """c(l), the cost of a sample of length l."""

        def of_item(tokens: int) -> int:
            return tokens if self.strategy == "pack" else self.cost(tokens)

        most = self.longest
        if length <= most:
            return of_item(length)
        if self.too_long == "drop":
            return 0
        if self.too_long == "split" and most:
            return length // most * of_item(most) + of_item(length % most)
        return of_item(most)

    @cached_property
    def ends(self) -> Sequence[int] | None:
        """The ends of buckets; None if buckets have a width instead."""
        if self.bucket_width or self.boundaries is not None:
            return self.boundaries
        a = sorted(self._tokens_of_items())
        if not a:
            return []
        if not self.quantiles:
            sums = list(accumulate(a))
            least = {bisect_left(sums, ceil_div(b * sums[-1], BUCKETS)) for b in range(1, BUCKETS + 1)}
            return sorted({a[k] for k in least})
        q = self.quantiles
        return sorted({a[max(1, ceil_div(b * len(a), q)) - 1] for b in range(1, q + 1)})

    def _tokens_of_items(self) -> list[int]:
        """The lengths of the items into which the sample of lengths is cut. If a window of these samples would fail,
        the items are whole samples."""
        most, lengths = self.longest, self.sample or ()
        if self.too_long == "drop":
            return [length for length in lengths if length <= most]
        if self.too_long == "truncate" and most:
            return [min(length, most) for length in lengths]
        if self.too_long == "split" and most and sum(max(1, ceil_div(length, most)) for length in lengths) < MAX_U32:
            parts = [[most] * (length // most) + [length % most] * (length % most > 0) for length in lengths]
            return [tokens for own, length in zip(parts, lengths, strict=True) for tokens in (own or [length])]
        return list(lengths)

    def boundary(self, length: int) -> int | None:
        """The boundary of the bucket of a length; None for the bucket after the last boundary."""
        ends = self.ends
        if ends is None:
            return self.bucket_width * max(1, ceil_div(length, self.bucket_width))
        bucket = bisect_left(ends, length)
        return ends[bucket] if bucket < len(ends) else None

    def end_of_bucket(self, length: int) -> int:
        """e, the end of the bucket of a length."""
        end = self.boundary(length)
        return self.longest if end is None else min(end, self.longest)

    def rows_of_bucket(self, length: int) -> int:
        return self.rows(self.end_of_bucket(length))

    def padded_length(self, lengths: list[int]) -> int:
        """The padded length of a batch with items of these lengths."""
        longest = max(lengths, default=0)
        if self.strategy == "pack":
            return max(longest, self.capacity)
        end = self.boundary(longest) if self.pad_to_bucket and lengths else None
        return longest if end is None or end >= MAX_U32 else max(longest, min(end, self.longest))

    def full_rows(self, padded_length: int) -> int:
        if self.strategy == "budget":
            return self.rows(padded_length)
        if self.strategy == "bucket":
            return self.rows(max(padded_length, self.end_of_bucket(padded_length)))
        return self.max_batch_size
