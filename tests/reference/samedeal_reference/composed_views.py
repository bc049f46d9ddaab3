"""The orders `exclude`, `subset`, `skip` and `copies` of section 15."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate, pairwise
from typing import TypeGuard

from .base import ceil_div
from .composed_base import Composed, Plain
from .sharded import Sharding


class View(Composed):
    def __init__(self, of: Composed) -> None:
        self.of = of
        self.seed = of.seed
        self.range, self.has_table = of.range, of.has_table
        self.single, self.breaks, self.ends = of.single, of.breaks, of.ends

    def has_epoch(self, epoch: int) -> bool:
        return super().has_epoch(epoch) and self.of.has_epoch(epoch)

    def of_position(self, epoch: int, position: int) -> int:
        """The position in Y of a position of this order."""
        raise NotImplementedError


class Chosen(View):
    """`exclude` and `subset`, two uses of `indices`."""

    def __init__(self, of: Composed, indices: list[int]) -> None:
        super().__init__(of)
        self.indices = indices
        # A steady order that is single has equal samples in every epoch, so the same indices are chosen in every epoch.
        self.steady = of.steady
        self._found: dict[int, list[int]] = {}

    def _positions(self, epoch: int) -> list[int]:
        """The positions of the indices in Y in an epoch, ascending."""
        if epoch not in self._found:
            found = (self.of.position(epoch, index) for index in self.indices)
            self._found[epoch] = sorted(position for position in found if position is not None)
        return self._found[epoch]


class Exclude(Chosen):
    def length(self, epoch: int) -> int:
        return self.of.length(epoch) - len(self._positions(epoch))

    def sample(self, epoch: int, position: int) -> int:
        return self.of.sample(epoch, self.of_position(epoch, position))

    def of_position(self, epoch: int, position: int) -> int:
        left_out = self._positions(epoch)
        # Before position left_out[j] of Y, there are left_out[j] - j positions that are not left out.
        return position + bisect_right([at - j for j, at in enumerate(left_out)], position)

    def position(self, epoch: int, sample: int) -> int | None:
        at = self.of.position(epoch, sample)
        left_out = self._positions(epoch)
        return None if at is None or at in left_out else at - bisect_right(left_out, at)


class Subset(Chosen):
    def length(self, epoch: int) -> int:
        return len(self._positions(epoch))

    def sample(self, epoch: int, position: int) -> int:
        return self.of.sample(epoch, self.of_position(epoch, position))

    def of_position(self, epoch: int, position: int) -> int:
        return self._positions(epoch)[position]

    def position(self, epoch: int, sample: int) -> int | None:
        at = self.of.position(epoch, sample)
        kept = self._positions(epoch)
        return kept.index(at) if at in kept else None


class LaneView(View):
    """`exclude` and `subset` of an order in lanes."""

    def __init__(self, of: Plain | LaneView, indices: list[int], *, is_subset: bool) -> None:
        super().__init__(of)
        self.steady = True
        whole = sharding_of(of)
        before = of.left if isinstance(of, LaneView) else range(of.range)
        listed = set(indices)
        self.left = [sample for sample in before if (sample in listed) == is_subset]
        ends = [0, *accumulate(whole.sizes)]
        counts = [bisect_left(self.left, end) for end in ends]
        sizes = tuple(end - start for start, end in pairwise(counts))
        self.dense = Plain("sharded", len(self.left), of.seed, Sharding(sizes, whole.lanes, whole.window))

    def length(self, epoch: int) -> int:
        return len(self.left)

    def sample(self, epoch: int, position: int) -> int:
        return self.left[self.dense.sample(epoch, position)]

    def of_position(self, epoch: int, position: int) -> int:
        return position

    def position(self, epoch: int, sample: int) -> int | None:
        place = bisect_left(self.left, sample)
        is_left = place < len(self.left) and self.left[place] == sample
        return self.dense.position(epoch, place) if is_left else None

    @property
    def lanes_apart(self) -> int | None:
        return self.dense.lanes_apart


def sharding_of(order: Plain | LaneView) -> Sharding:
    """The shards of an order in lanes, with all of their samples."""
    plain = order
    while isinstance(plain, LaneView):
        assert isinstance(plain.of, (Plain, LaneView))
        plain = plain.of
    assert plain.sharding is not None
    return plain.sharding


def is_in_lanes(order: Composed) -> TypeGuard[Plain | LaneView]:
    return isinstance(order, LaneView) or (isinstance(order, Plain) and order.sharding is not None)


class Skip(View):
    def __init__(self, of: Composed, ranges: list[dict[str, int]]) -> None:
        super().__init__(of)
        self.ranges = [(item["epoch"], item["start"], item["count"]) for item in ranges]
        self.steady = not ranges and of.steady
        self._by_epoch: dict[int, list[tuple[int, int]]] = {}
        for epoch, start, count in self.ranges:
            self._by_epoch.setdefault(epoch, []).append((start, count))
        self._epochs = [epoch for epoch, _, _ in self.ranges]
        self._counted = [0, *accumulate(count for _, _, count in self.ranges)]
        if of.breaks is not None:
            at = {edge for epoch, _, _ in self.ranges for edge in (epoch, epoch + 1)}
            self.breaks = sorted((at | set(of.breaks)) - {0})

    @property
    def rotated(self) -> bool:
        return self.of.rotated

    @property
    def lanes_apart(self) -> int | None:
        lanes = self.of.lanes_apart
        return None if lanes is None or any(count % lanes for _, _, count in self.ranges) else lanes

    def _of_epoch(self, epoch: int) -> list[tuple[int, int]]:
        return self._by_epoch.get(epoch, [])

    def length(self, epoch: int) -> int:
        return self.of.length(epoch) - sum(count for _, count in self._of_epoch(epoch))

    def begin(self, epoch: int) -> int:
        return self.of.begin(epoch) - self._counted[bisect_left(self._epochs, epoch)]

    def of_position(self, epoch: int, position: int) -> int:
        for start, count in self._of_epoch(epoch):
            if position >= start:
                position += count
        return position

    def sample(self, epoch: int, position: int) -> int:
        return self.of.sample(epoch, self.of_position(epoch, position))

    def first(self, epoch: int, sample: int, start: int) -> int | None:
        if start >= self.length(epoch):
            return None
        at: int | None = self.of_position(epoch, start)
        ranges = self._of_epoch(epoch)
        while (at := self.of.first(epoch, sample, at or 0)) is not None:
            inside = next((begin + count for begin, count in ranges if begin <= at < begin + count), None)
            if inside is None:
                return at - sum(count for begin, count in ranges if begin < at)
            at = inside
        return None

    def position(self, epoch: int, sample: int) -> int | None:
        return self.first(epoch, sample, 0)

    def first_draw(self, sample: int, low: int, end: int) -> int | None:
        if low >= end:
            return None
        e, position = self.find(low)
        of_low = self.of.begin(e) + self.of_position(e, position)
        e, position = self.find(end - 1)
        of_end = self.of.begin(e) + self.of_position(e, position) + 1
        while (draw := self.of.first_draw(sample, of_low, of_end)) is not None:
            e, at = self.of.find(draw)
            inside = next((begin + count for begin, count in self._of_epoch(e) if begin <= at < begin + count), None)
            if inside is None:
                return self.begin(e) + at - sum(count for begin, count in self._of_epoch(e) if begin < at)
            of_low = self.of.begin(e) + inside
        return None


class Copies(View):
    def __init__(self, of: Composed, copies: int) -> None:
        super().__init__(of)
        self.copies = copies
        self.steady, self.single = of.steady, copies == 1 and of.single

    def length(self, epoch: int) -> int:
        return self.copies * self.of.length(epoch)

    def begin(self, epoch: int) -> int:
        return self.copies * self.of.begin(epoch)

    def sample(self, epoch: int, position: int) -> int:
        return self.of.sample(epoch, self.of_position(epoch, position))

    def of_position(self, epoch: int, position: int) -> int:
        return position // self.copies

    def first(self, epoch: int, sample: int, start: int) -> int | None:
        at = self.of.first(epoch, sample, start // self.copies)
        return None if at is None else max(start, at * self.copies)

    def position(self, epoch: int, sample: int) -> int | None:
        return self.of.position(epoch, sample)

    def first_draw(self, sample: int, low: int, end: int) -> int | None:
        draw = self.of.first_draw(sample, low // self.copies, ceil_div(end, self.copies))
        if draw is None or max(low, draw * self.copies) >= end:
            return None
        return max(low, draw * self.copies)
