"""The class `Reading`: the samples that each loader worker of each rank reads in an epoch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex

from .. import recipe as recipes
from ..compose.order import Order
from ..engine import arguments as check
from ..engine.errors import ContradictionError, WrongTypeError
from ..engine.instance import Engine
from ..generated.limits import MAX_COUNT
from ..generated.readings import ReadBatch, ReadingBase, ReadRound, RoundRows
from ..recipe import Recipe
from ..shard.records import Steps
from .binding import Read, Where

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


DEALS = ("samples", "shards")
"""The values of the option `deal`: single samples or whole shards are dealt."""


class Reading(ReadingBase):
    """One epoch of a dataset in shards, or the rest of one, dealt to the loader workers of all ranks.

    A reading never changes: `at_epoch` and `resume` return a new one. It can be pickled, and used from several threads.
    Every method raises a `samedeal.SamedealError`, which is a `ValueError`, if a value is not allowed.

        >>> from samedeal import Reading
        >>> reading = Reading([40, 100], world_size=2, workers=2, batch_size=16)
        >>> reading.steps
        Steps(min=6, max=6)
        >>> batch = reading.batch(rank=0, worker=1, number=1)
        >>> batch.start, batch.count, reading.batch_at(rank=0, step=batch.step) == batch
        (16, 16, True)
        >>> rest = Reading([40, 100], world_size=3).resume(reading.state(3))
        >>> sum(rest.num_samples(rank) for rank in range(3))
        45
    """

    _engine: Engine[Read, Where]
    _resource, _place = Read, Where

    def _configure(self, sections: Mapping[str, Mapping[str, Any]], **given: Any) -> None:
        order, sizes, seed = given["order"], given["sizes"], given["seed"]
        section, shards = {**sections["order"]}, {**sections["shards"], "policy": given["policy"]}
        deal = check.enum("deal", given["deal"], DEALS)
        if deal == "samples":
            shuffled = given["shuffle"] is None or check.boolean("shuffle", given["shuffle"])
            section |= {"order": "sharded" if shuffled else "sequential", "seed": seed}
        else:
            shards |= {"shuffle": given["shuffle"], "seed": seed}
        # By the name of an order, the core knows that samples are dealt, and refuses options of the other deal.
        readers = {name: sections[name] for name in ("deal", "batch")}
        if order is not None:
            own = {"sizes": sizes, "seed": seed, "shuffle": given["shuffle"], **sections["order"], **shards}
            if not isinstance(order, Order):
                raise WrongTypeError("order", check.described(order), "an Order, such as samedeal.blend makes")
            if deal != "samples":
                raise ContradictionError("deal", deal, "samples, with an order")
            members = {name: recipes.given(options) for name, options in readers.items()}
            recipe = recipes.beside({"order": order._alone({**own, "bytes": given["bytes"]}), **members}, order._lists)
        else:
            own = {
                **({"order": section} if recipes.is_given(section) else {}),
                **({"shards": shards} if deal == "shards" or recipes.is_given(shards) else {}),
                **readers,
            }
            recipe = recipes.made(own, sizes=sizes, bytes=given["bytes"])
        self._begin(recipe, given["memory_limit"], 0)

    def at_epoch(self, epoch: SupportsIndex) -> Reading:
        """The whole epoch `epoch`, 0 to 2**64 - 1, for the same readers."""
        return self._moved(Where(check.u64("epoch", epoch)))

    def resume(self, state: Any) -> Reading:
        """The rest of the epoch of a state, for the readers of this reading.

        If the numbers of ranks and workers and the batch size are those of the state, every reader continues where it
        stopped. Otherwise, the samples that are left are dealt again.

        Raises:
            ContradictionError: The state has another seed, deal or option, or other shards.
            WrongTypeError: The value is no state of a reading.
            OutOfRangeError: The state is too long, or has more steps than there are.
        """
        return self._moved(self._engine.config._replace(state=check.state(state)))

    def _moved(self, where: Where) -> Reading:
        made = self.__class__.__new__(self.__class__)
        made._engine = Engine(Read, where, *self._engine.fixed)
        return made

    @property
    def steps(self) -> Steps:
        """The smallest and the largest number of steps of a rank."""
        return Steps(*self._engine.use(Read.step_bounds))

    def step(self, step: SupportsIndex) -> list[ReadBatch | None]:
        """The batches that the loaders of all ranks take at a step, in the order of ranks; None where a rank has none.

        Raises:
            OutOfRangeError: No rank has such a step.
        """
        found: list[ReadBatch | None] = []
        number, ranks = check.u53("step", step), self.world_size
        while len(found) < ranks:
            found += self._ask(Read.step, number, len(found), min(MAX_COUNT, ranks - len(found)))
        return found

    def indices(
        self,
        rank: SupportsIndex,
        worker: SupportsIndex = 0,
        start: SupportsIndex = 0,
        stop: SupportsIndex | None = None,
    ) -> NDArray[np.int64]:
        """The samples number `start` to `stop` - 1 of a reader, in order; by default all.

        Returns:
            Sample indices, int64 of shape (stop - start,).
        """
        from ..engine.indices import read

        first, last = check.run(start, stop, self.num_samples(rank, worker))
        found: NDArray[np.int64] = read(
            first, last, lambda at, count: self._engine.use(Read.indices, rank, worker, at, count)
        )
        return found

    def rounds(self, rank: SupportsIndex, worker: SupportsIndex = 0, start: SupportsIndex = 0) -> Iterator[ReadRound]:
        """The rounds of a reader, beginning with the round of its sample number `start`.

        Rounds without samples are left out.
        """
        first, last = check.run(start, None, self.num_samples(rank, worker))
        if first == last:
            return
        for number in range(self.round_of(rank, worker, first), self.num_rounds(rank, worker)):
            found = self.round(rank, worker, number)
            if found.count:
                yield found

    def round_rows(
        self,
        rank: SupportsIndex,
        worker: SupportsIndex,
        number: SupportsIndex,
        start: SupportsIndex = 0,
        stop: SupportsIndex | None = None,
    ) -> RoundRows:
        """The rows that hold samples number `start` to `stop` - 1 of a round, counted from 0; by default all.

        The rows of all spans of the round are counted from 0, span after span.

        Returns:
            `rows`, int64 of shape (stop - start,), and `num_padding`: how many of these samples are padding (the last
            ones).
        """
        count = self.round(rank, worker, number).count
        return self._rows((rank, worker, number), *check.run(start, stop, count))

    def _rows(self, which: tuple[SupportsIndex, SupportsIndex, SupportsIndex], first: int, last: int) -> RoundRows:
        """The rows of samples number `first` to `last` - 1 of a round, which the caller has checked."""
        import numpy

        rows, padding = numpy.empty(last - first, dtype=numpy.int64), 0
        # Each call computes the spans of the round anew, so each has as many rows as are allowed.
        for at in range(first, last, MAX_COUNT):
            end = min(at + MAX_COUNT, last)
            found = self._engine.use(Read.round_rows, *which, at, end - at)
            rows[at - first : end - first] = found.rows
            padding += found.num_padding
        return RoundRows(rows, padding)

    def __repr__(self) -> str:
        """The options that were given, and the epoch, in one line."""
        recipe: Recipe = self._engine.fixed[0]
        # The parts of an order are left out: they are too long for one line.
        inner = ("sizes", "of", "sources", "stages", "ranges", "indices")
        given = {**recipe.options, "epoch": self.epoch}
        options = {name: value for name, value in given.items() if name.rpartition("/")[2] not in inner}
        rest = ", the rest" if self.is_rest else ""
        return f"<Reading of {len(self.sizes)} shards, {recipes.listed(options)}{rest}>"
