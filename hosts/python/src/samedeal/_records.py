"""The records of the interface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

REMAINDERS = ("drop", "pad", "uneven")
LAYOUTS = ("strided", "contiguous")


class Config(NamedTuple):
    """Everything that decides a deal."""

    samples: int
    """Number of samples in the dataset."""
    seed: int
    """Seed of the order."""
    epoch: int
    """Number of the epoch."""
    order: str
    """Name of the order, one of `samedeal.orders()`."""
    rank: int
    """Which of the data-parallel readers this is, 0 to `world` - 1."""
    world: int
    """How many data-parallel readers there are."""
    remainder: str
    """What happens where `world` does not divide `samples`: "drop", "pad" or "uneven"."""
    layout: str
    """Which positions belong to a rank: "strided" or "contiguous"."""
    consumed: int = 0
    """How many positions of the epoch, the first ones, were dealt before: the others are dealt."""


@dataclass(frozen=True, slots=True)
class Place:
    """When and where a sample is seen in the epoch."""

    position: int
    """The global position: 0-based place in the order of the epoch, all ranks together. see `sample_at`."""
    rank: int
    """The rank that it is dealt to."""
    index: int
    """0-based number within that rank's samples of the epoch."""
    batch: int
    """0-based number of that rank's batch: index // batch_size. It counts a last batch that is shorter."""
    slot: int
    """0-based place in that batch: index % batch_size."""
    copies: int
    """How many times the sample is dealt again as padding: the k-th time at `position` + k * `samples`, whose rank
    and batch `sampler.place_of` finds."""


class Sharding(NamedTuple):
    """A dataset that is stored in shards, for the order "sharded"."""

    sizes: NDArray[np.uint64]
    """Samples in each shard."""
    lanes: int
    """How many streams the dataset is cut into."""
    window: int
    """How many neighbouring samples of a lane are shuffled together."""


class Round(NamedTuple):
    """What a rank reads before it hands out a run of its samples, with the order "sharded"."""

    start: int
    """Number of the first of these samples, among the rank's: the run is `indices(start, start + count)`."""
    count: int  # type: ignore[assignment]  # A tuple can count, too.
    """How many there are; none where the round holds no position of the rank."""
    spans: NDArray[np.int64]
    """Where they are stored: a row of four numbers each, lane, shard, first sample within it, count.

    Whole windows, lane by lane, in the order in which they are stored: a lane goes on in the next round where it ends
    in this one, and leaves a shard for good when it enters another. Where the world divides the lanes, every sample of
    them is one of these. Padding comes last, sample by sample.
    """

    @classmethod
    def of_flat(cls, start: int, count: int, spans: NDArray[np.int64]) -> Round:
        """With the spans as they cross."""
        return cls(start, count, spans.reshape(-1, 4))


class ShardPlace(NamedTuple):
    """Where a sample is stored."""

    shard: int
    """Number of the shard."""
    offset: int
    """Number of the sample within the shard."""
