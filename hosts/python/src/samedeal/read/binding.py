"""An instance that answers for a reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..bindings import read
from ..engine.component import Component
from ..engine.core import Core

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class ReadRound(read.ReadRound):
    """Samples of a reader that come together, and what has to be read for them.

    `spans` has a row for each: stream, shard, first row, count.
    """

    __slots__ = ()

    @classmethod
    def of(cls, found: read.ReadRound) -> ReadRound:
        """With the spans in rows."""
        return cls(found.start, found.count, found.spans.reshape(-1, 4))


class ReadConfig(NamedTuple):
    """What decides a reading: options by the names of their setters, and where in which epoch it stands."""

    sizes: NDArray[np.uint64]
    options: tuple[tuple[str, Any], ...]
    epoch: int = 0
    state: str | None = None
    """The state that it goes on from, in place of the epoch."""


class Read(read.Reading):
    """A `reading` of the interface, in an instance of its own. The arguments must have been checked to cross."""

    def __init__(self, config: ReadConfig, memory_limit: int) -> None:
        core = Core(Component.PLANNING, memory_limit, "sizes", f"{len(config.sizes)} shards")
        options = read.Options(core, config.sizes)
        for name, value in config.options:
            getattr(options, f"set_{name.replace('-', '_')}")(value)
        super().__init__(core, options)
        options.drop()
        if config.state is not None:
            self._become(self.resume(config.state))
        elif config.epoch:
            self._become(self.at_epoch(config.epoch))
        self.current = config

    def move(self, config: ReadConfig) -> bool:
        """Nothing moves a reading."""
        return False

    def _become(self, other: read.Reading) -> None:
        self.drop()
        self.handle = other.handle
