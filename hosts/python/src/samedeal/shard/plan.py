"""Whole shards to readers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, SupportsIndex

from ..bindings.shards import (
    POLICY_NAMES,
    TIER_NAMES,
    WEIGHT_NAMES,
    WORKER_POLICY_NAMES,
    Locality,
    PlanConfig,
)
from ..engine import arguments as check
from ..engine.errors import MissingError, OutOfMemoryError
from ..engine.instance import Answered, Engine
from . import windows
from .binding import Plan, verify
from .records import Balance, Loads, Steps, Verification

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

_READERS = check.Width(0, check.U32_MAX, f"1 to {2**22}")


class ShardPlan(Answered):
    """Every shard of a dataset to exactly one worker of one rank, for one epoch.

    It pickles by its configuration, and may be used from several threads, in signal handlers and finalizers, and on
    both sides of a fork. Every method raises a `samedeal.SamedealError`, which is a `ValueError`, if a value is not
    allowed.
    """

    _engine: Engine[Plan, PlanConfig]

    def __init__(
        self,
        sizes: ArrayLike | Iterable[SupportsIndex],
        *,
        bytes: ArrayLike | Iterable[SupportsIndex] | None = None,
        world: SupportsIndex = 1,
        workers: SupportsIndex = 1,
        policy: str = "round-robin",
        worker_policy: str = "round-robin",
        weight: str = "samples",
        holders: Sequence[Iterable[SupportsIndex]] | None = None,
        rank_nodes: ArrayLike | Iterable[SupportsIndex] | None = None,
        tolerance: SupportsIndex = 50,
        shuffle: bool = False,
        reshuffle: bool = False,
        seed: SupportsIndex = 0,
        epoch: SupportsIndex = 0,
        memory_limit: SupportsIndex = 2**31,
    ) -> None:
        """Plans the epoch.

        Args:
            sizes: Samples in each shard, 2**53 - 1 together: a list, or an array of whole numbers.
            bytes: Bytes in each shard, where they are to be balanced or reported.
            world: How many ranks there are, at least 1; `world` * `workers` is at most 2**22.
            workers: How many workers read in each rank, at least 1.
            policy: How shards are given to ranks. "round-robin": shard i to rank i % world. "size-aware": ranks get
                equal weight. "locality-aware": ranks get what is stored near them, within a bound of equal weight.
            worker_policy: How the shards of a rank are given to its workers: "round-robin" or "size-aware".
            weight: What is to be equal, "samples" or "bytes".
            holders: For each shard, the numbers of the nodes that hold it, at least one; for "locality-aware".
            rank_nodes: The number of the node of each rank; for "locality-aware".
            tolerance: By how many thousandths of the mean a rank may exceed it for the sake of locality.
            shuffle: Whether the shards are shuffled, in the same way for all ranks, before they are given away. (The
                order of `rows` is random either way.)
            reshuffle: Whether every reader shuffles its own shards once more, differently in each.
            seed: Seed of the shuffles, -2**63 to 2**63 - 1.
            epoch: Epoch of the shuffles, 0 to 2**64 - 1; `set_epoch` plans another.
            memory_limit: Bytes of memory that the engine may use for this plan; 2**31 is the most it can use.

        Raises:
            OutOfRangeError: A number is outside its range.
            UnknownNameError: There is no such policy or weight.
            WrongTypeError: A value is not of the type that its parameter takes.
            MissingError: The policy or the weight needs what is not given.
            ContradictionError: There are not as many bytes, holders or rank nodes as there are shards or ranks.
            OutOfMemoryError: There is no memory for so many shards or readers.
        """
        config = PlanConfig(
            check.u64s("sizes", sizes, check.COUNT),
            check.u64s("bytes", () if bytes is None else bytes, check.COUNT),
            check.integer("world", world, _READERS),
            check.integer("workers", workers, _READERS),
            check.enum("policy", policy, POLICY_NAMES),
            check.enum("worker-policy", worker_policy, WORKER_POLICY_NAMES),
            check.enum("weight", weight, WEIGHT_NAMES),
            _locality(holders, rank_nodes, check.integer("tolerance", tolerance, check.U32)),
            check.boolean("shuffle", shuffle),
            check.boolean("reshuffle", reshuffle),
            check.integer("seed", seed, check.S64),
            check.integer("epoch", epoch, check.U64),
        )
        self._engine = Engine(Plan, config, check.integer("memory-limit", memory_limit, check.MEMORY))

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Samples in each shard; not to be written to."""
        return check.read_only(self._engine.config.sizes)

    @property
    def bytes(self) -> NDArray[np.int64] | None:
        """Bytes in each shard, where they were given; not to be written to."""
        given = self._engine.config.bytes
        return check.read_only(given) if len(given) else None

    @property
    def world(self) -> int:
        """How many ranks there are."""
        return self._engine.config.world

    @property
    def workers(self) -> int:
        """How many workers read in each rank."""
        return self._engine.config.workers

    @property
    def policy(self) -> str:
        """How shards are given to ranks."""
        return self._engine.config.policy

    @property
    def worker_policy(self) -> str:
        """How the shards of a rank are given to its workers."""
        return self._engine.config.worker_policy

    @property
    def weight(self) -> str:
        """What is to be equal."""
        return self._engine.config.weight

    @property
    def holders(self) -> list[list[int]] | None:
        """For each shard, the nodes that hold it, where they were given."""
        found = self._engine.config.locality
        if found is None:
            return None
        nodes: list[int] = found.holders.tolist()
        return [nodes[start:end] for start, end in pairwise(found.holder_offsets.tolist())]

    @property
    def rank_nodes(self) -> list[int] | None:
        """The node of each rank, where they were given."""
        found = self._engine.config.locality
        if found is None:
            return None
        nodes: list[int] = found.rank_nodes.tolist()
        return nodes

    @property
    def tolerance(self) -> int | None:
        """By how many thousandths of the mean a rank may exceed it for the sake of locality, where nodes were given."""
        found = self._engine.config.locality
        return None if found is None else found.tolerance

    @property
    def shuffle(self) -> bool:
        """Whether the shards are shuffled before they are given away."""
        return self._engine.config.shuffle

    @property
    def reshuffle(self) -> bool:
        """Whether every reader shuffles its own shards once more."""
        return self._engine.config.reshuffle

    @property
    def seed(self) -> int:
        """Seed of the shuffles."""
        return self._engine.config.seed

    @property
    def epoch(self) -> int:
        """Epoch of the shuffles; `set_epoch` plans another."""
        return self._engine.config.epoch

    def set_epoch(self, epoch: SupportsIndex) -> None:
        """Plans another epoch, 0 to 2**64 - 1; as costly as a new plan where anything is shuffled.

        Raises:
            OutOfMemoryError: There is no memory for it; the plan stays that of the epoch before.
        """
        number = check.integer("epoch", epoch, check.U64)
        self._engine.ask_and_set(Plan.set_epoch, lambda config, _: Plan.in_epoch(config, number), number)

    def num_shards(self, rank: SupportsIndex, worker: SupportsIndex = 0) -> int:
        """How many shards a worker of a rank has."""
        return self._engine.use(Plan.num_shards, *self._reader(rank, worker))

    def shards(self, rank: SupportsIndex, worker: SupportsIndex = 0) -> NDArray[np.uint32]:
        """The shards of a worker of a rank, in the order in which it reads them."""
        return self._engine.use(windows.shards, *self._reader(rank, worker))

    def rows(
        self, shard: SupportsIndex, start: SupportsIndex = 0, stop: SupportsIndex | None = None
    ) -> NDArray[np.int64]:
        """The rows of a shard, in the order in which its reader gives them: by default all of them.

        They are shuffled within the shard by seed, epoch and shard, whether or not anything else is. (Who wants them as
        they are stored does not ask.)

        Args:
            shard: Number of the shard.
            start: Number of the first row to give.
            stop: Number of the first row not to give.

        Raises:
            OutOfRangeError: There is no such shard, or not 0 <= start <= stop <= its samples.
            OutOfMemoryError: There is no memory for the rows.
        """
        number = check.number("shard", shard, lambda: len(self._engine.config.sizes), check.U32_MAX)
        return self._engine.use(windows.rows, number, start, stop)

    def loads(self, tier: str = "ranks") -> Loads:
        """What each rank (tier "ranks") or each worker ("workers", those of rank 0 first) has to read."""
        return self._engine.use(windows.loads, check.enum("tier", tier, TIER_NAMES))

    def balance(self, tier: str = "ranks", weight: str = "samples") -> Balance:
        """How evenly the samples, or the bytes, are spread over the ranks or the workers.

        Raises:
            MissingError: The bytes are asked for and were not given.
        """
        which = check.enum("tier", tier, TIER_NAMES), check.enum("weight", weight, WEIGHT_NAMES)
        return self._engine.use(windows.balance, *which)

    def steps(self, batch_size: SupportsIndex, drop_last: bool = False) -> Steps:
        """How many steps ranks take with batches that each worker forms from its own samples.

        Where they differ, ranks wait for one another at the end of the epoch, or for ever.
        """
        size = check.integer("batch-size", batch_size, check.U32_FROM_1)
        return Steps(*self._engine.use(Plan.steps, size, check.boolean("drop-last", drop_last)))

    def config_fingerprint(self) -> str:
        """SHA-256 over the configuration with the current epoch, in hexadecimal: equal on all ranks that plan alike."""
        return self._engine.use(Plan.config_fingerprint)

    def verify(self) -> Verification:
        """Compares what the readers of this plan have, together, with the shards that there are."""
        return self._engine.use(windows.verify)

    def __repr__(self) -> str:
        """The call that makes an equal plan, without the memory limit; long lists in short."""
        config = self._engine.config
        named: dict[str, str] = {}
        if len(config.bytes):
            named["bytes"] = check.shortened(config.bytes)
        for name in ("world", "workers", "policy", "worker_policy", "weight"):
            named[name] = repr(getattr(config, name))
        if config.locality is not None:
            few = len(config.sizes) <= check.FEW
            named["holders"] = repr(self.holders) if few else f"<{len(config.sizes)} lists>"
            named["rank_nodes"] = check.shortened(config.locality.rank_nodes)
            named["tolerance"] = repr(config.locality.tolerance)
        for name in ("shuffle", "reshuffle", "seed", "epoch"):
            named[name] = repr(getattr(config, name))
        arguments = ", ".join(f"{name}={value}" for name, value in named.items())
        return f"ShardPlan({check.shortened(config.sizes)}, {arguments})"

    def _reader(self, rank: SupportsIndex, worker: SupportsIndex) -> tuple[int, int]:
        return (
            check.number("rank", rank, lambda: self.world, check.U32_MAX),
            check.number("worker", worker, lambda: self.workers, check.U32_MAX),
        )


def verify_shards(shards: SupportsIndex, assigned: Iterable[ArrayLike | Iterable[SupportsIndex]]) -> Verification:
    """Compares what readers really have with the shards 0 to `shards` - 1.

    Args:
        shards: How many shards there are.
        assigned: For each reader, the numbers of the shards that it has.

    Raises:
        OutOfRangeError: A reader has a shard that does not exist.
        WrongTypeError: A value is not a whole number, or not a list of lists of them.
        OutOfMemoryError: There is no memory for so many: some million shards more than the readers have.
    """
    count = check.integer("shards", shards, check.U32)
    within = check.Width(0, check.U32_MAX, check.below(count))
    offsets, flat = check.ragged("assigned", assigned, within)
    try:
        return verify(count, offsets, flat)
    except OutOfMemoryError:
        allowed = f"about as many as the readers have ({len(flat)}), and up to eight million more, which are listed"
        raise OutOfMemoryError("shards", str(count), allowed) from None


def _locality(
    holders: Sequence[Iterable[SupportsIndex]] | None,
    rank_nodes: ArrayLike | Iterable[SupportsIndex] | None,
    tolerance: int,
) -> Locality | None:
    if holders is None and rank_nodes is None:
        return None
    if holders is None:
        raise MissingError("holders", "", "for each shard, the numbers of the nodes that hold it, beside rank_nodes")
    if rank_nodes is None:
        raise MissingError("rank-nodes", "", "for each rank, the number of its node, beside holders")
    return Locality(
        *check.ragged("holders", holders, check.U32),
        check.u32s("rank-nodes", rank_nodes, check.U32),
        tolerance,
    )
