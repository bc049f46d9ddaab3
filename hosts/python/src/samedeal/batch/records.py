"""Records of batches that Python has in another form than the interface."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ..engine.arguments import MILLION
from ..engine.tables import table
from ..generated import batches

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Batch(NamedTuple):
    """One batch of one rank.

    An *item* is a sample, or a part of one where `too_long="split"`. A *row* is an item, or several with the strategy
    "pack".
    """

    samples: NDArray[np.int64]
    """The sample index of every item."""
    starts: NDArray[np.uint32]
    """The first token of each item in its sample: 0 unless the item is a part of the sample."""
    lengths: NDArray[np.uint32]
    """The number of tokens of each item."""
    row_ends: NDArray[np.uint32]
    """The end of each row: row i has the items from `row_ends[i - 1]` (0 for the first row) to `row_ends[i] - 1`."""
    padded_length: int
    """Tokens of each row, padding included."""
    cost: int
    """The cost of the batch, as `counting` defines it."""
    repeated: int
    """How many rows at the end only fill the step: another batch has the same rows."""
    full_rows: int
    """How many rows a full batch of this length has. If smaller batches get rows of padding up to this number, all
    batches of a bucket have one shape."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and their length, padding included."""
        return len(self.row_ends), self.padded_length

    def rows(self) -> list[NDArray[np.int64]]:
        """The samples of each row."""
        return [self.samples[start:end] for start, end in pairwise([0, *self.row_ends.tolist()])]


def split(run: batches.BatchColumns) -> list[Batch]:
    """Single batches from the columns of a run of batches."""
    ends = [0, *run.batch_ends.tolist()]
    rows = [0, *run.row_ends.tolist()]
    each = (run.padded_lengths, run.costs, run.repeated, run.full_rows)
    numbers = zip(*(values.tolist() for values in each), strict=True)
    made = []
    for (first, last), own in zip(pairwise(ends), numbers, strict=True):
        start, stop = rows[first], rows[last]
        row_ends = run.row_ends[first:last] - run.row_ends.dtype.type(start)
        items = slice(start, stop)
        made.append(Batch(run.samples[items], run.starts[items], run.lengths[items], row_ends, *own))
    return made


class Metrics(batches.MetricsBase):
    """Metrics of batches, over all ranks, in tokens unless a field says otherwise. Ratios have six decimal places.

    `vars(metrics)` gives all fields by name, also fields that a newer component adds.
    """

    @classmethod
    def of(cls, source: batches.Batcher | batches.BatchStream) -> Metrics:
        """The metrics of a batcher or stream."""
        return cls(
            **{name.replace("-", "_"): number for name, number in source.metrics()},
            padding_ratio=source.ratio("padding") / MILLION,
            budget_utilization=source.ratio("budget-utilization") / MILLION,
            slowest_rank_utilization=source.ratio("slowest-rank-utilization") / MILLION,
            cost_imbalance=source.ratio("cost-imbalance") / MILLION,
        )

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        rows = [(name, f"{value:.6g}" if isinstance(value, float) else value) for name, value in vars(self).items()]
        return table("Metrics", ("name", "value"), rows, len(rows))
