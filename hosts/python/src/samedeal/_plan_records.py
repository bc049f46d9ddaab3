"""The records of the planning interface, of meshes and of launchers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ._tables import table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

POLICIES = ("round-robin", "size-aware", "locality-aware")
WORKER_POLICIES = ("round-robin", "size-aware")
WEIGHTS = ("samples", "bytes")
TIERS = ("ranks", "workers")
ROLES = ("divide", "repeat")


class Locality(NamedTuple):
    """Where shards are stored and where ranks run."""

    holder_offsets: NDArray[np.uint32]
    """The nodes of shard i are `holders` from `holder_offsets[i]` to `holder_offsets[i + 1]` - 1."""
    holders: NDArray[np.uint32]
    """Numbers of nodes."""
    rank_nodes: NDArray[np.uint32]
    """The node of each rank."""
    tolerance: int
    """By how many thousandths of the mean a rank may exceed it for the sake of locality."""


class PlanConfig(NamedTuple):
    """Everything that decides which reader gets which shard."""

    sizes: NDArray[np.uint64]
    """Samples in each shard."""
    bytes: NDArray[np.uint64]
    """Bytes in each shard; empty where nobody asks."""
    world: int
    """How many ranks there are."""
    workers: int
    """How many workers read in each rank."""
    policy: str
    """How shards are given to ranks."""
    worker_policy: str
    """How the shards of a rank are given to its workers."""
    weight: str
    """What is to be equal."""
    locality: Locality | None
    """Where shards and ranks are."""
    shuffle: bool
    """Whether the shards are shuffled before they are given away."""
    reshuffle: bool
    """Whether every reader shuffles its own shards once more."""
    seed: int
    """Seed of the shuffles."""
    epoch: int
    """Epoch of the shuffles."""


class Loads(NamedTuple):
    """What each rank, or each worker, has to read."""

    shards: NDArray[np.int64]
    """How many shards."""
    samples: NDArray[np.int64]
    """How many samples."""
    bytes: NDArray[np.int64]
    """How many bytes; 0 where the plan does not know."""
    local: NDArray[np.int64]
    """How many bytes (samples where bytes are not known) are stored on the rank's own node."""

    def _repr_html_(self) -> str:
        """A table for notebooks, a row for each rank or worker."""
        rows = ((number, *row) for number, row in enumerate(zip(*self, strict=True)))
        return table("Loads", ("reader", *self._fields), rows, len(self.shards))


class Balance(NamedTuple):
    """Between which bounds loads lie."""

    least: int
    """The lightest load."""
    most: int
    """The heaviest load."""
    total: int
    """All of them together."""
    members: int
    """How many ranks or workers there are."""

    @property
    def imbalance(self) -> float:
        """The heaviest load divided by the mean: 1.0 where all are equal, or nothing is to be read."""
        return self.most * self.members / self.total if self.total else 1.0


class Steps(NamedTuple):
    """Between which bounds the ranks' numbers of steps lie."""

    least: int
    """The fewest steps of a rank."""
    most: int
    """The most."""

    @property
    def equal(self) -> bool:
        """Whether no rank waits for another at the end of the epoch."""
        return self.least == self.most


class Overlap(NamedTuple):
    """A shard that is read twice."""

    shard: int
    """Number of the shard."""
    first: int
    """The reader that has it first."""
    other: int
    """Another one that has it, or the same, again."""


class Verification(NamedTuple):
    """Shards that are read twice, and shards that are not read."""

    overlaps: list[Overlap]
    """Each further reader of a shard that has one."""
    gaps: list[int]
    """Shards that no reader has, ascending."""

    @property
    def ok(self) -> bool:
        """Whether every shard has exactly one reader."""
        return not self.overlaps and not self.gaps

    @classmethod
    def of_flat(cls, overlaps: NDArray[np.uint32], gaps: NDArray[np.uint32]) -> Verification:
        """As it crosses."""
        return cls([Overlap(*row) for row in overlaps.reshape(-1, 3).tolist()], gaps.tolist())


class StreamConfig(NamedTuple):
    """Everything that decides which chunks a reader takes."""

    chunks: int | None
    """How many chunks there are; None where that is not known."""
    reader: int
    """Which reader this is."""
    readers: int
    """How many there are."""
    order: str
    """The order of the chunks in each cycle."""
    seed: int
    """Seed of the order."""
    epoch: int
    """The epoch of the first cycle."""


class Axis(NamedTuple):
    """One axis of a mesh."""

    name: str
    """Its name."""
    size: int
    """How many ranks lie along it."""
    role: str
    """What it does with the data: "divide" or "repeat"."""


class MeshConfig(NamedTuple):
    """Everything that decides who shares data."""

    world: int
    """How many ranks there are."""
    axes: list[Axis]
    """The slowest first."""


@dataclass(frozen=True, slots=True)
class Detection:
    """Which rank a process is, and whose word that is."""

    rank: int
    """Which process of the job this is."""
    world: int
    """How many there are."""
    local_rank: int | None
    """Which process of its node it is, where that was said."""
    local_world: int | None
    """How many there are on its node, where that was said."""
    launcher: str
    """Whose word it is: "torchrun", "open-mpi", "mvapich", "pmi", "slurm"; "explicit": no variable was used; "none":
    rank 0 of 1, where nothing is set. There may be more names in a later version."""
    used: tuple[str, ...]
    """What was used, as NAME=value."""
    warnings: tuple[str, ...]
    """What other variables say that does not agree, in words: it was not used. A launcher that starts one process for
    each node, which starts the processes there (torchrun below srun or mpirun), agrees."""
