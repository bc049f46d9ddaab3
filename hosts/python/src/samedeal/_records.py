"""The records of the interface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

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
