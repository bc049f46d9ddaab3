"""The class `ChunkStream`: chunks that are read without end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .. import recipe as recipes
from ..engine import arguments as check
from ..engine.errors import OutOfRangeError
from ..engine.instance import Engine
from ..generated.shards import ChunkStreamBase
from ..recipe import Recipe
from .binding import Place, Stream

_WINDOW = 2**10
"""How many chunks iteration reads at a time."""


class ChunkStream(ChunkStreamBase):
    """The chunks of one reader, without end. Chunks are the numbered parts of a stream.

    The stream is an endless list of chunks: 0, 1, 2, and so on; or, if the number of chunks is known, cycle after cycle
    through all chunks. Reader r of n takes the chunks at the places r, r + n, r + 2n, and so on. A `ChunkStream` can be
    pickled, and used from several threads, in signal handlers and finalizers, and on both sides of a fork.
    """

    _engine: Engine[Stream, Place]
    _resource, _place = Stream, Place

    def _configure(self, sections: Mapping[str, Mapping[str, Any]], **given: Any) -> None:
        order = {"order": given["order"], **sections["order"]}
        recipe = recipes.made({"order": order, "deal": {"readers": given["readers"]}})
        place = check.u64("epoch", given["epoch"]), check.u32("reader", given["reader"])
        self._begin(recipe, given["memory_limit"], *place)

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
                # There are not so many places left, so chunks are read one by one up to the last place.
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
