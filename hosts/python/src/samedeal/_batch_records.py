"""What Python shows of batches in another form than the interface has it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ._tables import table
from .bindings import batches

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Batch(NamedTuple):
    """One batch of one rank.

    An *item* is a sample, or a part of one where `too_long="split"`. A *row* is an item, or several with the strategy
    "pack".
    """

    samples: NDArray[np.int64]
    """The sample of every item."""
    starts: NDArray[np.uint32]
    """Where in its sample each item begins, in tokens: 0 unless it is a part."""
    lengths: NDArray[np.uint32]
    """The tokens of each item."""
    row_ends: NDArray[np.uint32]
    """Where the items of each row end: row i holds those from `row_ends[i - 1]` (0 for the first) on."""
    padded_length: int
    """Tokens of each row, padding included."""
    cost: int
    """What the batch costs of its budget."""
    repeated: int
    """How many rows at its end are there to fill the step: another batch holds them too."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and their length, padding included."""
        return len(self.row_ends), self.padded_length

    def rows(self) -> list[NDArray[np.int64]]:
        """The samples of each row."""
        return [self.samples[start:end] for start, end in pairwise([0, *self.row_ends.tolist()])]


def split(run: batches.Run) -> list[Batch]:
    """The batches of a run, one by one."""
    ends = [0, *run.batch_ends.tolist()]
    rows = [0, *run.row_ends.tolist()]
    numbers = zip(run.padded_lengths.tolist(), run.costs.tolist(), run.repeated.tolist(), strict=True)
    made = []
    for (first, last), (width, cost, repeated) in zip(pairwise(ends), numbers, strict=True):
        start, stop = rows[first], rows[last]
        row_ends = run.row_ends[first:last] - run.row_ends.dtype.type(start)
        items = slice(start, stop)
        made.append(Batch(run.samples[items], run.starts[items], run.lengths[items], row_ends, width, cost, repeated))
    return made


class Metrics(batches.Metrics):
    """What batches amount to: tokens, unless it says otherwise, of all ranks together."""

    world: int
    """How many ranks there are."""
    budget: int
    """What a batch may cost; with "pack", the tokens of its rows; 0 for no bound."""
    counting: str
    """What is counted."""

    def __new__(cls, *numbers: int, world: int = 1, budget: int = 0, counting: str = "padded") -> Metrics:
        """The numbers of the interface, and what their ratios are of."""
        made = super().__new__(cls, *numbers)
        made.world, made.budget, made.counting = world, budget, counting
        return made

    @classmethod
    def of(cls, found: batches.Metrics, config: batches.BatchConfig) -> Metrics:
        """Of batches with this configuration."""
        if config.strategy == "pack":
            # What rows have room for is counted in tokens.
            return cls(*found, world=config.world, budget=config.max_batch_size * config.capacity, counting="unpadded")
        return cls(*found, world=config.world, budget=config.budget, counting=config.counting)

    @property
    def padding_ratio(self) -> float:
        """What part of the padded tokens is padding: 0.0 where there are none."""
        return (self.padded - self.tokens) / self.padded if self.padded else 0.0

    @property
    def budget_utilisation(self) -> float:
        """Tokens, or with "weighted" the cost, divided by the budget of all batches: 1.0 where there is none."""
        room = self.budget * self.steps * self.world
        return (self.cost if self.counting == "weighted" else self.tokens) / room if room else 1.0

    @property
    def slowest_rank_utilisation(self) -> float:
        """Tokens divided by what all ranks compute while they wait for the slowest of each step: 1.0 for no tokens."""
        return self.tokens / (self.world * self.slowest) if self.slowest else 1.0

    @property
    def cost_imbalance(self) -> float:
        """The greatest cost of a step divided by the mean: 1.0 where all ranks cost the same, or nothing."""
        return self.world * self.slowest_cost / self.cost if self.cost else 1.0

    def _repr_html_(self) -> str:
        """A table for notebooks, with the ratios."""
        ratios = ("padding_ratio", "budget_utilisation", "slowest_rank_utilisation", "cost_imbalance")
        rows = [
            *self._asdict().items(),
            *vars(self).items(),
            *((name, f"{getattr(self, name):.6g}") for name in ratios),
        ]
        return table("Metrics", ("name", "value"), rows, len(rows))
