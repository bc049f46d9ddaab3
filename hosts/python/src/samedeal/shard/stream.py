"""Chunks that are read without end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, SupportsIndex

from ..bindings.shards import StreamConfig
from ..engine import arguments as check
from ..engine.errors import OutOfRangeError
from ..engine.instance import Answered, Engine
from .binding import Stream

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_WINDOW = 2**10
"""Chunks that iteration reads at a time."""


class ChunkStream(Answered):
    """The chunks, numbered parts of a stream, that one of several readers takes, without end.

    Reader r of n takes those at places r, r + n, r + 2n, ... of an endless row: of all chunks that there will ever be,
    or of one cycle through the known ones after the other. It pickles by its configuration, and may be used from
    several threads, in signal handlers and finalizers, and on both sides of a fork.
    """

    _engine: Engine[Stream, StreamConfig]

    def __init__(
        self,
        reader: SupportsIndex,
        readers: SupportsIndex,
        *,
        chunks: SupportsIndex | None = None,
        order: str = "sequential",
        seed: SupportsIndex = 0,
        epoch: SupportsIndex = 0,
        memory_limit: SupportsIndex = 2**31,
    ) -> None:
        """Checks the configuration; costs O(1).

        Args:
            reader: Which reader this is, 0 to `readers` - 1.
            readers: How many there are, 1 to 2**32 - 1.
            chunks: How many chunks there are, 1 to 2**53 - 1 or what the order allows, to go through again and again;
                None where that is not known.
            order: The order of the chunks in each cycle, one of `samedeal.orders()`; "sequential" where their number is
                not known.
            seed: Seed of the order, -2**63 to 2**63 - 1.
            epoch: The epoch of the first cycle, 0 to 2**64 - 1. Each further cycle is the next one.
            memory_limit: Bytes of memory that the engine may use for this stream; 2**31 is the most it can use.

        Raises:
            OutOfRangeError: A number is outside its range.
            UnknownNameError: There is no such order.
            WrongTypeError: A value is not of the type that its parameter takes.
            ContradictionError: The number of chunks is not known, and the order is not "sequential".
            OutOfMemoryError: There is no memory for another stream.
        """
        count = check.integer("readers", readers, check.U32_FROM_1)
        config = StreamConfig(
            None if chunks is None else check.integer("chunks", chunks, check.COUNT_FROM_1),
            check.number("reader", reader, lambda: count, check.U32_MAX),
            count,
            check.name("order", order),
            check.integer("seed", seed, check.S64),
            check.integer("epoch", epoch, check.U64),
        )
        self._engine = Engine(Stream, config, check.integer("memory-limit", memory_limit, check.MEMORY))

    @property
    def num_chunks(self) -> int | None:
        """How many chunks there are; None where that is not known."""
        return self._engine.config.chunks

    @property
    def reader(self) -> int:
        """Which reader this is."""
        return self._engine.config.reader

    @property
    def readers(self) -> int:
        """How many there are."""
        return self._engine.config.readers

    @property
    def order(self) -> str:
        """The order of the chunks in each cycle."""
        return self._engine.config.order

    @property
    def seed(self) -> int:
        """Seed of the order."""
        return self._engine.config.seed

    @property
    def epoch(self) -> int:
        """The epoch of the first cycle."""
        return self._engine.config.epoch

    def chunks(self, start: SupportsIndex, count: SupportsIndex) -> NDArray[np.int64]:
        """This reader's chunks number `start` to `start` + `count` - 1.

        Raises:
            OutOfRangeError: `count` is above 2**20, or a chunk's place in the row above 2**53 - 1. Or the order has a
                table for each cycle, and these chunks need more than 2**24 elements in more than two tables.
            OutOfMemoryError: There is no memory for the table of the order.
        """
        return self._engine.use(
            Stream.chunks,
            check.integer("start", start, check.COUNT),
            check.integer("count", count, check.Width(0, check.U32_MAX, f"0 to {2**20}")),
        )

    def __iter__(self) -> Iterator[int]:
        """This reader's chunks from the first one on, without end."""
        start, window = 0, _WINDOW
        while True:
            try:
                found = self.chunks(start, window)
            except OutOfRangeError:
                # So many are not left before the places end.
                if window == 1:
                    raise
                window = 1
                continue
            yield from found.tolist()
            start += window

    def __repr__(self) -> str:
        """The call that makes an equal stream, without the memory limit."""
        chunks, reader, readers, order, seed, epoch = self._engine.config
        named = f"chunks={chunks}, order={order!r}, seed={seed}, epoch={epoch}"
        return f"ChunkStream({reader}, {readers}, {named})"
