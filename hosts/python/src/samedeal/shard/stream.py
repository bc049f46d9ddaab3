"""Chunks that are read without end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, SupportsIndex, TypeVar

from .. import recipe as recipes
from ..bindings.shards import ChunkStreamBase
from ..engine import arguments as check
from ..engine.errors import OutOfRangeError
from ..engine.instance import Engine
from ..recipe import Recipe
from .binding import Place, Stream

if TYPE_CHECKING:
    pass

Self = TypeVar("Self", bound="ChunkStream")

_WINDOW = 2**10
"""Chunks that iteration reads at a time."""


class ChunkStream(ChunkStreamBase):
    """The chunks of one reader, without end. Chunks are the numbered parts of a stream.

    The stream is an endless list of chunks: 0, 1, 2, and so on, or one cycle through a known number of chunks after the
    other. Reader r of n takes the chunks at the places r, r + n, r + 2n, and so on. It can be pickled, and used from
    several threads, in signal handlers and finalizers, and on both sides of a fork.
    """

    _engine: Engine[Stream, Place]
    _resource, _place = Stream, Place

    def __init__(
        self,
        reader: SupportsIndex,
        readers: SupportsIndex,
        *,
        chunks: SupportsIndex | None = None,
        order: str | None = None,
        seed: SupportsIndex | None = None,
        epoch: SupportsIndex = 0,
        memory_limit: SupportsIndex = 2**31,
    ) -> None:
        """Checks the configuration; costs O(1). An option that is None has its default.

        Args:
            reader: Number of this reader, 0 to `readers` - 1.
            readers: Number of readers, 1 to 2**32 - 1.
            chunks: Number of chunks, 1 to 2**53 - 1 or what the order allows. The stream goes through them again and
                again. None if the number is not known.
            order: Order of the chunks within each cycle, one of `samedeal.orders()`; "feistel" by default. If their
                number is not known, the order is "sequential", and no other one is allowed.
            seed: Seed of the order, -2**63 to 2**63 - 1; 0 by default.
            epoch: The epoch of the first cycle, 0 to 2**64 - 1. Each cycle has the epoch after that of the cycle
                before.
            memory_limit: Bytes of memory that the engine may use for this stream; 2**31 is the most it can use.

        Raises:
            OutOfRangeError: A number is outside its range.
            UnknownNameError: There is no such order.
            WrongTypeError: A value is not of the type that its parameter takes.
            ContradictionError: The number of chunks is not known, and the order is not "sequential".
            OutOfMemoryError: There is no memory for another stream.
        """
        of_chunks = {"order": order, "chunks": chunks, "seed": seed}
        recipe = recipes.made({"order": of_chunks, "deal": {"readers": readers}})
        self._begin(recipe, memory_limit, check.u64("epoch", epoch), check.u32("reader", reader))

    @property
    def reader(self) -> int:
        """Number of this reader."""
        return self._engine.config.reader

    @property
    def epoch(self) -> int:
        """The epoch of the first cycle."""
        return self._engine.config.epoch

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
        recipe: Recipe = self._engine.fixed[0]
        return recipes.call("ChunkStream", self.reader, recipe.options | {"epoch": self.epoch})
