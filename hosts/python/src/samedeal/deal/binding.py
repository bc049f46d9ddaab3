"""An instance that answers for a sampler."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from ..bindings import sampling, types
from ..engine import abi
from ..engine.component import Component
from ..engine.core import Core
from ..engine.errors import SamedealError
from ..engine.instance import ANYWHERE, anywhere, move_by

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_THERE = abi.fallible(abi.U64S_VIEW, types.ABI_FAILURE)


class Deal(sampling.Sampler):
    """A `sampler` of the interface, in an instance of its own. The arguments must have been checked to cross."""

    def __init__(self, config: sampling.Config, memory_limit: int, sharding: sampling.Sharding | None = None) -> None:
        core = Core(Component.SAMPLING, memory_limit, "samples", str(config.samples))
        if sharding is None:
            super().__init__(core, config)
        else:
            self.core, self.handle = core, sampling.Sampler.sharded(core, config, sharding).handle
        self.current = config
        """Where the component's sampler stands whenever its core is `whole`."""

    def move(self, config: sampling.Config) -> bool:
        """Moves to the epoch and rank of a configuration that differs in nothing else, if it can go there."""
        if self.current.epoch == ANYWHERE:
            return False
        if self.current.epoch != config.epoch:
            self.set_epoch(config.epoch)
        if self.current.consumed != config.consumed:
            return False
        if self.current.rank != config.rank:
            self.set_rank(config.rank)
        self.current = config
        return True

    def set_epoch(self, epoch: int) -> None:
        """Moves to another epoch."""
        move_by(sampling.call_sampler_set_epoch, self, lambda config: in_epoch(config, epoch), epoch)

    def set_rank(self, rank: int) -> None:
        """Answers for another rank from now on."""
        move_by(sampling.call_sampler_set_rank, self, lambda config: config._replace(rank=rank), rank)

    def resume(self, state: str) -> None:
        """Goes on where a state was taken; `current` is what it is then."""
        move_by(sampling.call_sampler_resume, self, anywhere, state)
        self.current = self.config()

    def indices_into(self, out: NDArray[np.int64], start: int) -> None:
        """A window of this rank's samples, as many as `out` holds."""

        def lift(core: Core, pointer: int) -> SamedealError | None:
            found = _THERE.read(core, pointer)
            if isinstance(found, SamedealError):
                return found
            out[:] = found
            return None

        sampling.call_sampler_indices.read(self.core, lift, self.handle, start, len(out))


def in_epoch(config: sampling.Config, epoch: int) -> sampling.Config:
    """A configuration in another epoch, of which nothing is consumed."""
    return config if config.epoch == epoch else config._replace(epoch=epoch, consumed=0)


def orders() -> tuple[str, ...]:
    """The names of the orders that take no more than a name, the default first; "sharded" takes shards."""
    return _facts()[0]


def max_window() -> int:
    """The most indices that one call hands out."""
    return _facts()[1]


@functools.cache
def _facts() -> tuple[tuple[str, ...], int]:
    core = Core(Component.SAMPLING, 2**31)
    return sampling.orders(core), sampling.max_window(core)
