"""The deal: section 4, and the layout `rotated` of section 15."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .base import ceil_div
from .rotated import Rotation


def num_dealt(left: int, world_size: int, unit: int, remainder: str) -> int:
    """P, the number of dealt positions, if `left` positions are left."""
    together = world_size * unit
    if remainder == "drop":
        return left // together * together
    return ceil_div(left, together) * together if remainder == "pad" else left


@dataclass(frozen=True)
class Deal:
    """The deal of positions `first` to `first` + `count` - 1, in units, to ranks."""

    first: int
    count: int
    world_size: int
    unit: int
    layout: str
    rotation: Rotation | None = None
    """The rotation of the layout `rotated`."""

    @property
    def units(self) -> int:
        """Q, the number of units."""
        return ceil_div(self.count, self.unit)

    def unit_of(self, rank: int, k: int) -> int:
        """The k-th unit of a rank."""
        share, extra = divmod(self.units, self.world_size)
        if self.layout == "contiguous":
            return rank * share + min(rank, extra) + k
        # The units after the last complete row are dealt as in `strided`.
        turn = self._turn(k) if k < share else 0
        return k * self.world_size + (rank - turn) % self.world_size

    def _turn(self, row: int) -> int:
        """The rank with which a row begins."""
        return self.rotation.h(self.first + row * self.world_size * self.unit) if self.rotation else 0

    def place(self, position: int) -> tuple[int, int]:
        """The rank of a position, and its index in the rank."""
        v, within = divmod(position - self.first, self.unit)
        share, extra = divmod(self.units, self.world_size)
        if self.layout == "contiguous":
            longer = extra * (share + 1)
            rank, k = divmod(v, share + 1) if v < longer else divmod(v - extra, share)
        else:
            k, x = divmod(v, self.world_size)
            rank = (x + (self._turn(k) if k < share else 0)) % self.world_size
        return rank, k * self.unit + within

    def num_samples(self, rank: int) -> int:
        """n, the number of samples of a rank."""
        share, extra = divmod(self.units, self.world_size)
        mine = (share + (rank < extra)) * self.unit
        # The last unit can have fewer positions than the others, which its rank then lacks.
        missing = self.units * self.unit - self.count
        return mine - missing if missing and self._last_rank() == rank else mine

    def _last_rank(self) -> int:
        """The rank of the last unit, if there are units."""
        return self.place(self.first + (self.units - 1) * self.unit)[0]

    def most(self) -> int:
        """The largest n of a rank."""
        if self.units == 0:
            return 0
        # Ranks 0 and 1 have the most units. Only the rank of the last unit can have an incomplete unit.
        ranks = {0, min(1, self.world_size - 1), self._last_rank()}
        return max(self.num_samples(rank) for rank in ranks)

    def positions(self, rank: int) -> Sequence[int]:
        """The positions of a rank, ascending."""
        n = self.num_samples(rank)
        if self.layout == "contiguous" or self.world_size == 1:
            start = self.first + self.unit_of(rank, 0) * self.unit
            return range(start, start + n)
        if self.layout == "strided" and self.unit == 1:
            start = self.first + rank
            return range(start, start + n * self.world_size, self.world_size)
        return Positions(self, rank, n)


class Positions(Sequence[int]):
    """The positions of a rank, computed one by one."""

    def __init__(self, deal: Deal, rank: int, length: int) -> None:
        self.deal, self.rank, self.length = deal, rank, length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return self._run(*at.indices(self.length))
        if at >= self.length:
            raise IndexError(at)
        k, within = divmod(at, self.deal.unit)
        return self._unit(k) + within

    def __iter__(self) -> Iterator[int]:
        return iter(self._run(0, self.length, 1))

    def _unit(self, k: int) -> int:
        """The first position of the k-th unit."""
        return self.deal.first + self.deal.unit_of(self.rank, k) * self.deal.unit

    def _run(self, start: int, stop: int, step: int) -> list[int]:
        """The positions from one index to another. The positions of a unit are adjacent."""
        assert step == 1
        unit = self.deal.unit
        found: list[int] = []
        while start < stop:
            k, within = divmod(start, unit)
            count = min(unit - within, stop - start)
            first = self._unit(k) + within
            found.extend(range(first, first + count))
            start += count
        return found
