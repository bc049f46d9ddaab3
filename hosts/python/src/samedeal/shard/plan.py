"""Whole shards to readers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar

from .. import recipe as recipes
from ..bindings.shards import PlanBase
from ..engine import arguments as check
from ..engine.instance import Engine
from ..recipe import Recipe
from . import windows
from .binding import Plan, verify
from .records import Balance, Loads, Steps, Verification

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

Self = TypeVar("Self", bound="ShardPlan")


class ShardPlan(PlanBase):
    """Which worker of which rank reads which shard in one epoch. Every shard has exactly one reader.

    It can be pickled (as its configuration), and used from several threads, in signal handlers and finalizers, and on
    both sides of a fork. Every method raises a `samedeal.SamedealError`, which is a `ValueError`, if a value is not
    allowed.
    """

    _engine: Engine[Plan, int]
    _resource, _place = Plan, int

    def __init__(
        self,
        sizes: ArrayLike | Iterable[SupportsIndex],
        *,
        bytes: ArrayLike | Iterable[SupportsIndex] | None = None,
        world_size: SupportsIndex | None = None,
        workers: SupportsIndex | None = None,
        policy: str | None = None,
        worker_policy: str | None = None,
        weight: str | None = None,
        holders: Sequence[Iterable[SupportsIndex]] | None = None,
        rank_nodes: ArrayLike | Iterable[SupportsIndex] | None = None,
        tolerance: SupportsIndex | None = None,
        shuffle: bool | None = None,
        shuffle_rows: bool | None = None,
        reshuffle: bool | None = None,
        seed: SupportsIndex | None = None,
        epoch: SupportsIndex = 0,
        memory_limit: SupportsIndex = 2**31,
    ) -> None:
        """Plans the epoch. An option that is None has its default; one that the policy does not use is refused.

        Args:
            sizes: Number of samples in each shard, at most 2**53 - 1 in all of them together: a list, or an array of
                whole numbers.
            bytes: Number of bytes in each shard, if they are to be balanced or reported.
            world_size: Number of ranks, 1 by default; `world_size` * `workers` is at most 2**22.
            workers: Number of loader workers of each rank, 1 by default.
            policy: How shards are dealt to ranks. "size-aware" (the default): all ranks get about the same weight.
                "round-robin": rank i % world_size gets shard i. "locality-aware": ranks get shards that are stored on
                their own node, as long as their weight stays within the tolerance.
            worker_policy: How the shards of a rank are dealt to its workers: "size-aware" (the default) or
                "round-robin".
            weight: The weight of a shard: its "samples" (the default) or its "bytes".
            holders: For each shard, the numbers of the nodes that store it, at least one; for "locality-aware".
            rank_nodes: The number of the node of each rank; for "locality-aware".
            tolerance: With "locality-aware": how far the weight of a rank may exceed the mean weight for the sake of
                locality, in thousandths of the mean; 50 by default.
            shuffle: Whether the list of shards is shuffled before it is dealt; True by default. The shuffle is the same
                on all ranks.
            shuffle_rows: Whether the rows within each shard are shuffled (`rows`); by default as `shuffle`.
            reshuffle: Whether each reader shuffles its own shards again, after the deal; False by default.
            seed: Seed of all shuffles, -2**63 to 2**63 - 1; 0 by default.
            epoch: Epoch of the shuffles, 0 to 2**64 - 1; `set_epoch` plans another.
            memory_limit: Bytes of memory that the engine may use for this plan; 2**31 is the most it can use.

        Raises:
            OutOfRangeError: A number is outside its range.
            UnknownNameError: There is no such policy or weight.
            WrongTypeError: A value is not of the type that its parameter takes.
            MissingError: The policy or the weight needs a value that is missing.
            ContradictionError: The number of bytes, holders or rank nodes is not that of the shards or ranks, or an
                option is given that the policy does not use.
            OutOfMemoryError: There is no memory for so many shards or readers.
        """
        options = {
            "shuffle": shuffle,
            "shuffle_rows": shuffle_rows,
            "reshuffle": reshuffle,
            "seed": seed,
            "policy": policy,
            "worker_policy": worker_policy,
            "weight": weight,
            "tolerance": tolerance,
        }
        lists = {"sizes": sizes, "bytes": bytes, "rank_nodes": rank_nodes, **_nodes(holders)}
        deal = {"world_size": world_size, "workers": workers}
        self._begin(recipes.made({"shards": options, "deal": deal}, **lists), memory_limit, check.u64("epoch", epoch))

    def set_epoch(self, epoch: SupportsIndex) -> None:
        """Plans another epoch, 0 to 2**64 - 1. This costs as much as a new plan.

        Raises:
            OutOfMemoryError: There is no memory for it. The plan is still that of the epoch before.
        """
        number = check.u64("epoch", epoch)
        self._engine.ask_and_set(lambda _: number)

    def shards(self, rank: SupportsIndex, worker: SupportsIndex = 0) -> NDArray[np.uint32]:
        """The shards of a worker of a rank, in the order in which it reads them."""
        return self._ask(windows.shards, check.u32("rank", rank), check.u32("worker", worker))

    def rows(
        self, shard: SupportsIndex, start: SupportsIndex = 0, stop: SupportsIndex | None = None
    ) -> NDArray[np.int64]:
        """The rows of a shard, in the order in which its reader gives them; by default all of them.

        With `shuffle_rows`, the order depends on the seed, the epoch and the shard, and on nothing else. Otherwise, it
        is the storage order.

        Args:
            shard: Number of the shard.
            start: Number of the first row to give.
            stop: Number of the first row not to give.

        Raises:
            OutOfRangeError: There is no such shard, or not 0 <= start <= stop <= its samples.
            OutOfMemoryError: There is no memory for the rows.
        """
        return self._ask(windows.rows, check.u32("shard", shard), start, stop)

    def loads(self, tier: str = "ranks") -> Loads:
        """What each rank (tier "ranks") or each worker ("workers", those of rank 0 first) has to read."""
        return self._engine.use(windows.loads, check.name("tier", tier))

    def balance(self, tier: str = "ranks", weight: str = "samples") -> Balance:
        """The smallest, largest and total load of the ranks or the workers, in samples or in bytes.

        Raises:
            MissingError: The weight is "bytes", and the plan has no bytes.
        """
        return self._engine.use(windows.balance, check.name("tier", tier), check.name("weight", weight))

    def steps(self, batch_size: SupportsIndex, drop_last: bool = False) -> Steps:
        """The smallest and the largest number of steps of a rank, if each worker makes batches from its own samples.

        If they differ, ranks that wait for each other in each step hang at the end of the epoch.
        """
        drop = check.boolean("drop-last", drop_last)
        return Steps(*self._ask(Plan.steps, check.u32("batch-size", batch_size), drop))

    def verify(self) -> Verification:
        """Checks that every shard has exactly one reader in this plan."""
        return self._engine.use(windows.verify)

    def __repr__(self) -> str:
        """The call that makes an equal plan, without the memory limit; long lists in short."""
        recipe: Recipe = self._engine.fixed[0]
        options = recipe.options | {"epoch": self.epoch}
        if "holder_offsets" in options:
            offsets, nodes = (list(options.pop(name)) for name in ("holder_offsets", "holders"))
            options["holders"] = [nodes[start:end] for start, end in pairwise(offsets)]
        return recipes.call("ShardPlan", options.pop("sizes"), options)


def verify_shards(shards: SupportsIndex, assigned: Iterable[ArrayLike | Iterable[SupportsIndex]]) -> Verification:
    """Checks lists of shards from readers: does every one of the shards 0 to `shards` - 1 have exactly one reader?

    Args:
        shards: Number of shards.
        assigned: For each reader, the numbers of the shards that it has.

    Raises:
        OutOfRangeError: A reader has a shard that does not exist.
        WrongTypeError: A value is not a whole number, or not a list of lists of them.
        OutOfMemoryError: There is no memory for so many.
    """
    count = check.integer("shards", shards, check.U32)
    within = check.Width(0, check.U32_MAX, check.below(count))
    offsets, flat = check.ragged("assigned", assigned, within)
    return verify(count, offsets, flat)


def _nodes(holders: Sequence[Iterable[SupportsIndex]] | None) -> dict[str, Any]:
    """The lists that a recipe has for the nodes of each shard."""
    if holders is None:
        return {}
    offsets, nodes = check.ragged("holders", holders, check.U32)
    return {"holders": nodes, "holder_offsets": offsets}
