"""The class `Sampler`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar, overload

from .. import recipe as recipes
from ..compose.order import Order
from ..engine import arguments as check
from ..engine.instance import Engine
from ..generated.sampling import SamplerBase
from ..recipe import Recipe
from . import windows
from .batches import Batches
from .binding import Deal, KeptEpochs, Where, plain_orders

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

Self = TypeVar("Self", bound="Sampler")


class Sampler(SamplerBase):
    """The samples of one rank in one epoch, as a sequence of indices.

    A sampler is a sequence of whole numbers (`len`, `sampler[i]`, slices, iteration). It can be pickled (as its
    configuration), and used from several threads, in signal handlers and finalizers, and on both sides of a fork. The
    result of one call always belongs to one epoch and rank, even if another thread moves the sampler at the same time.
    If a call begins during another call on the same thread (in a signal handler), a second engine answers it, which
    needs memory like the first one until it has answered.

    Every method raises a `samedeal.SamedealError`, which is a `ValueError`, if a value is not allowed.
    """

    _engine: Engine[Deal, Where]
    _resource, _place = Deal, Where

    def _configure(self, sections: Mapping[str, Mapping[str, Any]], **given: Any) -> None:
        order, samples, seed = given["order"], given["samples"], given["seed"]
        if isinstance(order, Order):
            own = order._alone({"samples": samples, "seed": seed})
            recipe = recipes.beside({"order": own, "deal": recipes.given(sections["deal"])}, order._lists)
        else:
            if samples is not None:
                check.whole("samples", samples)
            recipe = recipes.made({"order": {"order": order, "samples": samples, "seed": seed}, **sections})
        self._open(recipe, given["epoch"], given["rank"], given["consumed"], given["memory_limit"])

    @classmethod
    def sharded(
        cls: type[Self],
        sizes: ArrayLike | Iterable[SupportsIndex],
        *,
        lanes: SupportsIndex | None = None,
        shuffle_window: SupportsIndex | None = None,
        seed: SupportsIndex | None = None,
        epoch: SupportsIndex = 0,
        rank: SupportsIndex = 0,
        world_size: SupportsIndex | None = None,
        remainder: str | None = None,
        layout: str | None = None,
        unit: SupportsIndex | None = None,
        consumed: SupportsIndex = 0,
        memory_limit: SupportsIndex = 2**31,
    ) -> Self:
        """A sampler for a dataset that is stored in shards, with the order "sharded"; costs O(shards).

        The shards are shuffled, laid end to end, and cut into lanes of equal length. Within a lane, windows of
        neighbouring samples are shuffled. Successive positions come from successive lanes. If the number of ranks
        divides the lanes, each rank reads its own lanes, and holds one window of each in memory. `round` returns the
        rows to read.

        `sizes` is the number of samples in each shard: a list, or an array of whole numbers. Sample index 0 is the
        first sample of the first shard; indices go on through the shards in this order. Shards may be empty. `lanes` is
        the number of lanes, which are parallel streams that the dataset is cut into, 1 to 2**16; 64 by default. Choose
        a multiple of every number of readers that may read the dataset. `shuffle_window` is how many neighbouring
        samples of a lane are shuffled together, 1 to 2**20; 256 by default. The other options are those of `Sampler`.

        Raises:
            OutOfRangeError: A number is outside its range.
            UnknownNameError: There is no such remainder or layout.
            WrongTypeError: A value is not of the type that its parameter takes.
            OutOfMemoryError: There is no memory for so many shards.
        """
        order = {"order": "sharded", "seed": seed, "lanes": lanes, "shuffle_window": shuffle_window}
        deal = {"world_size": world_size, "remainder": remainder, "layout": layout, "unit": unit}
        self = cls.__new__(cls)
        recipe = recipes.made({"order": order, "deal": deal}, sizes=sizes)
        self._open(recipe, epoch, rank, consumed, memory_limit)
        return self

    def _open(self, recipe: Recipe, epoch: Any, rank: Any, consumed: Any, memory_limit: Any) -> None:
        place = check.u64("epoch", epoch), check.u32("rank", rank), check.u53("consumed", consumed)
        self._begin(recipe, memory_limit, *place)

    def set_epoch(self, epoch: SupportsIndex) -> None:
        """Moves to the beginning of another epoch, 0 to 2**64 - 1, in O(1) if the order is not composed.

        If it is the current epoch, nothing changes, even if a part of it was consumed.

        Raises:
            OutOfRangeError: The order is made of other orders, and all epochs up to this one together have more than
                2**53 - 1 positions.
        """
        number = check.u64("epoch", epoch)
        engine = self._engine
        before, kept = engine.config, engine.kept
        known = None if kept is None or number == before.epoch else kept.after(before, number)
        if known is None or not engine.exchange(before, known):
            engine.ask_and_keep(Deal.short_epochs_from, lambda where: where.in_epoch(number))

    def set_rank(self, rank: SupportsIndex) -> None:
        """Moves to another rank of the same deal, 0 to `world_size` - 1, in O(1) if the order is not composed.

        If the order needs a table of all samples, and it was built already, it is used again.
        """

        def move(number: int) -> None:
            self._engine.ask_and_set(lambda where: where._replace(rank=number))

        check.asked(move, [check.u32("rank", rank)])

    def resume(self, state: str | Mapping[str, Any]) -> None:
        """Continues from a state: moves to its epoch, and deals the positions that were not consumed.

        Costs O(1), with the order "sharded" O(shards). After an error, nothing has changed. The state need not be
        trusted: it is checked. An order may have been extended since the state was taken (stages and sources of a
        blend, growth, ranges to skip), if the extension begins at the position of the state or later.

        Args:
            state: The text that `state` gave, or the dictionary that a `state_dict` gave.

        Raises:
            ContradictionError: The state is of another order, seed or number of samples, or of shards of other sizes;
                or it is a state within a turn of loader workers.
            WrongTypeError: The value is no state of a sampler.
            OutOfRangeError: The state is too long, or has more samples than there are.
        """

        def moved(where: Where, found: Where) -> Where:
            return where._replace(epoch=found.epoch, consumed=found.consumed)

        self._engine.resume(Deal.go_on, moved, check.state(state))

    def indices(self, start: SupportsIndex = 0, stop: SupportsIndex | None = None) -> NDArray[np.int64]:
        """The samples number `start` to `stop` - 1 of this rank, in order; by default all.

        Raises:
            OutOfRangeError: Not 0 <= start <= stop <= num_samples.
            OutOfMemoryError: There is no memory for the indices, or for the table of the order.
        """
        return check.indices(self._engine.use(windows.indices, start, stop))

    def __len__(self) -> int:
        """How many samples this rank sees in the epoch, or in the rest of it after `resume`, padding included."""
        kept: KeptEpochs | None = self._engine.kept
        found = None if kept is None else kept.length(self._engine.config)
        return self.num_samples if found is None else found

    @overload
    def __getitem__(self, at: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> NDArray[np.int64]: ...
    def __getitem__(self, at: SupportsIndex | slice) -> int | NDArray[np.int64]:
        """Sample number `at` of this rank; negative numbers count from the end, a slice gives an array."""
        if isinstance(at, slice):
            return check.indices(self._engine.use(windows.part, windows.whole_slice(at)))
        return self._engine.use(windows.item, check.whole("index", at))

    def __iter__(self) -> Iterator[int]:
        """This rank's samples, in order, as `int`.

        An iterator is of the epoch and rank that the sampler has when it is made; once the sampler has moved, it raises
        a `RuntimeError`.
        """
        return windows.Pass(self._engine).values()

    def step(self, step: SupportsIndex, batch_size: SupportsIndex, drop_last: bool = False) -> list[NDArray[np.int64]]:
        """The batches of a step: batch number `step` of every rank, in the order of ranks.

        If only some ranks have such a batch, the other ranks have an empty one.

        Raises:
            OutOfRangeError: No rank has such a batch.
            OutOfMemoryError: There is no memory for the table of the order.
        """
        size, drop = check.u32("batch_size", batch_size), check.boolean("drop_last", drop_last)
        return self._ask(windows.step, check.u53("step", step), size, drop)

    def batches(self, batch_size: SupportsIndex, drop_last: bool = False, *, start: SupportsIndex = 0) -> Batches:
        """The batches of this rank, in order, from number `start` on. Iterate over it once in each epoch.

        With a `start`, every iteration begins there: use it for the rest of an interrupted epoch.

        Raises:
            OutOfRangeError: `batch_size` is outside its range, `start` is above `num_batches`, or the batches would be
                longer than 2**20.
        """
        return Batches(self, batch_size, drop_last, start=start)

    def source_counts(self, start: SupportsIndex = 0, end: SupportsIndex | None = None) -> dict[str, NDArray[np.int64]]:
        """With a blend: how much each source gives to positions `start` to `end` - 1 of this epoch; by default to all.

        The counts are computed without a pass over the positions. `pandas.DataFrame(sampler.source_counts(),
        index=sampler.sources)` is a table of them.

        Returns:
            Columns with a number for each source: "count" (how many samples it gives), "first" (the number of its first
            sample there, counted over all epochs), "from_pass" and "from_position" (the pass of the source over its
            data with this sample, and the place in the pass), "to_pass" and "to_position" (the same for the sample
            after its last one). A later version may have more columns.

        Raises:
            ContradictionError: The order is no blend.
            OutOfRangeError: Not 0 <= start <= end <= length.
        """
        found = self._ask(windows.source_counts, start, end)
        return {column.replace("-", "_"): numbers.view("int64") for column, numbers in found}

    def __repr__(self) -> str:
        """The call that makes an equal sampler, without the memory limit, and with many sizes abridged."""
        recipe: Recipe = self._engine.fixed[0]
        members = json.loads(recipe.text)
        if members["order"].get("name", "sharded") not in ("sharded", *plain_orders()):
            own = {"order": Order(members["order"], dict(recipe.lists)), **members.get("deal", {})}
            return f"Sampler({recipes.listed(own | self._place_in_epoch())})"
        options = recipe.options | self._place_in_epoch()
        if "sizes" not in options:
            return recipes.call("Sampler", options.pop("samples"), options)
        sizes = options.pop("sizes")
        for name in ("order", "samples", "shards"):
            options.pop(name, None)
        return recipes.call("Sampler.sharded", sizes, options)

    def _place_in_epoch(self) -> dict[str, int]:
        where: dict[str, int] = self._engine.config._asdict()
        if where["consumed"] == 0:
            del where["consumed"]
        return where
