"""The records of the interfaces of batches and of collation."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from ._tables import table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

STRATEGIES = ("pad-to-max", "bucket", "budget", "pack")
COUNTINGS = ("padded", "unpadded", "weighted")
TOO_LONG = ("error", "truncate", "drop", "split", "single")
TAILS = ("drop", "keep", "even-split", "duplicate")
PACKINGS = ("fast", "optimal")
SIDES = ("right", "left")


class Buckets(NamedTuple):
    """Which lengths are a bucket, in one of three ways."""

    kind: str
    """ "bucket-width", "boundaries" or "quantiles"."""
    value: int | NDArray[np.uint32]
    """The width of each; the greatest length of each, ascending; or how many there are."""


class Stretch(NamedTuple):
    """Steps that a world took."""

    world: int
    """How many ranks there were."""
    steps: int
    """How many steps each of them took."""


class BatchPlace(NamedTuple):
    """Where an item of a sample is."""

    step: int
    """Number of the step."""
    rank: int
    """Whose batch it is."""
    row: int
    """Number of the row in that batch."""
    slot: int
    """Number of the item in that row."""
    start: int
    """Where in the sample the item begins, in tokens: 0 unless it is a part."""


class BatchConfig(NamedTuple):
    """Everything that decides a plan of batches."""

    lengths: NDArray[np.uint32]
    """The length of every sample, in tokens; a stream does not look at them."""
    seed: int
    """Seed of the order, and of the order of steps."""
    epoch: int
    """Number of the epoch."""
    order: str
    """The order of the epoch."""
    world: int
    """How many data-parallel readers there are."""
    strategy: str
    """How items become batches."""
    max_batch_size: int
    """The most rows of a batch; 0 for no bound."""
    max_length: int
    """The most tokens of an item."""
    budget: int
    """What a batch may cost; 0 for no bound."""
    counting: str
    """What is counted."""
    linear: int
    """What a token costs, with "weighted"."""
    quadratic: int
    """What a pair of tokens costs, with "weighted"."""
    multiple: int
    """Batches have a multiple of so many items."""
    capacity: int
    """Tokens of a row, with "pack"."""
    packing: str
    """How hard to look for few packs."""
    buckets: Buckets | None
    """Which lengths are a bucket, with "bucket"; None for the default."""
    window: int | None
    """How many items are looked at together; None for the default, which follows the world."""
    too_long: str
    """What happens to items that are too long."""
    tail: str
    """What happens to the last ones."""
    history: list[Stretch]
    """What was taken of the epoch before."""

    @property
    def told(self) -> dict[str, Any]:
        """What metrics have of it."""
        # What rows have room for is counted in tokens.
        if self.strategy == "pack":
            return {"world": self.world, "budget": self.max_batch_size * self.capacity, "counting": "unpadded"}
        return {"world": self.world, "budget": self.budget, "counting": self.counting}


class Run(NamedTuple):
    """Batches of one rank, end to end."""

    samples: NDArray[np.int64]
    starts: NDArray[np.uint32]
    lengths: NDArray[np.uint32]
    row_ends: NDArray[np.uint32]
    batch_ends: NDArray[np.uint32]
    padded_lengths: NDArray[np.uint32]
    costs: NDArray[np.uint64]
    repeated: NDArray[np.uint32]

    def batches(self) -> list[Batch]:
        """One by one."""
        ends = [0, *self.batch_ends.tolist()]
        rows = [0, *self.row_ends.tolist()]
        numbers = zip(self.padded_lengths.tolist(), self.costs.tolist(), self.repeated.tolist(), strict=True)
        made = []
        for (first, last), (width, cost, repeated) in zip(pairwise(ends), numbers, strict=True):
            start, stop = rows[first], rows[last]
            row_ends = self.row_ends[first:last] - self.row_ends.dtype.type(start)
            items = slice(start, stop)
            made.append(
                Batch(self.samples[items], self.starts[items], self.lengths[items], row_ends, width, cost, repeated)
            )
        return made


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


class Metrics(NamedTuple):
    """What batches amount to: tokens, unless it says otherwise, of all ranks together."""

    steps: int
    """Steps of every rank."""
    items: int
    """Items in batches, repetitions included."""
    rows: int
    """Rows in batches."""
    tokens: int
    """Tokens of the items."""
    padded: int
    """The same with padding."""
    slowest: int
    """For every step, the tokens with padding of the rank with the most of them, summed up."""
    cost: int
    """The cost of all batches."""
    slowest_cost: int
    """For every step, the cost of the rank with the most of it, summed up."""
    packs_bound: int
    """A number of packs that no packing of the same windows goes below; 0 for none, or where some were taken before."""
    over_budget: int
    """Batches that cost more than the budget: samples by themselves."""
    empty: int
    """Batches without an item."""
    repeated: int
    """Items that are there again to fill a step."""
    dropped: int
    """Items that are left out at the end."""
    truncated: int
    """Samples that were cut."""
    too_long: int
    """Samples that were left out because of their length."""
    split: int
    """Samples that became several items."""
    world: int = 1
    """How many ranks there are."""
    budget: int = 0
    """What a batch may cost; with "pack", the tokens of its rows; 0 for no bound."""
    counting: str = "padded"
    """What is counted."""

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
        rows = [*self._asdict().items(), *((name, f"{getattr(self, name):.6g}") for name in ratios)]
        return table("Metrics", ("name", "value"), rows, len(rows))
