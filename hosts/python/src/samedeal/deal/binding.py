"""An instance that answers for a sampler."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

from ..bindings import sampling, types
from ..engine import abi
from ..engine.core import Core
from ..engine.errors import SamedealError
from ..engine.instance import Resource
from ..recipe import Recipe

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_THERE = abi.fallible(abi.U64S_VIEW, types.ABI_FAILURE)


class Where(NamedTuple):
    """Whose samples they are, and of which epoch or rest of one."""

    epoch: int
    rank: int
    consumed: int = 0
    """How many positions of the epoch were dealt before."""

    def in_epoch(self, epoch: int) -> Where:
        """In another epoch, of which nothing is consumed."""
        return self if self.epoch == epoch else self.whole(epoch)

    def whole(self, epoch: int) -> Where:
        """The whole of an epoch, also of this one."""
        return Where(epoch, self.rank)


class Deal(Resource, sampling.Sampler):
    """A `sampler` of the interface, in an instance of its own. The arguments must have been checked to cross."""

    current: Where

    def __init__(self, where: Where, recipe: Recipe, memory_limit: int) -> None:
        super().__init__(recipe.core(memory_limit), recipe.text, recipe.lists, where.epoch, where.rank)
        self.current = where._replace(consumed=0)
        self.move(where)

    def move(self, where: Where) -> None:
        """Goes to another epoch, rest of an epoch, or rank."""
        if where.epoch != self.current.epoch:
            self.become(self.at_epoch(where.epoch), self.current.in_epoch(where.epoch))
        if where.consumed != self.current.consumed:
            self.become(self.rest(where.consumed), self.current._replace(consumed=where.consumed))
        if where.rank != self.current.rank:
            self.become(self.at_rank(where.rank), self.current._replace(rank=where.rank))
        self.current = where

    def go_on(self, state: str) -> Where:
        """Goes on where a state was taken; where that is."""
        made = self.resume(state)
        # If an interruption comes now, nobody frees what was made.
        self.core.whole = False
        where = Where(made.epoch(), made.rank(), made.consumed())
        self.become(made, where)
        return where

    def indices_into(self, out: NDArray[np.int64], start: int) -> None:
        """A window of this rank's samples, as many as `out` holds."""

        def lift(core: Core, pointer: int) -> SamedealError | None:
            found = _THERE.read(core, pointer)
            if isinstance(found, SamedealError):
                return found
            out[:] = found
            return None

        sampling.call_sampler_indices.read(self.core, lift, self.handle, start, len(out))


def orders() -> tuple[str, ...]:
    """The names of the orders that take no more than a name, the default first; "sharded" takes shards."""
    return _facts()[0]


def max_count() -> int:
    """The most indices that one call returns."""
    return _facts()[1]


@functools.cache
def _facts() -> tuple[tuple[str, ...], int]:
    core = Core(2**31)
    return sampling.orders(core), sampling.max_count(core)
