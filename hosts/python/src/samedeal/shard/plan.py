"""The class `ShardPlan`, which deals whole shards to readers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, SupportsIndex

from .. import recipe as recipes
from ..engine import arguments as check
from ..engine.instance import Engine
from ..generated.shards import PlanBase
from ..recipe import Recipe
from . import windows
from .binding import Plan, verify
from .records import Loads, LoadSummary, Steps, Verification

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


class ShardPlan(PlanBase):
    """Which worker of which rank reads which shard in one epoch. Every shard has exactly one reader.

    A `ShardPlan` can be pickled (as its configuration), and used from several threads, in signal handlers and
    finalizers, and on both sides of a fork. Every method raises a `samedeal.SamedealError`, which is a `ValueError`, if
    a value is not allowed.
    """

    _engine: Engine[Plan, int]
    _resource, _place = Plan, int

    def _configure(self, sections: Mapping[str, Mapping[str, Any]], **given: Any) -> None:
        lists = {name: given[name] for name in ("sizes", "bytes", "rank_nodes")} | _nodes(given["holders"])
        self._begin(recipes.made(sections, **lists), given["memory_limit"], check.u64("epoch", given["epoch"]))

    def set_epoch(self, epoch: SupportsIndex) -> None:
        """Plans another epoch, 0 to 2**64 - 1. This costs as much as a new plan.

        Raises:
            OutOfMemoryError: There is no memory for the plan. The plan of the epoch before stays.
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
        """The work of each rank (tier "ranks") or each worker ("workers", those of rank 0 first)."""
        return self._engine.use(windows.loads, check.name("tier", tier))

    def load_summary(self, tier: str = "ranks", balance_by: str = "samples") -> LoadSummary:
        """The smallest, largest and total load of the ranks or the workers, in samples or in bytes.

        Raises:
            MissingError: `balance_by` is "bytes", and the plan has no bytes.
        """
        return self._engine.use(windows.load_summary, check.name("tier", tier), check.name("balance_by", balance_by))

    def steps(self, batch_size: SupportsIndex, drop_last: bool = False) -> Steps:
        """The smallest and the largest number of steps of a rank, if each worker makes batches from its own samples.

        If they differ, ranks that wait for each other in each step hang at the end of the epoch.
        """
        drop = check.boolean("drop_last", drop_last)
        return Steps(*self._ask(Plan.step_bounds, check.u32("batch_size", batch_size), drop))

    def verify(self) -> Verification:
        """Checks that every shard has exactly one reader in this plan."""
        return self._engine.use(windows.verify)

    def __repr__(self) -> str:
        """The call that makes an equal plan, without the memory limit, and with long lists abridged."""
        recipe: Recipe = self._engine.fixed[0]
        options = recipe.options | {"epoch": self.epoch}
        if "holder_offsets" in options:
            offsets, nodes = (list(options.pop(name)) for name in ("holder_offsets", "holders"))
            options["holders"] = [nodes[start:end] for start, end in pairwise(offsets)]
        return recipes.call("ShardPlan", options.pop("sizes"), options)


def verify_shards(num_shards: SupportsIndex, assigned: Iterable[ArrayLike | Iterable[SupportsIndex]]) -> Verification:
    """Checks lists of shards from readers: does every one of the shards 0 to `num_shards` - 1 have exactly one reader?

    Args:
        num_shards: Number of shards.
        assigned: For each reader, the numbers of the shards that it has.

    Raises:
        OutOfRangeError: A reader has a shard that does not exist.
        WrongTypeError: A value is not a whole number, or not a list of lists of them.
        OutOfMemoryError: There is no memory for so many shards.
    """
    count = check.integer("num_shards", num_shards, check.U32)
    within = check.Width(0, check.U32_MAX, check.below(count))
    offsets, flat = check.ragged("assigned", assigned, within)
    return verify(count, offsets, flat)


def _nodes(holders: Sequence[Iterable[SupportsIndex]] | None) -> dict[str, Any]:
    """The lists that a recipe has for the nodes of each shard."""
    if holders is None:
        return {}
    offsets, nodes = check.ragged("holders", holders, check.U32)
    return {"holders": nodes, "holder_offsets": offsets}
