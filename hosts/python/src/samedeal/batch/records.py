"""What Python shows of batches in another form than the interface has it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ..bindings import batches
from ..engine.arguments import MILLION
from ..engine.tables import table

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

    padding_ratio: float
    """What part of the padded tokens is padding: 0.0 where there are none. Ratios have six decimal places."""
    budget_utilisation: float
    """Tokens, or with "weighted" the cost, divided by the budget of all batches: 1.0 where there is none."""
    slowest_rank_utilisation: float
    """Tokens divided by what all ranks compute while they wait for the slowest of each step: 1.0 for no tokens."""
    cost_imbalance: float
    """The greatest cost of a step divided by the mean: 1.0 where all ranks cost the same, or nothing."""

    def __new__(
        cls,
        *numbers: int,
        world: int = 1,
        budget: int = 0,
        counting: str = "padded",
        padding_ratio: float = 0.0,
        budget_utilisation: float = 1.0,
        slowest_rank_utilisation: float = 1.0,
        cost_imbalance: float = 1.0,
    ) -> Metrics:
        """The numbers of the interface, what they are of, and what the core says of them."""
        made = super().__new__(cls, *numbers)
        made.world, made.budget, made.counting = world, budget, counting
        made.padding_ratio, made.budget_utilisation = padding_ratio, budget_utilisation
        made.slowest_rank_utilisation, made.cost_imbalance = slowest_rank_utilisation, cost_imbalance
        return made

    @classmethod
    def of(cls, source: batches.Batcher | batches.BatchStream, config: batches.BatchConfig) -> Metrics:
        """Of batches with this configuration."""
        # What rows have room for is counted in tokens.
        packs = config.strategy == "pack"
        return cls(
            *source.metrics(),
            world=config.world,
            budget=config.max_batch_size * config.capacity if packs else config.budget,
            counting="unpadded" if packs else config.counting,
            padding_ratio=source.ratio("padding") / MILLION,
            budget_utilisation=source.ratio("budget-utilisation") / MILLION,
            slowest_rank_utilisation=source.ratio("slowest-rank-utilisation") / MILLION,
            cost_imbalance=source.ratio("cost-imbalance") / MILLION,
        )

    def _repr_html_(self) -> str:
        """A table for notebooks, with the ratios."""
        others = ((name, f"{value:.6g}" if isinstance(value, float) else value) for name, value in vars(self).items())
        rows = [*self._asdict().items(), *others]
        return table("Metrics", ("name", "value"), rows, len(rows))
